//===- RejectionTest.cpp - what a backend must refuse to prepare ----------===//

#include "Harness.h"

#include <algorithm>

namespace vdnn::rt::conformance {

static void expectRefused(const Launch &launch, const std::string &part) {
  Status status = launch.prepare();
  ASSERT_FALSE(status.ok()) << "expected an error with '" << part << "'";
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

static Launch conv(Shape x, Shape w, Shape y) {
  Launch launch("conv");
  launch.ints("strides", {1, 1})
      .ints("dilations", {1, 1})
      .ints("pads", {0, 0, 0, 0})
      .ints("group", {1});
  launch.read(randomTensor(activation(x), 1))
      .read(randomTensor(activation(w), 2))
      .write(activation(y));
  return launch;
}

static Launch relu() {
  Launch launch("pointwise");
  launch.program({{"constant"}, {"maximumf", {0, 1}}}, {2});
  return launch;
}

static Launch filterGradient() {
  Launch launch("conv_backward_filter");
  launch.ints("strides", {1, 1})
      .ints("dilations", {1, 1})
      .ints("pads", {0, 0, 0, 0})
      .ints("group", {1})
      .read(randomTensor(activation({2, 16, 8, 8}), 1))
      .read(randomTensor(activation({2, 16, 6, 6}), 2))
      .write(activation({16, 16, 3, 3}));
  return launch;
}

TEST(RejectionTest, UnknownKernelAndAlgorithm) {
  expectRefused(Launch("convolve"), "unknown kernel 'convolve'");
  Launch launch = conv({1, 3, 4, 4}, {5, 3, 1, 1}, {1, 5, 4, 4});
  EXPECT_TRUE(launch.prepare().ok());
  expectRefused(launch.algorithm("magic"), "unknown algorithm 'magic'");
}

TEST(RejectionTest, NondeterministicAlgorithmsOfAKernelThatIsNotMarked) {
  Launch launch = filterGradient();
  std::vector<std::string> some = launch.algorithms(),
                           all = launch.nondeterministic().algorithms();
  for (const std::string &algorithm : all) {
    launch.algorithm(algorithm).nondeterministic();
    EXPECT_TRUE(launch.prepare(launch.workspaceBytes()).ok()) << algorithm;
    if (std::find(some.begin(), some.end(), algorithm) == some.end()) {
      expectRefused(launch.nondeterministic(false),
                    "algorithm '" + algorithm + "' is nondeterministic");
    }
  }
}

TEST(RejectionTest, TooLittleWorkspace) {
  // The gradient of a bias needs partial sums, that of a filter often a copy.
  Launch launch = filterGradient();
  launch.write(makeType({16}));
  uint64_t needed = launch.workspaceBytes();
  ASSERT_GT(needed, 0u);
  EXPECT_TRUE(launch.prepare(needed).ok());
  Status status = launch.prepare(needed - 1);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("workspace"), std::string::npos);
}

TEST(RejectionTest, WrongShapes) {
  expectRefused(conv({1, 3, 4, 4}, {5, 3, 1, 1}, {1, 5, 4, 5}),
                "expected shape [1, 5, 4, 4] of 'y', found [1, 5, 4, 5]");
  expectRefused(conv({1, 3, 4, 4}, {5, 2, 1, 1}, {1, 5, 4, 4}),
                "group 1 does not fit");
  Launch reduce("reduce");
  reduce.text("kind", "sum")
      .ints("axes", {2})
      .read(randomTensor(makeType({2, 3}), 1))
      .write(makeType({2, 1}));
  expectRefused(reduce, "axis 2 is outside");
  Launch slice("slice");
  slice.ints("axis", {1})
      .ints("offset", {2})
      .read(randomTensor(makeType({2, 3}), 1))
      .write(makeType({2, 2}));
  expectRefused(slice, "reaches outside axis 1");
}

TEST(RejectionTest, WrongLayoutsAndElements) {
  Launch launch("max_pool");
  launch.ints("kernel", {2, 2})
      .ints("strides", {2, 2})
      .ints("pads", {0, 0, 0, 0})
      .ints("dilations", {1, 1});
  launch.read(randomTensor(makeType({1, 3, 4, 4}), 1))
      .write(activation({1, 3, 2, 2}));
  expectRefused(launch, "expected layout 'RowMajor'");
  Launch softmax("softmax");
  softmax.ints("axis", {1})
      .read(
          randomTensor(makeType({2, 3}, Layout::RowMajor, ElementType::I32), 1))
      .write(makeType({2, 3}));
  expectRefused(softmax,
                "expected element type 'F32' of 'operand 0', found 'I32'");
}

/// A maximum pool on operands of these types.
static Launch pool(ElementType x, ElementType y) {
  Launch launch("max_pool");
  launch.ints("kernel", {2, 2})
      .ints("strides", {2, 2})
      .ints("pads", {0, 0, 0, 0})
      .ints("dilations", {1, 1});
  launch.read(randomTensor(activation({1, 3, 4, 4}, x), 1))
      .write(activation({1, 3, 2, 2}, y));
  return launch;
}

TEST(RejectionTest, Bf16) {
  ElementType f32 = ElementType::F32, bf16 = ElementType::BF16;
  // A backend takes it for all activations, or says that it does not.
  if (backend().bf16) {
    EXPECT_TRUE(pool(bf16, bf16).prepare().ok());
  } else {
    expectRefused(pool(bf16, bf16), "in f32 alone, found a tensor of 'BF16'");
  }
  expectRefused(pool(bf16, f32), "'BF16'");
  expectRefused(pool(f32, bf16), "'BF16'");
  schedule::TypeT vector = makeType({3}), x = activation({2, 3, 4, 4}, bf16),
                  halfVector = makeType({3}, Layout::RowMajor, bf16);
  Launch norm("batch_norm");
  norm.read(randomTensor(x, 1)).read(randomTensor(halfVector, 2));
  norm.read(randomTensor(vector, 3)).read(randomTensor(vector, 4));
  norm.read(randomTensor(vector, 5)).write(x);
  norm.write(vector).write(vector).write(vector).write(vector);
  expectRefused(norm, "'BF16'");
  // Softmax and losses compute in f32 everywhere.
  schedule::TypeT logits = makeType({2, 3}, Layout::RowMajor, bf16);
  Launch softmax("softmax");
  softmax.ints("axis", {1}).read(randomTensor(logits, 1)).write(logits);
  expectRefused(softmax, "'BF16'");
  // A copy is nobody's parameter, and no gradient of bf16 has room for one.
  for (auto [gradient, read] : {std::pair(bf16, 1u), std::pair(f32, 0u)}) {
    Launch sgd("sgd");
    sgd.read(randomTensor(vector, 1));
    sgd.read(randomTensor(makeType({3}, Layout::RowMajor, gradient), 2));
    sgd.read(tensor(makeType({}), {1})).write(vector).write(halfVector);
    sgd.inPlace(read, read == 0 ? 1 : 0);
    EXPECT_FALSE(sgd.prepare().ok());
  }
}

TEST(RejectionTest, WrongOperandCount) {
  Launch launch("conv");
  expectRefused(launch, "expected 2 to 3 operands, found 0");
}

TEST(RejectionTest, InPlacePairs) {
  Launch launch = relu();
  launch.read(randomTensor(makeType({4, 4}), 1)).write(makeType({4, 4}));
  EXPECT_TRUE(launch.inPlace(0, 0).prepare().ok());
  Launch broadcast = relu();
  broadcast.read(randomTensor(makeType({1, 4}), 1))
      .write(makeType({4, 4}))
      .inPlace(0, 0);
  expectRefused(broadcast, "result 0 cannot be computed in place of operand 0");
  expectRefused(conv({1, 3, 4, 4}, {3, 3, 1, 1}, {1, 3, 4, 4}).inPlace(0, 0),
                "in place");
}

TEST(RejectionTest, BadPrograms) {
  Launch unknown("pointwise");
  unknown.program({{"frobnicate", {0}}}, {1})
      .read(randomTensor(makeType({4}), 1))
      .write(makeType({4}));
  expectRefused(unknown, "'frobnicate'");
  Launch early("pointwise");
  early.program({{"negf", {1}}}, {1})
      .read(randomTensor(makeType({4}), 1))
      .write(makeType({4}));
  expectRefused(early, "before it is computed");
  Launch mistyped("pointwise");
  mistyped.program({{"negf", {0}, ElementType::I32}}, {1})
      .read(randomTensor(makeType({4}), 1));
  expectRefused(
      mistyped.write(makeType({4}, Layout::RowMajor, ElementType::I32)),
      "is declared 'I32'");
  Launch absent("pointwise");
  absent.program({{"negf", {0}}}, {7})
      .read(randomTensor(makeType({4}), 1))
      .write(makeType({4}));
  expectRefused(absent, "is no value");
}

TEST(RejectionTest, LargeWindowsHaveNoIndex) {
  Launch launch("max_pool");
  launch.ints("kernel", {12, 12})
      .ints("strides", {1, 1})
      .ints("pads", {0, 0, 0, 0})
      .ints("dilations", {1, 1});
  schedule::TypeT index = activation({1, 2, 1, 1});
  index.element = ElementType::I8;
  launch.read(randomTensor(activation({1, 2, 12, 12}), 1))
      .write(activation({1, 2, 1, 1}))
      .write(index);
  expectRefused(launch, "144 positions has no index");
}

} // namespace vdnn::rt::conformance
