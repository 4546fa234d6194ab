//===- KernelTest.cpp - compute ops as kernels of the schedule ------------===//

#include "vdnn/Target/Kernel.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "runtime/schedule/Schedule.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

using namespace mlir;
using namespace vdnn;

namespace {

class KernelTest : public ::testing::Test {
protected:
  KernelTest() {
    context.loadDialect<VDNNDialect, arith::ArithDialect, func::FuncDialect,
                        math::MathDialect>();
  }

  /// The kernel of the first op `name` of a module.
  schedule::KernelT kernelOf(const std::string &text, StringRef name) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    Operation *found = nullptr;
    if (module) {
      module->walk([&](Operation *op) {
        found = !found && op->getName().getStringRef() == name ? op : found;
      });
    }
    EXPECT_TRUE(found);
    return found ? toKernel(found) : schedule::KernelT();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

using Ints = std::vector<int64_t>;

TEST_F(KernelTest, AttributesOfAConvolution) {
  schedule::KernelT kernel = kernelOf(R"(
    func.func @f(%x: tensor<2x8x9x9xf32>, %w: tensor<16x8x3x3xf32>) {
      %0 = vdnn.conv %x, %w {strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 0, 1, 0>,
          vdnn.layer = 3 : i64, vdnn.algorithm = "direct"}
        : (tensor<2x8x9x9xf32>, tensor<16x8x3x3xf32>) -> tensor<2x16x5x7xf32>
      return
    })",
                                      "vdnn.conv");
  EXPECT_EQ(kernel.kind, "conv");
  EXPECT_EQ(kernel.algorithm, "direct");
  EXPECT_EQ(schedule::getInts(kernel, "strides"), (Ints{2, 1}));
  EXPECT_EQ(schedule::getInts(kernel, "pads"), (Ints{1, 0, 1, 0}));
  EXPECT_EQ(schedule::getInt(kernel, "group"), 1);
  // Discardable attributes stay in the compiler.
  EXPECT_EQ(schedule::findAttribute(kernel, "vdnn.layer"), nullptr);
  EXPECT_EQ(kernel.attributes.size(), 4u);
}

TEST_F(KernelTest, NumbersEnumsAndUnits) {
  schedule::KernelT kernel = kernelOf(R"(
    func.func @f(%p: tensor<4xf32>, %r: tensor<f32>) {
      %0:2 = vdnn.sgd %p, %p, %r, %p {momentum = 0.9 : f64, weight_decay = 1.0e-4 : f64, nesterov}
        : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
      return
    })",
                                      "vdnn.sgd");
  EXPECT_EQ(schedule::getNumber(kernel, "momentum"), 0.9);
  EXPECT_EQ(schedule::getInts(kernel, "nesterov"), Ints{1});
  kernel = kernelOf(R"(
    func.func @f(%x: tensor<4x3xf32>) {
      %0 = vdnn.reduce %x {kind = #vdnn<reduction sum_square>, axes = array<i64: 1>} : (tensor<4x3xf32>) -> tensor<4x1xf32>
      return
    })",
                    "vdnn.reduce");
  EXPECT_EQ(schedule::getText(kernel, "kind"), "sum_square");
}

TEST_F(KernelTest, NamesAmbiguousOperands) {
  const char *text = R"(
    func.func @f(%x: tensor<2x4x6x6xf32>, %y: tensor<2x4x3x3xf32>, %i: tensor<2x4x3x3xi8>) {
      %0 = vdnn.max_pool_backward %y SOURCES {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>,
          pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x4x3x3xf32>, TYPES) -> tensor<2x4x6x6xf32>
      return
    })";
  auto with = [&](const std::string &sources, const std::string &types) {
    std::string result = text;
    result.replace(result.find("SOURCES"), 7, sources);
    result.replace(result.find("TYPES"), 5, types);
    return kernelOf(result, "vdnn.max_pool_backward");
  };
  EXPECT_EQ(
      schedule::getText(with("index(%i)", "tensor<2x4x3x3xi8>"), "operands"),
      "dy,index");
  schedule::KernelT kernel =
      with("forward(%x, %y)", "tensor<2x4x6x6xf32>, tensor<2x4x3x3xf32>");
  EXPECT_EQ(schedule::getText(kernel, "operands"), "dy,x,y");
  EXPECT_EQ(schedule::findAttribute(kernel, "operandSegmentSizes"), nullptr);
}

