//===- MeasuredCostsTest.cpp - profiles, written and read -----------------===//

#include "lib/Cost/DeviceFile.h"

#include "vdnn/Dialect/VDNN.h"
#include "vdnn/Target/Kernel.h"

#include "runtime/profile/Profile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>

using namespace mlir;
using namespace vdnn;
using planning::KernelChoice;

namespace {

constexpr char kSoftmax[] = "softmax axis=1: F32[4,8] -> F32[4,8]";

/// A profile of one kernel, as vdnn-profile makes them, for a device that
/// cuDNN knows.
rt::Profile makeProfile(const std::string &fingerprint) {
  rt::Result<DeviceFile> builtin = parseDeviceFile(findBuiltinDevice("cuda"));
  EXPECT_TRUE(builtin.ok());
  rt::Profile profile;
  profile.kind = "cuda";
  profile.fingerprint = fingerprint;
  profile.build = "this";
  profile.properties = builtin->properties;
  profile.memoryBytes = 1000;
  profile.overheadBytes = 100;
  profile.link = {10e9, 20e9, 0.75, 1500, {{4096, 1700, 1600}}};
  rt::MeasuredKernel rounded, exact, atomic;
  rounded.candidate.algorithm = "rounded";
  rounded.candidate.workspaceBytes = 4096;
  rounded.candidate.reducedPrecision = true;
  rounded.timeNs = 1234;
  exact.candidate.algorithm = "exact";
  exact.timeNs = 5678;
  // The planner does not ask.
  exact.aloneNs = 5000;
  exact.build = "another";
  atomic.candidate.algorithm = "atomic";
  atomic.candidate.nondeterministic = true;
  atomic.timeNs = 3456;
  profile.kernels[kSoftmax] = {rounded, atomic, exact};
  return profile;
}

std::string errorOf(const std::string &text) {
  rt::Result<DeviceFile> file = parseDeviceFile(text);
  return file.ok() ? "no error" : file.message();
}

/// A profile whose "kernels" is `kernels`.
std::string withKernels(const std::string &kernels) {
  std::string text = findBuiltinDevice("cuda");
  text.insert(text.find('{') + 1,
              R"("fingerprint": "f", "kernels": )" + kernels + ",\n");
  return text;
}

TEST(MeasuredCosts, ProfilesAreDeviceFiles) {
  rt::Result<DeviceFile> file =
      parseDeviceFile(toJson(makeProfile("cudnn 9"), "my GPU"));
  ASSERT_TRUE(file.ok()) << file.message();
  EXPECT_EQ(file->device.kind, "cuda");
  EXPECT_EQ(file->device.name, "my GPU");
  EXPECT_EQ(file->device.fingerprint, "cudnn 9");
  EXPECT_EQ(file->device.memoryBytes, 1000u);
  EXPECT_EQ(file->device.overheadBytes, 100u);
  EXPECT_EQ(file->link.deviceToHostBytesPerSecond, 10e9);
  EXPECT_EQ(file->link.hostToDeviceBytesPerSecond, 20e9);
  EXPECT_EQ(file->link.duplexFactor, 0.75);
  EXPECT_EQ(file->link.latencyNs, 1500);
  EXPECT_NE(file->properties.find("NVIDIA H200"), std::string::npos);
  ASSERT_EQ(file->kernels.size(), 1u);
  const std::vector<MeasuredKernel> &ways = file->kernels.at(kSoftmax);
  ASSERT_EQ(ways.size(), 3u);
  EXPECT_EQ(ways[0].algorithm, "rounded");
  EXPECT_EQ(ways[0].workspaceBytes, 4096u);
  EXPECT_TRUE(ways[0].reducedPrecision);
  EXPECT_FALSE(ways[0].nondeterministic);
  EXPECT_EQ(ways[0].timeNs, 1234);
  EXPECT_FALSE(ways[1].reducedPrecision);
  EXPECT_TRUE(ways[1].nondeterministic);
}

TEST(MeasuredCosts, CopiesOfAPlanRunBesideKernels) {
  rt::Profile profile = makeProfile("cudnn 9");
  profile.link.toHostUnderCompute = 9e9;
  profile.link.toDeviceUnderCompute = 18e9;
  rt::Result<DeviceFile> file = parseDeviceFile(toJson(profile, "my GPU"));
  ASSERT_TRUE(file.ok()) << file.message();
  EXPECT_EQ(file->link.deviceToHostBytesPerSecond, 9e9);
  EXPECT_EQ(file->link.hostToDeviceBytesPerSecond, 18e9);
}

TEST(MeasuredCosts, BadKernelsAreErrorsThatNameTheKey) {
  const std::string good =
      R"({"algorithm": "a", "workspace_bytes": 1, "ns": 2})";
  EXPECT_EQ(errorOf(withKernels(R"({"k": [)" + good + "]}")), "no error");
  EXPECT_EQ(errorOf(withKernels("{}")), "no error");
  EXPECT_EQ(errorOf(withKernels("[]")), "'kernels' must be an object");
  for (const char *ways : {"[]", "3", "{}"}) {
    EXPECT_EQ(errorOf(withKernels(std::string(R"({"k": )") + ways + "}")),
              "'kernels' has 'k' without a list of measurements");
  }
  auto wrong = [&](const std::string &way) {
    return errorOf(withKernels(R"({"k": [)" + good + ", " + way + "]}"));
  };
  EXPECT_EQ(wrong("7"), "'kernels' must be an object");
  EXPECT_EQ(wrong(R"({"workspace_bytes": 1, "ns": 2})"),
            "missing key 'kernels.algorithm'");
  EXPECT_EQ(wrong(R"({"algorithm": "a", "ns": 2})"),
            "missing key 'kernels.workspace_bytes'");
  EXPECT_EQ(wrong(R"({"algorithm": "a", "workspace_bytes": 1})"),
            "missing key 'kernels.ns'");
  EXPECT_EQ(wrong(R"({"algorithm": 1, "workspace_bytes": 1, "ns": 2})"),
            "'kernels.algorithm' must be a text");
  EXPECT_EQ(wrong(R"({"algorithm": "a", "workspace_bytes": -1, "ns": 2})"),
            "'kernels.workspace_bytes' must be a number from 0 to 1e+15, "
            "found -1");
  EXPECT_EQ(wrong(R"({"algorithm": "a", "workspace_bytes": 1, "ns": 1e300})"),
            "'kernels.ns' must be a number from 0 to 1e+15, found 1e+300");
  EXPECT_EQ(wrong(R"({"algorithm": "a", "workspace_bytes": 1, "ns": 2,
                      "time": 3})"),
            "unknown key 'kernels.time', expected one of 'algorithm', "
            "'build', 'nondeterministic', 'ns', 'ns_alone', "
            "'reduced_precision', 'workspace_bytes'");
  EXPECT_EQ(wrong(R"({"algorithm": "a", "workspace_bytes": 1, "ns": 2,
                      "nondeterministic": 1})"),
            "'kernels.nondeterministic' must be true or false");
}

