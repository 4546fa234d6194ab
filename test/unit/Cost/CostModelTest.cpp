//===- CostModelTest.cpp - costs of single ops ----------------------------===//

#include "vdnn/Cost/CostModel.h"
#include "vdnn/Dialect/VDNN.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace mlir;
using namespace vdnn;
using planning::KernelChoice;

namespace {

class CostModelTest : public ::testing::Test {
protected:
  CostModelTest() {
    context.loadDialect<VDNNDialect, arith::ArithDialect, func::FuncDialect>();
  }

  std::vector<KernelChoice> choices(const std::string &device,
                                    const std::string &text, StringRef name) {
    rt::Error error;
    std::unique_ptr<CostModel> model = createCostModel({device, 2}, error);
    EXPECT_TRUE(model) << error.message;
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    std::vector<KernelChoice> result;
    if (!model || !module) {
      return result;
    }
    module->walk([&](Operation *op) {
      if (op->getName().getStringRef() == name) {
        rt::Result<std::vector<KernelChoice>> found = model->choices(op);
        EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.message());
        result = found.ok() ? *found : result;
      }
    });
    return result;
  }

  MLIRContext context;
};

const KernelChoice *find(const std::vector<KernelChoice> &choices,
                         const std::string &algorithm) {
  auto found = std::ranges::find(choices, algorithm, &KernelChoice::algorithm);
  return found == choices.end() ? nullptr : &*found;
}

/// A 3 x 3 convolution of VGG-16 at batch 256 with both gradients; `size` is
/// height and width, `stride` and output follow.
std::string convolutions(int channels, int size, int stride) {
  std::string n = std::to_string(channels);
  std::string in = "tensor<256x" + n + "x" + std::to_string(size) + "x" +
                   std::to_string(size) + "xf32>";
  std::string out = "tensor<256x" + n + "x" +
                    std::to_string((size - 1) / stride + 1) + "x" +
                    std::to_string((size - 1) / stride + 1) + "xf32>";
  std::string filter = "tensor<" + n + "x" + n + "x3x3xf32>";
  std::string s = std::to_string(stride);
  std::string attributes =
      "{strides = array<i64: " + s + ", " + s +
      ">, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>}";
  return "func.func @f(%x: " + in + ", %w: " + filter + ", %dy: " + out +
         ") {\n%0 = vdnn.conv %x, %w " + attributes + ": (" + in + ", " +
         filter + ") -> " + out + "\n%1 = vdnn.conv_backward_data %dy, %w " +
         attributes + ": (" + out + ", " + filter + ") -> " + in +
         "\n%2 = vdnn.conv_backward_filter %x, %dy " + attributes + ": (" + in +
         ", " + out + ") -> " + filter + "\nreturn\n}";
}

TEST_F(CostModelTest, ConvolutionsTradeMemoryForTime) {
  std::string text = convolutions(64, 224, 1);
  for (const char *op :
       {"vdnn.conv", "vdnn.conv_backward_data", "vdnn.conv_backward_filter"}) {
    std::vector<KernelChoice> found = choices("titanx", text, op);
    const KernelChoice *gemm = find(found, "implicit_gemm");
    const KernelChoice *table = find(found, "implicit_precomp_gemm");
    const KernelChoice *fft = find(found, "fft_tiling");
    ASSERT_TRUE(gemm && table && fft) << op;
    EXPECT_EQ(gemm->workspaceBytes, 0u);
    // 64 * 9 rows and 224 * 224 columns.
    EXPECT_EQ(table->workspaceBytes, 4u * (64 * 9 + 224 * 224));
    // Half spectra of 8 * 32 * 17 bytes, of 256 images with 64 channels each
    // way and of 64 * 64 filters.
    EXPECT_EQ(fft->workspaceBytes, 8u * 32 * 17 * (2 * 256 * 64 + 64 * 64));
    EXPECT_LT(fft->timeNs, table->timeNs) << op;
    EXPECT_LT(table->timeNs, gemm->timeNs) << op;
  }
}

TEST_F(CostModelTest, TransformsNeedUnitStride) {
  std::vector<KernelChoice> found =
      choices("titanx", convolutions(64, 224, 2), "vdnn.conv");
  EXPECT_EQ(found.size(), 2u);
  EXPECT_EQ(find(found, "fft_tiling"), nullptr);
}

TEST_F(CostModelTest, DirectionsAreIndependent) {
  std::string text = convolutions(512, 14, 1);
  int64_t forward =
      find(choices("titanx", text, "vdnn.conv"), "implicit_gemm")->timeNs;
  int64_t filter = find(choices("titanx", text, "vdnn.conv_backward_filter"),
                        "implicit_gemm")
                       ->timeNs;
  EXPECT_LT(forward, filter);
  // 2 * 256 * 512 * 14 * 14 * 512 * 9 operations at 45 % of 7e12 per second,
  // and the launch.
  EXPECT_NEAR(forward, 2e9 * 256 * 512 * 196 * 512 * 9 / (0.45 * 7e12) + 5000,
              2);
}

