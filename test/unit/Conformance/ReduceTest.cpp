//===- ReduceTest.cpp - reductions against plain loops --------------------===//

#include "Harness.h"

#include <algorithm>
#include <limits>

namespace vdnn::rt::conformance {

namespace {

struct Case {
  Shape x;
  std::vector<int64_t> axes;
};

/// Of an operand and its result.
using Elements = std::pair<ElementType, ElementType>;

class ReduceTest : public testing::TestWithParam<
                       std::tuple<Case, std::string, Layout, Elements>> {};

} // namespace

static std::vector<double> reduce(const Tensor &x, const Shape &yShape,
                                  const std::string &kind) {
  double initial = kind == "prod"  ? 1
                   : kind == "max" ? -std::numeric_limits<double>::infinity()
                   : kind == "min" ? std::numeric_limits<double>::infinity()
                                   : 0;
  std::vector<double> y(count(yShape), initial);
  for (size_t i = 0; i < x.values.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), at = 0, stride = 1;
    for (size_t d = yShape.size(); d-- > 0;) {
      int64_t index = rest % x.type.shape[d];
      rest /= x.type.shape[d];
      at += (yShape[d] == 1 ? 0 : index) * stride;
      stride *= yShape[d];
    }
    double value = x.values[i], &acc = y[at];
    acc = kind == "prod"         ? acc * value
          : kind == "max"        ? std::max(acc, value)
          : kind == "min"        ? std::min(acc, value)
          : kind == "sum_square" ? acc + value * value
                                 : acc + value;
  }
  for (double &value : y) {
    value /= kind == "mean" ? static_cast<double>(x.values.size()) /
                                  static_cast<double>(y.size())
                            : 1;
  }
  return y;
}

TEST_P(ReduceTest, Float) {
  auto [c, kind, layout, elements] = GetParam();
  Tensor x =
      randomTensor(makeType(c.x, layout, elements.first), 1,
                   kind == "prod" ? 0.95 : -1, kind == "prod" ? 1.05 : 1);
  Shape yShape = c.x;
  for (int64_t axis : c.axes) {
    yShape[axis] = 1;
  }
  Launch launch("reduce");
  launch.text("kind", kind)
      .ints("axes", c.axes)
      .read(x)
      .write(makeType(yShape, layout, elements.second));
  expectRounded(launch.run()[0], reduce(x, yShape, kind), 1e-6);
}

static std::vector<Elements> elements() {
  std::vector<Elements> pairs = {{ElementType::F32, ElementType::F32}};
  if (backend().bf16) {
    pairs.push_back({ElementType::BF16, ElementType::BF16});
    pairs.push_back({ElementType::BF16, ElementType::F32});
  }
  return pairs;
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ReduceTest,
    testing::Combine(
        testing::Values(Case{{3, 5, 4, 6}, {2, 3}},
                        Case{{3, 5, 4, 6}, {0, 2, 3}}, Case{{3, 5, 4, 6}, {1}},
                        Case{{3, 5, 4, 6}, {0, 1, 2, 3}}, Case{{200, 7}, {0}},
                        Case{{7, 200}, {1}}, Case{{2, 3, 4, 5, 6}, {0, 2, 4}},
                        Case{{4, 3}, {}}, Case{{1, 1}, {0}}, Case{{9001}, {0}},
                        Case{{3, 9000}, {1}}, Case{{900, 12}, {0}},
                        Case{{5000, 40}, {0}}, Case{{7, 800}, {1}}),
        testing::Values("sum", "mean", "max", "min", "prod", "sum_square"),
        testing::Values(Layout::RowMajor, Layout::ChannelsLast),
        testing::ValuesIn(elements())));

TEST(ReduceTest, Integers) {
  for (ElementType element : {ElementType::I64, ElementType::I32}) {
    Tensor x = tensor(makeType({2, 3}, Layout::RowMajor, element),
                      {1, -7, 3, 40, 50, 60});
    Launch sum("reduce"), most("reduce");
    sum.text("kind", "sum")
        .ints("axes", {1})
        .read(x)
        .write(makeType({2, 1}, Layout::RowMajor, element));
    most.text("kind", "max")
        .ints("axes", {0})
        .read(x)
        .write(makeType({1, 3}, Layout::RowMajor, element));
    expectClose(sum.run()[0], {-3, 150}, 0);
    expectClose(most.run()[0], {40, 50, 60}, 0);
  }
}

TEST(ReduceTest, MaximumOfNaN) {
  double nan = std::numeric_limits<double>::quiet_NaN();
  Launch launch("reduce");
  launch.text("kind", "max")
      .ints("axes", {1})
      .read(tensor(makeType({2, 2}), {nan, 5, 5, nan}))
      .write(makeType({2, 1}));
  expectClose(launch.run()[0], {nan, nan}, 0);
}

} // namespace vdnn::rt::conformance
