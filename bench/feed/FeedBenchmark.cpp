//===- FeedBenchmark.cpp - how fast a batch gets to its buffer ------------===//

#include "test/unit/Exec/FakeDevice.h"

#include "runtime/exec/Feed.h"
#include "runtime/exec/files/Npy.h"

#include <benchmark/benchmark.h>
#include <cstdio>
#include <filesystem>
#include <unistd.h>

using namespace vdnn;
using namespace vdnn::rt;

namespace {

constexpr int64_t kBatch = 512, kRow = 3 * 224 * 224;

/// A plan of one input, a batch of images, that nothing reads.
schedule::ScheduleT makePlan() {
  schedule::ScheduleT plan;
  plan.version = schedule::kVersion;
  plan.target = std::make_unique<schedule::DeviceT>();
  plan.target->kind = "cpu";
  plan.target->fingerprint = "fake 1"; // FakeDevice's
  auto x = std::make_unique<schedule::TensorT>();
  x->name = "x";
  x->role = schedule::Role::Input;
  x->type = std::make_unique<schedule::TypeT>();
  x->type->shape = {kBatch, kRow};
  x->bytes = uint64_t{kBatch} * kRow * 4;
  x->entry = 0;
  auto buffer = std::make_unique<schedule::BufferT>();
  buffer->name = "x";
  buffer->tensor = 0;
  buffer->arena = schedule::Arena::Host;
  buffer->bytes = plan.host_arena = x->bytes;
  buffer->alignment = 64;
  plan.tensors.push_back(std::move(x));
  plan.buffers.push_back(std::move(buffer));
  return plan;
}

/// A file of two batches, in `element`.
std::string writeImages(schedule::ElementType element) {
  std::string path = std::filesystem::temp_directory_path() /
                     ("vdnn-bench-feed-" + std::to_string(getpid()) + ".npy");
  std::FILE *file = std::fopen(path.c_str(), "wb");
  std::string header =
      *npyHeader(element, std::vector<int64_t>{2 * kBatch, kRow});
  std::vector<char> row(kRow * schedule::elementBytes(element), 1);
  bool written =
      file && std::fwrite(header.data(), header.size(), 1, file) == 1;
  for (int64_t i = 0; written && i < 2 * kBatch; ++i) {
    written = std::fwrite(row.data(), row.size(), 1, file) == 1;
  }
  if (!file || std::fclose(file) != 0 || !written) {
    std::fprintf(stderr, "cannot write '%s'\n", path.c_str());
    std::exit(1);
  }
  return path;
}

void fill(benchmark::State &state, schedule::ElementType element,
          std::optional<uint64_t> shuffle) {
  test::FakeLog log;
  auto executor =
      std::move(*Executor::create(makePlan(), test::createFakeDevice(log)));
  std::string path = writeImages(element);
  FeedOptions options{{{"x", path}}, shuffle, 0, false};
  Feed feed = std::move(*Feed::create(executor->schedule(), options));
  uint64_t step = 0;
  for (; step < 4; ++step) { // touches every page
    static_cast<void>(feed.fill(*executor, step).ok());
  }
  for (auto _ : state) {
    static_cast<void>(feed.fill(*executor, step++).ok());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * kBatch *
                          kRow * 4);
  std::filesystem::remove(path);
}

BENCHMARK_CAPTURE(fill, f32, schedule::ElementType::F32, std::nullopt)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fill, f32_shuffled, schedule::ElementType::F32, 1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fill, u8, schedule::ElementType::U8, std::nullopt)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

} // namespace
