//===- ComputeOpTest.cpp - what planners ask of compute ops ---------------===//

#include "vdnn/Dialect/VDNN.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace vdnn;

namespace {

using Pairs = SmallVector<std::pair<unsigned, unsigned>>;

class ComputeOpTest : public ::testing::Test {
protected:
  ComputeOpTest() {
    context.loadDialect<VDNNDialect, arith::ArithDialect, func::FuncDialect,
                        math::MathDialect>();
  }

  /// The only op of the body of a function with these arguments.
  ComputeOp parse(const std::string &arguments, const std::string &op) {
    module = parseSourceString<ModuleOp>(
        "func.func @f(" + arguments + ") {\n" + op + "\nreturn\n}", &context);
    EXPECT_TRUE(module) << op;
    ComputeOp found;
    if (module) {
      module->walk([&](ComputeOp compute) { found = compute; });
    }
    return found;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(ComputeOpTest, Convolution) {
  const std::string attributes =
      "{strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = "
      "array<i64: 0, 0, 0, 0>, group = 2 : i64}";
  ComputeOp op = parse(
      "%x: tensor<2x8x9x9xf32>, %w: tensor<16x4x3x3xf32>, %b: tensor<16xf32>",
      "%0 = vdnn.conv %x, %w, %b " + attributes +
          " : (tensor<2x8x9x9xf32>, tensor<16x4x3x3xf32>, tensor<16xf32>) -> "
          "tensor<2x16x7x7xf32>");
  EXPECT_EQ(op.getOpClass(), OpClass::Convolution);
  EXPECT_EQ(op.getFlops(), 2.0 * (2 * 16 * 49) * (4 * 9) + 2 * 16 * 49);
  EXPECT_TRUE(op.getInPlacePairs().empty());
  EXPECT_FALSE(op.isView());
  // The gradients do the same multiply-adds.
  op = parse("%dy: tensor<2x16x7x7xf32>, %w: tensor<16x4x3x3xf32>",
             "%0 = vdnn.conv_backward_data %dy, %w " + attributes +
                 " : (tensor<2x16x7x7xf32>, tensor<16x4x3x3xf32>) -> "
                 "tensor<2x8x9x9xf32>");
  EXPECT_EQ(op.getFlops(), 2.0 * (2 * 16 * 49) * (4 * 9));
}

TEST_F(ComputeOpTest, MatMul) {
  ComputeOp op = parse("%a: tensor<5x4xf32>, %b: tensor<5x6xf32>",
                       "%0 = vdnn.matmul %a, %b {transpose_a} : "
                       "(tensor<5x4xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>");
  EXPECT_EQ(op.getOpClass(), OpClass::FullyConnected);
  EXPECT_EQ(op.getFlops(), 2.0 * 4 * 6 * 5);
}

TEST_F(ComputeOpTest, PointwiseClassAndPairs) {
  const std::string add = R"( {
    ^bb0(%x: f32, %z: f32):
      %s = arith.addf %x, %z : f32
      %t = math.tanh %s : f32
      vdnn.yield %t : f32
    })";
  ComputeOp sum = parse("%a: tensor<8x16xf32>, %b: tensor<8x16xf32>",
                        "%0 = vdnn.pointwise ins(%a, %b : tensor<8x16xf32>, "
                        "tensor<8x16xf32>) -> tensor<8x16xf32>" +
                            add);
  EXPECT_EQ(sum.getOpClass(), OpClass::Other);
  EXPECT_EQ(sum.getFlops(), 2.0 * 8 * 16);
  EXPECT_EQ(sum.getInPlacePairs(), (Pairs{{0, 0}, {1, 0}}));
  // A repeated operand is no second tensor.
  ComputeOp activation =
      parse("%a: tensor<8x16xf32>, %b: tensor<1x16xf32>",
            "%0 = vdnn.pointwise ins(%a, %b : tensor<8x16xf32>, "
            "tensor<1x16xf32>) -> tensor<8x16xf32>" +
                add);
  EXPECT_EQ(activation.getOpClass(), OpClass::Activation);
  EXPECT_EQ(activation.getInPlacePairs(), (Pairs{{0, 0}}));
}

TEST_F(ComputeOpTest, NoPairsAcrossTypes) {
  ComputeOp op = parse(
      "%a: tensor<8x16xf32>",
      R"(%0 = vdnn.pointwise ins(%a : tensor<8x16xf32>) -> tensor<8x16xi32> {
    ^bb0(%x: f32):
      %s = arith.fptosi %x : f32 to i32
      vdnn.yield %s : i32
    })");
  EXPECT_TRUE(op.getInPlacePairs().empty());
}

TEST_F(ComputeOpTest, Update) {
  ComputeOp op = parse("%p: tensor<16xf32>, %r: tensor<f32>",
                       "%0:2 = vdnn.sgd %p, %p, %r, %p {momentum = 0.9 : f64, "
                       "weight_decay = 0.0 : f64} : "
                       "(tensor<16xf32>, tensor<16xf32>, tensor<f32>, "
                       "tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)");
  EXPECT_EQ(op.getOpClass(), OpClass::Update);
  EXPECT_EQ(op.getInPlacePairs(), (Pairs{{0, 0}, {3, 1}}));
}