TEST_F(CostModelTest, WinogradOnTheH200) {
  std::vector<KernelChoice> found =
      choices("h200", convolutions(64, 224, 1), "vdnn.conv");
  ASSERT_TRUE(find(found, "winograd"));
  EXPECT_EQ(find(found, "winograd")->workspaceBytes, 4u * 16 * 64 * 64);
  // 56 * 56 tiles per image, 36 numbers each.
  EXPECT_EQ(find(found, "winograd_nonfused")->workspaceBytes,
            4ull * 36 * (256ull * 56 * 56 * 128 + 64 * 64));
}

TEST_F(CostModelTest, ElementwiseOpsTakeTheTimeOfTheirBytes) {
  std::vector<KernelChoice> found = choices("titanx", R"(
    func.func @f(%x: tensor<1024x1024xf32>) {
      %0 = vdnn.pointwise ins(%x, %x : tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %b : f32
        vdnn.yield %s : f32
      }
      return
    })",
                                            "vdnn.pointwise");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].workspaceBytes, 0u);
  // The operand is read once although it is named twice.
  EXPECT_NEAR(found[0].timeNs, 1e9 * 2 * 4 * 1024 * 1024 / (0.8 * 336e9) + 5000,
              2);
}

/// A group moves the bytes of its updates, under one launch.
TEST_F(CostModelTest, GroupsOfUpdatesAreOneLaunch) {
  const char *text = R"(
    func.func @f(%r: tensor<f32>, %p: tensor<100000xf32>, %v: tensor<100000xf32>, %g: tensor<100000xbf16>,
                 %a: tensor<100000xf32>, %b: tensor<100000xf32>, %va: tensor<100000xf32>, %vb: tensor<100000xf32>,
                 %h: tensor<100000xbf16>, %i: tensor<100000xbf16>) {
      %0:3 = vdnn.sgd %p, %g, %r, %v {momentum = 0.9 : f64, weight_decay = 0.0 : f64}
        : (tensor<100000xf32>, tensor<100000xbf16>, tensor<f32>, tensor<100000xf32>)
          -> (tensor<100000xf32>, tensor<100000xf32>, tensor<100000xbf16>)
      %1:6 = vdnn.sgd_group %r parameters(%a, %b) gradients(%h, %i) velocities(%va, %vb) {momentum = 0.9 : f64, weight_decay = 0.0 : f64}
        : (tensor<f32>, tensor<100000xf32>, tensor<100000xf32>, tensor<100000xbf16>, tensor<100000xbf16>, tensor<100000xf32>, tensor<100000xf32>)
          -> (tensor<100000xf32>, tensor<100000xf32>, tensor<100000xf32>, tensor<100000xf32>, tensor<100000xbf16>, tensor<100000xbf16>)
      return
    })";
  std::vector<KernelChoice> single = choices("h200", text, "vdnn.sgd"),
                            group = choices("h200", text, "vdnn.sgd_group");
  ASSERT_EQ(single.size(), 1u);
  ASSERT_EQ(group.size(), 1u);
  constexpr double kLaunchNs = 2500;
  EXPECT_NEAR(double(group[0].timeNs) - kLaunchNs,
              2 * (double(single[0].timeNs) - kLaunchNs), 2);
  EXPECT_GT(double(single[0].timeNs), kLaunchNs);
}

TEST_F(CostModelTest, ViewsAndConstantsAreFree) {
  const char *text = R"(
    func.func @f(%x: tensor<4x8xf32>) {
      %0 = vdnn.reshape %x : (tensor<4x8xf32>) -> tensor<32xf32>
      %1 = vdnn.constant dense<1.0> : tensor<32xf32>
      return
    })";
  for (const char *device : {"titanx", "cpu"}) {
    for (const char *op : {"vdnn.reshape", "vdnn.constant"}) {
      std::vector<KernelChoice> found = choices(device, text, op);
      ASSERT_EQ(found.size(), 1u);
      EXPECT_EQ(found[0].timeNs, 0);
    }
  }
}

TEST_F(CostModelTest, CpuAsksTheBackend) {
  std::vector<KernelChoice> found = choices("cpu", R"(
    !x = tensor<8x16x28x28xf32, #vdnn.layout<channels_last>>
    !w = tensor<32x16x3x3xf32, #vdnn.layout<channels_last>>
    !y = tensor<8x32x28x28xf32, #vdnn.layout<channels_last>>
    func.func @f(%x: !x, %w: !w) {
      %0 = vdnn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!x, !w) -> !y
      return
    })",
                                            "vdnn.conv");
  const KernelChoice *direct = find(found, "direct");
  ASSERT_TRUE(direct);
  EXPECT_GT(direct->timeNs, 0);
}

