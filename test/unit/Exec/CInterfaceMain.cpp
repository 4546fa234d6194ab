//===- CInterfaceMain.cpp - a plan for CInterfaceTest.c -------------------===//

#include "ToyPlan.h"

#include "runtime/exec/Executor.h"
#include "runtime/exec/Observers.h"
#include "runtime/support/AtomicFile.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

using namespace vdnn;

extern "C" int testCInterface(const char *plan, const char *weights);

namespace {

std::unique_ptr<schedule::AttributeT>
attribute(const char *name, const char *text, std::vector<int64_t> ints = {}) {
  auto entry = std::make_unique<schedule::AttributeT>();
  entry->name = name;
  entry->text = text;
  entry->ints = std::move(ints);
  return entry;
}

/// A pointwise kernel of one instruction over two inputs, or one input with
/// itself.
void makePointwise(schedule::KernelT &kernel, const char *code,
                   std::vector<uint32_t> operands, uint32_t result) {
  kernel.kind = "pointwise";
  auto op = std::make_unique<schedule::ScalarOpT>();
  op->code = code;
  op->operands = std::move(operands);
  kernel.program.push_back(std::move(op));
  kernel.program_results = {result};
}

/// The toy plan with kernels that a cpu has; the gradient is the activation
/// itself (its maximum with itself).
schedule::ScheduleT makeCpuPlan() {
  schedule::ScheduleT plan = test::makeToyPlan();
  std::unique_ptr<rt::Device> cpu = rt::createCpuDevice(1);
  plan.target->fingerprint = cpu->fingerprint();
  makePointwise(*plan.kernels[0], "addf", {0, 1}, 2);
  plan.kernels[1]->kind = "reduce";
  plan.kernels[1]->attributes.push_back(attribute("kind", "sum"));
  plan.kernels[1]->attributes.push_back(attribute("axes", "", {0}));
  // A reduction keeps its dimensions: it sees the scalar as a vector of one.
  plan.types.push_back(std::make_unique<schedule::TypeT>());
  plan.types.back()->shape = {1};
  schedule::Operand &sum = plan.commands[10]->writes[0];
  sum = {sum.buffer(), static_cast<uint32_t>(plan.types.size() - 1)};
  // A cpu wants each buffer at a multiple of its alignment; what shares bytes
  // in the toy plan starts at the same offset there, and still does.
  const uint64_t alignment = cpu->alignment();
  for (auto &buffer : plan.buffers) {
    if (buffer->arena == schedule::Arena::Device) {
      buffer->offset *= alignment;
      plan.device_arena =
          std::max(plan.device_arena, buffer->offset + buffer->bytes);
    }
  }
  auto workspace = std::make_unique<schedule::BufferT>();
  workspace->name = "workspace";
  workspace->offset =
      (plan.device_arena + alignment - 1) / alignment * alignment;
  workspace->bytes = 4096;
  workspace->alignment = 64;
  plan.device_arena = workspace->offset + workspace->bytes;
  plan.commands[10]->workspace = static_cast<int32_t>(plan.buffers.size());
  plan.buffers.push_back(std::move(workspace));
  makePointwise(*plan.kernels[2], "maximumf", {0, 0}, 1);
  plan.kernels[3]->kind = "sgd";
  return plan;
}

TEST(CInterface, TrainsAndResumes) {
  std::string folder = testing::TempDir();
  std::string plan = folder + "c-interface.vdnn";
  std::vector<uint8_t> bytes = schedule::serialize(makeCpuPlan());
  ASSERT_TRUE(rt::writeFile(plan, {reinterpret_cast<const char *>(bytes.data()),
                                   bytes.size()})
                  .ok());
  EXPECT_EQ(
      testCInterface(plan.c_str(),
                     (folder + "c-interface-weights.safetensors").c_str()),
      0);
}

/// The parameter after some steps on constant inputs, submitted in groups.
std::string weightsAfter(uint64_t groups, uint64_t stepsInFlight,
                         std::optional<uint64_t> jitterSeed) {
  rt::Result<std::unique_ptr<rt::Executor>> created =
      rt::Executor::create(makeCpuPlan(), rt::createCpuDevice(1));
  EXPECT_TRUE(created.ok()) << (created.ok() ? "" : created.message());
  rt::Executor &executor = **created;
  auto set = [&executor](const char *name, std::vector<float> values,
                         std::vector<int64_t> shape) {
    std::vector<std::byte> bytes(values.size() * 4);
    std::memcpy(bytes.data(), values.data(), bytes.size());
    EXPECT_TRUE(
        executor
            .write(*executor.find(name),
                   rt::makeHostTensor(name, schedule::ElementType::F32,
                                      std::move(shape), std::move(bytes)))
            .ok());
  };
  set("x", {1, 2, 3, 4}, {4});
  set("w", {0.3f, 0.1f, -0.7f, 5}, {4});
  set("vdnn.rate", {0.01f}, {});
  std::unique_ptr<rt::Observer> jitter;
  if (jitterSeed) {
    jitter = rt::createJitter(*jitterSeed);
    executor.observe(*jitter);
  }
  for (uint64_t group = 0; group < groups; ++group) {
    rt::Status status = executor.steps(stepsInFlight);
    EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.message());
  }
  rt::Result<rt::HostTensor> value = executor.read(*executor.find("w"));
  return {reinterpret_cast<const char *>(value->data.data()),
          value->data.size()};
}

// Without a stop between steps, only the plan's own events keep a step from
// overwriting what the one before still reads.
TEST(StepsInFlight, ComputeWhatStepsOneByOneDo) {
  std::string expected = weightsAfter(8, 1, std::nullopt);
  EXPECT_NE(weightsAfter(7, 1, std::nullopt), expected)
      << "each step changes the parameter";
  for (uint64_t seed = 0; seed < 6; ++seed) {
    EXPECT_EQ(weightsAfter(1, 8, seed), expected) << "delays of seed " << seed;
    EXPECT_EQ(weightsAfter(2, 4, seed), expected) << "delays of seed " << seed;
  }
}

} // namespace
