//===- ExternalDataTest.cpp - weights beside the model --------------------===//

#include "Support.h"

#include <filesystem>
#include <gtest/gtest.h>

using namespace vdnn;
using namespace vdnn::test;
namespace fs = std::filesystem;

namespace {
/// A model y = x + w of four numbers, with w in a file.
class ExternalData : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::path(testing::TempDir()) / "vdnn-external";
    fs::remove_all(folder);
    fs::create_directories(folder / "model");
    writeFile(folder / "model" / "w.bin", std::string(24, 'a'));
    writeFile(folder / "outside.bin", std::string(24, 'b'));
    proto.set_ir_version(8);
    proto.add_opset_import()->set_version(17);
    auto &graph = *proto.mutable_graph();
    auto &input = *graph.add_input();
    input.set_name("x");
    auto &type = *input.mutable_type()->mutable_tensor_type();
    type.set_elem_type(vdnn_onnx::TensorProto::FLOAT);
    type.mutable_shape()->add_dim()->set_dim_value(4);
    auto &node = *graph.add_node();
    node.set_op_type("Add");
    node.add_input("x");
    node.add_input("w");
    node.add_output("y");
    graph.add_output()->set_name("y");
    auto &w = *graph.add_initializer();
    w.set_name("w");
    w.add_dims(4);
    w.set_data_type(vdnn_onnx::TensorProto::FLOAT);
    w.set_data_location(vdnn_onnx::TensorProto::EXTERNAL);
  }
  void TearDown() override { fs::remove_all(folder); }

  void set(const std::string &key, const std::string &value) {
    auto &entry =
        *proto.mutable_graph()->mutable_initializer(0)->add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
  std::unique_ptr<Import> import() {
    std::string path = folder / "model" / "m.onnx";
    writeFile(path, proto.SerializeAsString());
    return std::make_unique<Import>(path, ImportOptions());
  }
  void expectError(const std::string &part) {
    auto result = import();
    EXPECT_FALSE(result->succeeded());
    EXPECT_NE(result->messages.find(part), std::string::npos)
        << result->messages;
  }

  fs::path folder;
  vdnn_onnx::ModelProto proto;
};
} // namespace

TEST_F(ExternalData, IsRead) {
  set("location", "w.bin");
  set("offset", "8");
  set("length", "16");
  auto result = import();
  ASSERT_TRUE(result->succeeded()) << result->messages;
  ASSERT_EQ(result->model.weights.size(), 1u);
  EXPECT_EQ(result->model.weights[0].name, "w");
  EXPECT_EQ(result->model.weights[0].dtype, "F32");
  EXPECT_EQ(result->model.weights[0].bytes, std::vector<char>(16, 'a'));
}

TEST_F(ExternalData, MayBeAbsent) {
  set("location", "gone.bin");
  auto result = import();
  ASSERT_TRUE(result->succeeded()) << result->messages;
  EXPECT_TRUE(result->model.weights.empty());
}

TEST_F(ExternalData, StaysBelowTheFolder) {
  set("location", "../outside.bin");
  expectError("a path below the model's folder is expected");
}

TEST_F(ExternalData, IsNoAbsolutePath) {
  set("location", (folder / "outside.bin").string());
  expectError("a path below the model's folder is expected");
}

TEST_F(ExternalData, IsNoLinkOutside) {
  fs::create_symlink("../outside.bin", folder / "model" / "link.bin");
  set("location", "link.bin");
  expectError("leads out of the model's folder");
}

TEST_F(ExternalData, LiesWithinItsFile) {
  set("location", "w.bin");
  set("offset", "16");
  expectError("which has 24");
}

TEST_F(ExternalData, OffsetDoesNotOverflow) {
  set("location", "w.bin");
  set("offset", "18446744073709551615");
  expectError("which has 24");
}

TEST_F(ExternalData, HasTheLengthOfItsShape) {
  set("location", "w.bin");
  set("length", "20");
  expectError("its shape and type need 16");
}
