//===- LayoutTest.cpp - the same values in row-major order ----------------===//
//
// What a kernel computes does not depend on how its operands lie in memory. The
// other tests compare channels last with plain loops; here row-major order is
// compared with that.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

namespace vdnn::rt::conformance {

namespace {

/// A kernel on random operands.
struct Case {
  std::string kind;
  std::vector<std::pair<const char *, std::vector<int64_t>>> attributes;
  std::vector<schedule::TypeT> reads, writes;

  Launch launch(Layout layout) const {
    Launch launch(kind);
    for (const auto &[name, values] : attributes) {
      launch.ints(name, values);
    }
    auto withLayout = [&](schedule::TypeT type) {
      type.layout = type.shape.size() > 2 ? layout : Layout::RowMajor;
      return type;
    };
    for (size_t i = 0; i < reads.size(); ++i) {
      // Positions in a window of nine elements.
      bool isIndex = reads[i].element == ElementType::I8;
      Tensor value = randomTensor(withLayout(reads[i]), i + 1, isIndex ? 0 : -1,
                                  isIndex ? 9 : 1);
      for (double &element : value.values) {
        element = isIndex ? std::floor(element) : element;
      }
      launch.read(std::move(value));
    }
    for (const schedule::TypeT &type : writes) {
      launch.write(withLayout(type));
    }
    return launch;
  }

  void check(double tolerance) const {
    std::vector<Tensor> expected = launch(Layout::ChannelsLast).run();
    Launch planes = launch(Layout::RowMajor);
    std::vector<std::string> algorithms = planes.algorithms();
    ASSERT_FALSE(algorithms.empty());
    for (const std::string &algorithm : algorithms) {
      SCOPED_TRACE(kind + ", algorithm '" + algorithm + "'");
      std::vector<Tensor> found = planes.algorithm(algorithm).run();
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) {
        expectClose(found[i], expected[i].values, tolerance);
      }
    }
  }
};

} // namespace

TEST(LayoutTest, PoolsWorkOnPlanes) {
  for (Shape x : {Shape{2, 5, 9, 8}, Shape{3, 16, 33, 40}}) {
    Shape y = {x[0], x[1], (x[2] - 1) / 2 + 1, (x[3] - 1) / 2 + 1};
    schedule::TypeT index = makeType(y, Layout::RowMajor, ElementType::I8);
    std::vector<std::pair<const char *, std::vector<int64_t>>> window = {
        {"kernel", {3, 3}}, {"strides", {2, 2}}, {"pads", {1, 1, 1, 1}}};
    Case average{"avg_pool", window, {makeType(x)}, {makeType(y)}};
    average.check(0);
    Case averageBackward{
        "avg_pool_backward", window, {makeType(y)}, {makeType(x)}};
    averageBackward.check(1e-6);
    window.push_back({"dilations", {1, 1}});
    Case maximum{"max_pool", window, {makeType(x)}, {makeType(y), index}};
    maximum.check(0);
    Case backward{
        "max_pool_backward", window, {makeType(y), index}, {makeType(x)}};
    backward.check(1e-6);
    Case fromForward{"max_pool_backward",
                     window,
                     {makeType(y), makeType(x), makeType(y)},
                     {makeType(x)}};
    fromForward.check(1e-6);
  }
}

TEST(LayoutTest, TilesWorkOnPlanes) {
  for (Shape x :
       {Shape{2, 5, 8, 8}, Shape{3, 16, 34, 40}, Shape{2, 3, 6, 14}}) {
    Shape y = {x[0], x[1], x[2] / 2, x[3] / 2};
    schedule::TypeT index = makeType(y, Layout::RowMajor, ElementType::I8);
    std::vector<std::pair<const char *, std::vector<int64_t>>> window = {
        {"kernel", {2, 2}},
        {"strides", {2, 2}},
        {"pads", {0, 0, 0, 0}},
        {"dilations", {1, 1}}};
    Case maximum{"max_pool", window, {makeType(x)}, {makeType(y), index}};
    maximum.check(0);
    Case backward{
        "max_pool_backward", window, {makeType(y), index}, {makeType(x)}};
    backward.check(0);
  }
}

TEST(LayoutTest, ConvolutionsWorkOnPlanes) {
  if (!backend().convolvesPlanes) {
    GTEST_SKIP() << "this backend convolves channels last alone";
  }
  struct Size {
    Shape x;
    int64_t outputs;
  };
  for (const Size &size : {Size{{2, 3, 17, 19}, 8}, Size{{3, 32, 14, 14}, 20},
                           Size{{2, 64, 32, 32}, 64}, Size{{5, 7, 6, 10}, 9}}) {
    const Shape &x = size.x;
    Shape y = {x[0], size.outputs, x[2], x[3]}, w = {size.outputs, x[1], 3, 3};
    schedule::TypeT bias = makeType({size.outputs});
    std::vector<std::pair<const char *, std::vector<int64_t>>> shape = {
        {"strides", {1, 1}},
        {"dilations", {1, 1}},
        {"pads", {1, 1, 1, 1}},
        {"group", {1}}};
    Case forward{"conv", shape, {makeType(x), makeType(w)}, {makeType(y)}};
    forward.check(2e-5);
    forward.reads.push_back(bias);
    forward.check(2e-5);
    forward.attributes.push_back({"relu", {1}});
    forward.check(2e-5);
    Case data{
        "conv_backward_data", shape, {makeType(y), makeType(w)}, {makeType(x)}};
    data.check(2e-5);
    Case filter{"conv_backward_filter",
                shape,
                {makeType(x), makeType(y)},
                {makeType(w), bias}};
    filter.check(2e-5);
  }
}

} // namespace vdnn::rt::conformance