TEST(MeasuredCosts, WrongCopies) {
  auto wrong = [](const std::string &copies) {
    std::string text = findBuiltinDevice("cuda");
    size_t at = text.find("\"link\": {");
    return errorOf(text.insert(at + 9, "\"copies\": " + copies + ", "));
  };
  EXPECT_EQ(wrong("[]"), "no error");
  EXPECT_EQ(wrong(R"([{"bytes": 1, "to_host_ns": 2, "to_device_ns": 3}])"),
            "no error");
  EXPECT_EQ(wrong("3"), "'link.copies' must be a list");
  EXPECT_EQ(wrong("[3]"), "'link.copies' must be an object");
  EXPECT_EQ(wrong("[{}]"), "missing key 'link.copies.bytes'");
}

TEST(MeasuredCosts, CudaNeedsProperties) {
  std::string text = findBuiltinDevice("cuda");
  text.replace(text.find("\"properties\""), 12, "\"property\"");
  EXPECT_EQ(errorOf(text), "missing key 'properties'");
}

#ifdef VDNN_HAS_CUDA

class CudaCostsTest : public ::testing::Test {
protected:
  CudaCostsTest() { context.loadDialect<VDNNDialect, func::FuncDialect>(); }

  std::unique_ptr<CostModel> create(const std::string &device,
                                    const std::string &precision = "fp32",
                                    bool allowNondeterministic = false) {
    rt::Error error;
    std::unique_ptr<CostModel> model =
        createCostModel({device, 0, precision, allowNondeterministic}, error);
    EXPECT_EQ(model == nullptr, !error.message.empty());
    message = error.message;
    return model;
  }

  /// The ways to compute the first op of that name.
  std::vector<KernelChoice> choices(CostModel &model, StringRef name) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
      !x = tensor<8x16x28x28xf32, #vdnn.layout<channels_last>>
      !w = tensor<32x16x3x3xf32, #vdnn.layout<channels_last>>
      !y = tensor<8x32x28x28xf32, #vdnn.layout<channels_last>>
      func.func @f(%x: !x, %w: !w, %m: tensor<4x8xf32>) {
        %0 = vdnn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!x, !w) -> !y
        %dx = vdnn.conv_backward_data %0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (!y, !w) -> !x
        %1 = vdnn.softmax %m {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
        return
      })",
                                                               &context);
    EXPECT_TRUE(module);
    std::vector<KernelChoice> result;
    module->walk([&](ComputeOp op) {
      if (op->getName().getStringRef() == name) {
        rt::Result<std::vector<KernelChoice>> found = model.choices(op);
        EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.message());
        result = found.ok() ? *found : result;
      }
    });
    return result;
  }

  std::string writeProfile(const std::string &fingerprint) {
    std::string path = ::testing::TempDir() + "profile.json";
    std::ofstream(path) << toJson(makeProfile(fingerprint), "test");
    return path;
  }

  MLIRContext context;
  std::string message;
};

