//===- ModelsTest.cpp - whole models: time, and what is left in the graph -===//

#include "Support.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <chrono>
#include <gtest/gtest.h>

using namespace vdnn;
using namespace vdnn::test;

namespace {
struct Expected {
  const char *name;
  int convs;
  int batchNorms;
  int parameters;
};

class Models : public testing::TestWithParam<Expected> {};
} // namespace

template <typename Op>
static int count(mlir::ModuleOp module) {
  int result = 0;
  module.walk([&](Op) { ++result; });
  return result;
}

TEST_P(Models, AreImportedWholeAndFast) {
  ImportOptions options;
  options.batch = 2;
  options.training = true;
  auto start = std::chrono::steady_clock::now();
  Import import(std::string("test/models/") + GetParam().name + ".onnx",
                options);
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(import.succeeded()) << import.messages;
  mlir::ModuleOp module = *import.model.module;
  EXPECT_EQ(count<ConvOp>(module), GetParam().convs);
  EXPECT_EQ(count<BatchNormOp>(module), GetParam().batchNorms);
  // Nothing of the chains that compute shapes and fill values is left.
  EXPECT_EQ(count<ConstantOp>(module), 0);
  int parameters = 0;
  int states = 0;
  auto function = *module.getOps<mlir::func::FuncOp>().begin();
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto role = function.getArgAttrOfType<mlir::StringAttr>(i, "vdnn.role");
    parameters += role.getValue() == "parameter";
    states += role.getValue() == "state";
    EXPECT_EQ(role.getValue() != "input",
              bool(function.getArgAttr(i, "vdnn.initial")));
  }
  EXPECT_EQ(parameters, GetParam().parameters);
  EXPECT_EQ(states, 2 * GetParam().batchNorms);
  // 0.3 s on an idle machine; one busy with other tests gets more.
  EXPECT_LT(time.count(), 3);
}

INSTANTIATE_TEST_SUITE_P(All, Models,
                         testing::Values(Expected{"alexnet", 5, 0, 16},
                                         Expected{"overfeat", 5, 0, 16},
                                         Expected{"vgg16", 13, 0, 32},
                                         Expected{"googlenet", 57, 57, 173},
                                         Expected{"resnet50", 53, 53, 161},
                                         Expected{"resnet152", 155, 155, 467},
                                         Expected{"digits", 2, 2, 10}),
                         [](const auto &info) { return info.param.name; });