/// relu(a + 1.5), and whether it is positive.
constexpr const char *kProgram = R"(
  ^bb0(%a: f32):
    %c = arith.constant 1.5 : f32
    %s = arith.addf %a, %c : f32
    %z = arith.constant 0.0 : f32
    %r = arith.maximumf %s, %z : f32
    %p = arith.cmpf ogt, %s, %z : f32
    vdnn.yield %r, %p : f32, i1
  })";

TEST_F(KernelTest, ProgramOfAPointwiseOp) {
  schedule::KernelT kernel =
      kernelOf(std::string(R"(func.func @f(%x: tensor<4xf32>) {
    %0:2 = vdnn.pointwise ins(%x : tensor<4xf32>) -> tensor<4xf32>, tensor<4xi1> {)") +
                   kProgram + "return }",
               "vdnn.pointwise");
  ASSERT_EQ(kernel.program.size(), 5u);
  EXPECT_EQ(kernel.program[0]->code, "constant");
  EXPECT_EQ(kernel.program[0]->constant, 1.5);
  EXPECT_EQ(kernel.program[1]->code, "addf");
  EXPECT_EQ(kernel.program[1]->operands, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(kernel.program[3]->operands, (std::vector<uint32_t>{2, 3}));
  EXPECT_EQ(kernel.program[4]->code, "cmpf");
  EXPECT_EQ(kernel.program[4]->predicate, "ogt");
  EXPECT_EQ(kernel.program[4]->element, schedule::ElementType::Bool);
  EXPECT_EQ(kernel.program_results, (std::vector<uint32_t>{4, 5}));
}

std::vector<uint8_t> toBytes(schedule::KernelT kernel) {
  schedule::ScheduleT schedule;
  schedule.target = std::make_unique<schedule::DeviceT>();
  schedule.kernels.push_back(
      std::make_unique<schedule::KernelT>(std::move(kernel)));
  return schedule::serialize(schedule);
}

TEST_F(KernelTest, LaunchGivesTheKernelOfItsOp) {
  schedule::KernelT op =
      kernelOf(std::string(R"(func.func @f(%x: tensor<4xf32>) {
    %0:2 = vdnn.pointwise ins(%x : tensor<4xf32>) -> tensor<4xf32>, tensor<4xi1> {)") +
                   kProgram + "return }",
               "vdnn.pointwise");
  schedule::KernelT launch = kernelOf(std::string(R"(vdnn.plan @p {
    vdnn.buffer @b device at 0 bytes 16 align 16
    vdnn.cmd.launch "pointwise" on compute (@b : tensor<4xf32>) -> (@b : tensor<4xf32>, @b : tensor<4xi1>) ns 1 from ""
      program {)") + kProgram + "}",
                                      "vdnn.cmd.launch");
  EXPECT_EQ(toBytes(std::move(op)), toBytes(std::move(launch)));
}

TEST_F(KernelTest, Types) {
  auto parse = [&](StringRef text) {
    return toType(parseType(text, &context));
  };
  schedule::TypeT type =
      parse("tensor<8x3x4x5xbf16, #vdnn.layout<channels_last>>");
  EXPECT_EQ(type.element, schedule::ElementType::BF16);
  EXPECT_EQ(type.shape, (Ints{8, 3, 4, 5}));
  EXPECT_EQ(type.layout, schedule::Layout::ChannelsLast);
  EXPECT_EQ(parse("tensor<f64>").element, schedule::ElementType::F64);
  EXPECT_EQ(parse("tensor<2xui8>").element, schedule::ElementType::U8);
  EXPECT_EQ(parse("tensor<2xi8>").element, schedule::ElementType::I8);
  EXPECT_EQ(parse("tensor<2xi1>").element, schedule::ElementType::Bool);
  EXPECT_EQ(parse("tensor<2xi64>").element, schedule::ElementType::I64);
  EXPECT_EQ(parse("tensor<2xf16>").layout, schedule::Layout::RowMajor);
}

} // namespace
