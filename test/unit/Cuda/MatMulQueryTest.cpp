//===- MatMulQueryTest.cpp - products of a GPU that is not here -----------===//

#include "runtime/backend/cuda/Factories.h"

#include <gtest/gtest.h>

namespace vdnn::rt::cuda {

using schedule::ElementType;
using schedule::TypeT;

namespace {

class Launch {
public:
  Launch(ElementType a, ElementType y, ElementType bias) {
    a_ = type({64, 2048}, a);
    b_ = type({2048, 1000}, a);
    bias_ = type({1000}, bias);
    y_ = type({64, 1000}, y);
  }

  Launch &nondeterministic(bool value = true) {
    kernel_.nondeterministic = value;
    return *this;
  }
  Result<std::vector<KernelCandidate>> query() {
    kernel_.kind = "matmul";
    return queryKernel({kernel_, {reads_, writes_}, properties_});
  }
  Result<Kernel> create(const std::string &algorithm) {
    kernel_.kind = "matmul";
    kernel_.algorithm = algorithm;
    return createKernel({kernel_, {reads_, writes_}, properties_});
  }

private:
  static TypeT type(std::vector<int64_t> shape, ElementType element) {
    TypeT result;
    result.shape = std::move(shape);
    result.element = element;
    return result;
  }

  schedule::KernelT kernel_;
  Properties properties_;
  TypeT a_, b_, bias_, y_;
  const TypeT *reads_[3] = {&a_, &b_, &bias_}, *writes_[1] = {&y_};
};

const ElementType kF32 = ElementType::F32, kBf16 = ElementType::BF16;

} // namespace

TEST(MatMulQuery, Candidates) {
  for (ElementType element : {kF32, kBf16}) {
    Launch launch(element, element, element);
    auto candidates = launch.query();
    ASSERT_TRUE(candidates.ok()) << candidates.message();
    EXPECT_EQ(candidates->size(), element == kF32 ? 4u : 2u);
    for (const KernelCandidate &candidate : *candidates) {
      Result<Kernel> kernel = launch.create(candidate.algorithm);
      ASSERT_TRUE(kernel.ok()) << kernel.message();
      EXPECT_EQ(kernel->workspaceBytes, candidate.workspaceBytes);
      EXPECT_EQ(candidate.reducedPrecision,
                candidate.algorithm.starts_with("tf32"));
    }
    EXPECT_EQ(launch.create("")->workspaceBytes, uint64_t{32} << 20);
  }
}

TEST(MatMulQuery, NondeterministicCandidates) {
  for (auto [a, y, names] :
       {std::tuple{kF32, kF32, "tf32:inplace f32:inplace "},
        {kBf16, kF32, "bf16:inplace "},
        {kBf16, kBf16, ""}}) {
    Launch launch(a, y, y);
    auto candidates = launch.nondeterministic().query();
    ASSERT_TRUE(candidates.ok()) << candidates.message();
    std::string found;
    for (const KernelCandidate &candidate : *candidates) {
      EXPECT_TRUE(launch.nondeterministic().create(candidate.algorithm).ok());
      Result<Kernel> kernel =
          launch.nondeterministic(false).create(candidate.algorithm);
      EXPECT_EQ(kernel.ok(), !candidate.nondeterministic);
      if (candidate.nondeterministic) {
        found += candidate.algorithm + " ";
        EXPECT_NE(kernel.message().find("kernel 'matmul': algorithm '" +
                                        candidate.algorithm +
                                        "' is nondeterministic"),
                  std::string::npos)
            << kernel.message();
      }
    }
    EXPECT_EQ(found, names);
  }
  auto inBf16 =
      Launch(kBf16, kBf16, kBf16).nondeterministic().create("bf16:inplace");
  ASSERT_FALSE(inBf16.ok());
  EXPECT_NE(inBf16.message().find("expected one of 'bf16', 'bf16:ws0'"),
            std::string::npos)
      << inBf16.message();
}

TEST(MatMulQuery, Types) {
  EXPECT_TRUE(Launch(kBf16, kF32, kF32).query().ok());
  auto mixed = Launch(kBf16, kBf16, kF32).query();
  ASSERT_FALSE(mixed.ok());
  EXPECT_NE(mixed.message().find("element type 'BF16' of 'bias'"),
            std::string::npos);
  EXPECT_FALSE(Launch(kF32, kBf16, kBf16).query().ok());
}

TEST(MatMulQuery, UnknownAlgorithms) {
  for (auto [element, name] :
       {std::pair{kF32, "magic"}, {kF32, "bf16"}, {kBf16, "tf32"}}) {
    Result<Kernel> kernel = Launch(element, element, element).create(name);
    ASSERT_FALSE(kernel.ok());
    EXPECT_NE(kernel.message().find("unknown algorithm"), std::string::npos);
  }
}

} // namespace vdnn::rt::cuda