TEST_F(CudaCostsTest, CudnnTellsTheKernels) {
  std::unique_ptr<CostModel> fp32 = create("cuda");
  ASSERT_TRUE(fp32) << message;
  EXPECT_EQ(fp32->device().kind, "cuda");
  EXPECT_NE(fp32->device().fingerprint, "");
  std::vector<KernelChoice> exact = choices(*fp32, "vdnn.conv");
  ASSERT_FALSE(exact.empty());
  // cuDNN's order is taken for the order of times.
  EXPECT_TRUE(std::ranges::is_sorted(exact, {}, &KernelChoice::timeNs));
  EXPECT_GT(exact[0].timeNs, 0);

  std::unique_ptr<CostModel> tf32 = create("cuda", "tf32");
  ASSERT_TRUE(tf32) << message;
  std::vector<KernelChoice> all = choices(*tf32, "vdnn.conv");
  EXPECT_GT(all.size(), exact.size());
  for (const KernelChoice &choice : exact) {
    EXPECT_TRUE(std::ranges::count(all, choice.algorithm,
                                   &KernelChoice::algorithm) == 1)
        << choice.algorithm;
  }
}

// On tensor cores convolutions work channels last.
TEST_F(CudaCostsTest, PlanesAreForIEEE) {
  for (const char *precision : {"fp32", "tf32", "bf16"}) {
    std::unique_ptr<CostModel> model = create("cuda", precision);
    ASSERT_TRUE(model) << message;
    EXPECT_EQ(model->device().prefersPlanes, StringRef(precision) == "fp32");
    EXPECT_TRUE(model->device().poolsPlanes);
    EXPECT_TRUE(model->device().stagesInputs);
  }
}

TEST_F(CudaCostsTest, MeasuredTimesAreUsed) {
  std::unique_ptr<CostModel> builtin = create("cuda");
  ASSERT_TRUE(builtin) << message;
  std::string path = writeProfile(builtin->device().fingerprint);
  std::unique_ptr<CostModel> fp32 = create(path);
  ASSERT_TRUE(fp32) << message;
  EXPECT_EQ(fp32->link().duplexFactor, 0.75);
  std::vector<KernelChoice> exact = choices(*fp32, "vdnn.softmax");
  ASSERT_EQ(exact.size(), 1u) << "fp32 takes no tf32 kernel";
  EXPECT_EQ(exact[0].algorithm, "exact");
  EXPECT_EQ(exact[0].timeNs, 5678);

  std::unique_ptr<CostModel> tf32 = create(path, "tf32");
  ASSERT_TRUE(tf32) << message;
  std::vector<KernelChoice> all = choices(*tf32, "vdnn.softmax");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].algorithm, "rounded");
  EXPECT_EQ(all[0].workspaceBytes, 4096u);
  EXPECT_EQ(all[0].timeNs, 1234);

  // What the profile lacks is estimated.
  std::vector<KernelChoice> conv = choices(*fp32, "vdnn.conv");
  ASSERT_FALSE(conv.empty());
  EXPECT_EQ(conv[0].algorithm, choices(*builtin, "vdnn.conv")[0].algorithm);
}

TEST_F(CudaCostsTest, NondeterministicKernelsMustBeAllowed) {
  std::unique_ptr<CostModel> builtin = create("cuda");
  ASSERT_TRUE(builtin) << message;
  std::string path = writeProfile(builtin->device().fingerprint);
  std::unique_ptr<CostModel> allowing = create(path, "fp32", true);
  ASSERT_TRUE(allowing) << message;
  std::vector<KernelChoice> all = choices(*allowing, "vdnn.softmax");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].algorithm, "atomic");
  EXPECT_TRUE(all[0].nondeterministic);
  EXPECT_EQ(all[1].algorithm, "exact");
  EXPECT_FALSE(all[1].nondeterministic);

  // Of a kernel that was not measured cuDNN tells: the same, and more.
  std::vector<KernelChoice> some = choices(*builtin, "vdnn.conv_backward_data");
  all = choices(*allowing, "vdnn.conv_backward_data");
  auto isMarked = [](const KernelChoice &choice) {
    return choice.nondeterministic;
  };
  EXPECT_TRUE(std::ranges::none_of(some, isMarked));
  EXPECT_TRUE(std::ranges::any_of(all, isMarked));
  EXPECT_EQ(std::ranges::count_if(all, std::not_fn(isMarked)),
            std::ranges::ssize(some));
}

TEST_F(CudaCostsTest, ProfilesOfOtherLibrariesAreRefused) {
  EXPECT_FALSE(create(writeProfile("cudnn 1")));
  EXPECT_TRUE(StringRef(message).starts_with(
      "the profile was made with 'cudnn 1', this machine has '"))
      << message;
  EXPECT_TRUE(
      StringRef(message).ends_with("'; make it again with vdnn-profile"))
      << message;
}

TEST_F(CudaCostsTest, UnknownPrecision) {
  EXPECT_FALSE(create("cuda", "fp8"));
  EXPECT_EQ(message,
            "unknown precision 'fp8', expected 'fp32', 'tf32' or 'bf16'");
}

#endif

} // namespace