TEST_F(CostModelTest, CpuSaysWhatItCannotCompute) {
  rt::Error error;
  std::unique_ptr<CostModel> model = createCostModel({"cpu", 1}, error);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->device().kind, "cpu");
  EXPECT_NE(model->device().fingerprint.find("threads 1"), std::string::npos);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    func.func @f(%x: tensor<4x4xf64>) {
      %0 = vdnn.softmax %x {axis = 1 : i64} : (tensor<4x4xf64>) -> tensor<4x4xf64>
      return
    })",
                                                             &context);
  ASSERT_TRUE(module);
  module->walk([&](SoftmaxOp op) { EXPECT_FALSE(model->choices(op).ok()); });
}

TEST_F(CostModelTest, UnknownDevice) {
  rt::Error error;
  EXPECT_FALSE(createCostModel({"gtx", 0}, error));
  EXPECT_EQ(error.message,
            "unknown device 'gtx', expected 'cpu', 'cuda', 'h200', 'titanx' or "
            "the path of a device file that ends in '.json'");
}

// A product counts at the rate of its operands' type, whatever its result's is;
// what waits for memory moves half the bytes.
TEST_F(CostModelTest, ProductsOfBF16AreFast) {
  auto product = [&](const std::string &in, const std::string &out) {
    std::string a = "tensor<4096x4096x" + in + ">";
    std::string y = "tensor<4096x4096x" + out + ">";
    return choices("h200",
                   "func.func @f(%a: " + a +
                       ") {\n  %y = vdnn.matmul %a, %a : (" + a + ", " + a +
                       ") -> " + y + "\n  return\n}",
                   "vdnn.matmul")
        .at(0)
        .timeNs;
  };
  constexpr int64_t kLaunch = 2500;
  double ratio = double(product("f32", "f32") - kLaunch) /
                 double(product("bf16", "bf16") - kLaunch);
  EXPECT_NEAR(ratio, 989.0 / 67, 0.1);
  EXPECT_EQ(product("bf16", "f32"), product("bf16", "bf16"));
  auto pool = [&](const std::string &element) {
    std::string x = "tensor<64x64x112x112x" + element + ">";
    std::string y = "tensor<64x64x56x56x" + element + ">";
    return choices("h200",
                   "func.func @f(%x: " + x +
                       ") {\n  %y = vdnn.avg_pool %x {kernel = array<i64: 2, "
                       "2>, strides = array<i64: 2, 2>, pads = array<i64: 0, "
                       "0, 0, 0>} : (" +
                       x + ") -> " + y + "\n  return\n}",
                   "vdnn.avg_pool")
        .at(0)
        .timeNs;
  };
  EXPECT_NEAR(double(pool("f32") - kLaunch) / double(pool("bf16") - kLaunch), 2,
              0.01);
}

TEST_F(CostModelTest, RefusesBF16WithoutARate) {
  for (const char *device : {"cpu", "titanx"}) {
    rt::Error error;
    EXPECT_FALSE(createCostModel({device, 1, "bf16"}, error)) << device;
    EXPECT_NE(error.message.find("--precision=fp32"), std::string::npos)
        << error.message;
  }
  rt::Error error;
  EXPECT_TRUE(createCostModel({"h200", 0, "bf16"}, error)) << error.message;
  EXPECT_FALSE(createCostModel({"h200", 0, "fp8"}, error));
  EXPECT_EQ(error.message,
            "unknown precision 'fp8', expected 'fp32', 'tf32' or 'bf16'");
}

TEST_F(CostModelTest, DescribesDevices) {
  rt::Error error;
  std::unique_ptr<CostModel> model = createCostModel({"h200", 0}, error);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->device().kind, "model");
  EXPECT_EQ(model->device().overheadBytes, 536ull << 20);
  EXPECT_EQ(model->link().hostToDeviceBytesPerSecond, 54.8e9);
  EXPECT_EQ(model->link().duplexFactor, 0.83);
  for (const char *device : {"cpu", "h200", "titanx"}) {
    std::unique_ptr<CostModel> model = createCostModel({device, 1}, error);
    ASSERT_TRUE(model);
    EXPECT_FALSE(model->device().poolsPlanes) << device;
    EXPECT_FALSE(model->device().prefersPlanes) << device;
    EXPECT_FALSE(model->device().stagesInputs) << device;
  }
}

} // namespace
