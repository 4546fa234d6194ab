//===- FuzzTest.cpp - damaged models end in an error or in a valid module -===//

#include "Support.h"

#include "llvm/Support/FileSystem.h"

#include <gtest/gtest.h>
#include <random>

using namespace vdnn;
using namespace vdnn::test;

namespace {
class Fuzz : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    original = readFile(std::string("test/models/") + GetParam() + ".onnx");
    ASSERT_FALSE(original.empty());
    ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("vdnn-fuzz", "onnx", path));
  }
  void TearDown() override { llvm::sys::fs::remove(path); }

  /// Importing must return; a failure must have said why.
  void import(const std::string &bytes) {
    writeFile(path.c_str(), bytes);
    ImportOptions options;
    options.batch = 2;
    options.training = true;
    Import import(path.c_str(), options);
    EXPECT_TRUE(import.succeeded() || !import.messages.empty());
  }

  std::string original;
  llvm::SmallString<128> path;
};
} // namespace

TEST_P(Fuzz, Truncated) {
  std::mt19937 random(1);
  for (int i = 0; i < 40; ++i) {
    import(original.substr(0, random() % original.size()));
  }
}

TEST_P(Fuzz, BitsFlipped) {
  std::mt19937 random(2);
  for (int i = 0; i < 60; ++i) {
    std::string bytes = original;
    for (unsigned flips = 1 + random() % 8; flips != 0; --flips) {
      bytes[random() % bytes.size()] ^= char(1 << random() % 8);
    }
    import(bytes);
  }
}

/// Keeps the message well-formed, and changes what it says.
TEST_P(Fuzz, FieldsChanged) {
  static constexpr int64_t numbers[] = {0,
                                        1,
                                        -1,
                                        2,
                                        3,
                                        7,
                                        1000,
                                        int64_t(1) << 31,
                                        int64_t(1) << 40,
                                        std::numeric_limits<int64_t>::max(),
                                        std::numeric_limits<int64_t>::min()};
  static constexpr const char *ops[] = {
      "Conv",       "Gemm",        "MatMul",  "MaxPool",  "Reshape",
      "Slice",      "Split",       "Gather",  "Concat",   "Transpose",
      "Expand",     "Range",       "Softmax", "Squeeze",  "Clip",
      "Where",      "Cast",        "Dropout", "Constant", "ConstantOfShape",
      "ReduceMean", "AveragePool", "Div"};
  std::mt19937 random(3);
  auto pick = [&](int size) { return int(random() % unsigned(size)); };
  vdnn_onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(original));
  for (int i = 0; i < 80; ++i) {
    vdnn_onnx::ModelProto changed = model;
    auto &graph = *changed.mutable_graph();
    for (int edits = 1 + pick(4); edits != 0; --edits) {
      auto &node = *graph.mutable_node(pick(graph.node_size()));
      auto &other = *graph.mutable_node(pick(graph.node_size()));
      int64_t number = numbers[pick(std::size(numbers))];
      auto &tensor = *graph.mutable_initializer(pick(graph.initializer_size()));
      switch (pick(9)) {
      case 0:
        node.set_op_type(ops[pick(std::size(ops))]);
        break;
      case 1:
        if (node.attribute_size() != 0) {
          auto &attribute =
              *node.mutable_attribute(pick(node.attribute_size()));
          attribute.set_i(number);
          if (attribute.ints_size() != 0) {
            attribute.set_ints(pick(attribute.ints_size()), number);
          }
        }
        break;
      case 2:
        if (node.attribute_size() != 0) {
          node.mutable_attribute(pick(node.attribute_size()))->clear_ints();
        }
        break;
      case 3: // an edge to anywhere: cycles, other ranks and types
        if (node.input_size() != 0 && other.output_size() != 0) {
          node.set_input(pick(node.input_size()), other.output(0));
        }
        break;
      case 4:
        if (node.input_size() != 0) {
          node.set_input(pick(node.input_size()), tensor.name());
        }
        break;
      case 5:
        if (tensor.dims_size() != 0) {
          tensor.set_dims(pick(tensor.dims_size()), number);
        }
        break;
      case 6:
        tensor.set_data_type(pick(25));
        break;
      case 7:
        if (node.output_size() != 0 && other.output_size() != 0) {
          node.set_output(0, other.output(0));
        }
        break;
      case 8:
        node.clear_input();
        break;
      }
    }
    import(changed.SerializeAsString());
  }
}

TEST_P(Fuzz, DeepSubgraphs) {
  // Written by hand: nested messages deeper than any parser should follow.
  vdnn_onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(original));
  std::string graph;
  auto wrap = [](char tag, const std::string &body) {
    std::string result(1, tag);
    for (size_t length = body.size(); true; length >>= 7) {
      result += char((length & 127) | (length > 127 ? 128 : 0));
      if (length <= 127) {
        break;
      }
    }
    return result + body;
  };
  for (int i = 0; i < 2000; ++i) {
    std::string attribute = wrap(0x32, graph); // AttributeProto.g
    std::string node = wrap(0x2a, attribute);  // NodeProto.attribute
    graph = wrap(0x0a, node);                  // GraphProto.node
  }
  import(original + wrap(0x3a, graph)); // ModelProto.graph
}

INSTANTIATE_TEST_SUITE_P(Models, Fuzz,
                         testing::Values("alexnet", "digits", "googlenet"),
                         [](const auto &info) { return info.param; });
