//===- CpuQueryTest.cpp - what the compiler asks the cpu backend ----------===//

#include "Harness.h"

#include "runtime/backend/cpu/Query.h"

#include <chrono>

namespace vdnn::rt::conformance {

namespace {

struct Conv {
  schedule::KernelT kernel;
  schedule::TypeT x = activation({8, 64, 28, 28}),
                  w = activation({64, 64, 3, 3}),
                  y = activation({8, 64, 28, 28});

  Conv() {
    kernel.kind = "conv";
    for (auto [name, values] :
         std::initializer_list<std::pair<const char *, std::vector<int64_t>>>{
             {"strides", {1, 1}},
             {"dilations", {1, 1}},
             {"pads", {1, 1, 1, 1}},
             {"group", {1}}}) {
      kernel.attributes.push_back(std::make_unique<schedule::AttributeT>());
      kernel.attributes.back()->name = name;
      kernel.attributes.back()->ints = values;
    }
  }

  Result<std::vector<cpu::Candidate>> query(unsigned threads) const {
    const schedule::TypeT *reads[] = {&x, &w}, *writes[] = {&y};
    return cpu::queryKernel(kernel, {reads, writes}, threads);
  }
};

} // namespace

TEST(CpuQueryTest, ConvolutionsHaveAChoice) {
  Conv conv;
  auto candidates = conv.query(2);
  ASSERT_TRUE(candidates.ok()) << candidates.message();
  ASSERT_GE(candidates->size(), 2u);
  EXPECT_EQ((*candidates)[0].algorithm, "direct");
  EXPECT_NE((*candidates)[0].workspaceBytes, (*candidates)[1].workspaceBytes);
}

TEST(CpuQueryTest, PreparationAsksForExactlyThat) {
  Conv conv;
  const schedule::TypeT *reads[] = {&conv.x, &conv.w}, *writes[] = {&conv.y};
  for (unsigned threads : {1u, 2u, 3u}) {
    auto candidates = conv.query(threads);
    ASSERT_TRUE(candidates.ok());
    for (const cpu::Candidate &candidate : *candidates) {
      conv.kernel.algorithm = candidate.algorithm;
      auto prepare = [&](uint64_t bytes) {
        std::unique_ptr<Device> device = createCpuDevice(threads);
        schedule::StreamT stream;
        EXPECT_TRUE(device->allocate(4096, 0, std::span(&stream, 1), 0).ok());
        return device->prepare(0, conv.kernel, {reads, writes}, {}, bytes).ok();
      };
      EXPECT_TRUE(prepare(candidate.workspaceBytes));
      EXPECT_TRUE(candidate.workspaceBytes == 0 ||
                  !prepare(candidate.workspaceBytes - 1));
    }
  }
}

TEST(CpuQueryTest, FingerprintsAgree) {
  EXPECT_EQ(createCpuDevice(2)->fingerprint(), cpu::cpuFingerprint(2));
  EXPECT_EQ(createCpuDevice()->fingerprint(), cpu::cpuFingerprint());
  EXPECT_NE(cpu::cpuFingerprint(1), cpu::cpuFingerprint(2));
  EXPECT_EQ(cpu::cpuFingerprint(2).find("onednn "), 0u);
  EXPECT_NE(cpu::cpuFingerprint(2).find("; threads 2"), std::string::npos);
}

TEST(CpuQueryTest, ErrorsSayWhy) {
  Conv conv;
  conv.y.shape[3] = 27;
  auto candidates = conv.query(2);
  ASSERT_FALSE(candidates.ok());
  EXPECT_NE(candidates.message().find("expected shape [8, 64, 28, 28] of 'y'"),
            std::string::npos);
}

TEST(CpuQueryTest, RepeatedQueriesAreLookUps) {
  Conv conv;
  ASSERT_TRUE(conv.query(2).ok());
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(conv.query(2).ok());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin,
            std::chrono::milliseconds(200));
}

} // namespace vdnn::rt::conformance