TEST_F(ComputeOpTest, UpdateGroup) {
  ComputeOp op = parse(
      "%p: tensor<16xf32>, %q: tensor<2x8xf32>, %r: tensor<f32>",
      "%0:4 = vdnn.sgd_group %r parameters(%p, %q) gradients(%p, %q) "
      "velocities(%p, %q) {momentum = 0.9 : f64, weight_decay = 0.0 : f64} : "
      "(tensor<f32>, tensor<16xf32>, tensor<2x8xf32>, tensor<16xf32>, "
      "tensor<2x8xf32>, tensor<16xf32>, tensor<2x8xf32>) -> (tensor<16xf32>, "
      "tensor<2x8xf32>, tensor<16xf32>, tensor<2x8xf32>)");
  EXPECT_EQ(op.getOpClass(), OpClass::Update);
  EXPECT_EQ(op.getFlops(), 2 * 6 * 16);
  EXPECT_EQ(op.getInPlacePairs(), (Pairs{{1, 0}, {5, 2}, {2, 1}, {6, 3}}));
}

// What is kept from step to step must be updated where it lies.
TEST_F(ComputeOpTest, RunningStatisticsInPlace) {
  ComputeOp op = parse("%x: tensor<2x4x7x7xf32>, %v: tensor<4xf32>", R"(
    %0:5 = vdnn.batch_norm %x, %v, %v, %v, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64}
      : (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
        -> (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>))");
  EXPECT_EQ(op.getOpClass(), OpClass::Norm);
  EXPECT_EQ(op.getInPlacePairs(), (Pairs{{3, 3}, {4, 4}}));
  ComputeOp withResidual =
      parse("%x: tensor<2x4x7x7xf32>, %v: tensor<4xf32>", R"(
    %0:5 = vdnn.batch_norm %x, %v, %v, %v, %v residual(%x) {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64, relu}
      : (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4x7x7xf32>)
        -> (tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>))");
  EXPECT_EQ(withResidual.getInPlacePairs(), (Pairs{{3, 3}, {4, 4}, {5, 0}}));
}

// What the first pass over the gradient masks lies where it was made of; the
// second pass writes dx.
TEST_F(ComputeOpTest, BatchNormBackwardInPlace) {
  const std::string values =
      "%x: tensor<2x4x7x7xf32>, %d: tensor<2x4x7x7xf32>, %v: tensor<4xf32>";
  const std::string five = "tensor<2x4x7x7xf32>, tensor<2x4x7x7xf32>, "
                           "tensor<4xf32>, tensor<4xf32>, tensor<4xf32>",
                    three = "tensor<2x4x7x7xf32>, tensor<4xf32>, tensor<4xf32>";
  constexpr double kElements = 2 * 4 * 7 * 7;
  auto parseForm = [&](const std::string &results, const std::string &form,
                       const std::string &attributes,
                       const std::string &operandTypes,
                       const std::string &resultTypes) {
    return parse(
        values, results + " = vdnn.batch_norm_backward %d, %x, %v, %v, %v" +
                    form + " {epsilon = 1.0e-5 : f64" + attributes + "} : (" +
                    five + operandTypes + ") -> (" + three + resultTypes + ")");
  };
  const std::string like = ", tensor<2x4x7x7xf32>";
  ComputeOp plain = parseForm("%0:3", "", "", "", "");
  EXPECT_EQ(plain.getInPlacePairs(), (Pairs{{0, 0}, {1, 0}}));
  EXPECT_EQ(plain.getFlops(), 9 * kElements);
  ComputeOp relu =
      parseForm("%0:3", " bias(%v)", ", relu", ", tensor<4xf32>", "");
  EXPECT_EQ(relu.getInPlacePairs(), (Pairs{{0, 0}, {1, 0}}));
  EXPECT_EQ(relu.getFlops(), 17 * kElements);
  ComputeOp masks = parseForm("%0:4", " y(%x)", ", relu", like, like);
  EXPECT_EQ(masks.getInPlacePairs(), (Pairs{{0, 3}, {1, 0}}));
  EXPECT_EQ(masks.getFlops(), 12 * kElements);
  ComputeOp adds =
      parseForm("%0:4", " y(%x) addend(%d)", ", relu", like + like, like);
  EXPECT_EQ(adds.getInPlacePairs(), (Pairs{{0, 3}, {1, 0}, {6, 3}}));
}

TEST_F(ComputeOpTest, ViewsAndDefaults) {
  ComputeOp reshape =
      parse("%x: tensor<4x8xf32>",
            "%0 = vdnn.reshape %x : (tensor<4x8xf32>) -> tensor<32xf32>");
  EXPECT_TRUE(reshape.isView());
  EXPECT_EQ(reshape.getOpClass(), OpClass::Other);
  ComputeOp transpose = parse(
      "%x: tensor<4x8xf32>", "%0 = vdnn.transpose %x {permutation = array<i64: "
                             "1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>");
  EXPECT_FALSE(transpose.isView());
  EXPECT_EQ(transpose.getFlops(), 32);
}

} // namespace
