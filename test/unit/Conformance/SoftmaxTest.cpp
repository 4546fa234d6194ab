//===- SoftmaxTest.cpp - softmax and its gradient against plain loops -----===//

#include "Harness.h"

namespace vdnn::rt::conformance {

namespace {

class SoftmaxTest : public testing::TestWithParam<
                        std::tuple<std::pair<Shape, int64_t>, bool>> {
protected:
  const Shape &shape() const { return std::get<0>(GetParam()).first; }
  int64_t axis() const { return std::get<0>(GetParam()).second; }
  bool log() const { return std::get<1>(GetParam()); }

  std::vector<double> forward(const std::vector<double> &x) const {
    int64_t length = shape()[axis()], inner = 1;
    for (size_t i = axis() + 1; i < shape().size(); ++i) {
      inner *= shape()[i];
    }
    std::vector<double> y(x.size());
    for (int64_t row = 0; row < static_cast<int64_t>(x.size()) / length;
         ++row) {
      int64_t base = row / inner * length * inner + row % inner;
      double sum = 0;
      for (int64_t i = 0; i < length; ++i) {
        sum += std::exp(x[base + i * inner]);
      }
      for (int64_t i = 0; i < length; ++i) {
        double value = x[base + i * inner] - std::log(sum);
        y[base + i * inner] = log() ? value : std::exp(value);
      }
    }
    return y;
  }

  Launch launch(const char *kind) const {
    Launch launch(kind);
    launch.ints("axis", {axis()});
    if (log()) {
      launch.ints("log", {1});
    }
    return launch;
  }
};

} // namespace

TEST_P(SoftmaxTest, Forward) {
  Tensor x = randomTensor(makeType(shape()), 1, -5, 5);
  expectClose(launch("softmax").read(x).write(makeType(shape())).run()[0],
              forward(x.values), 3e-6);
  expectClose(
      launch("softmax").read(x).write(makeType(shape())).inPlace(0, 0).run()[0],
      forward(x.values), 3e-6);
}

TEST_P(SoftmaxTest, Backward) {
  Tensor x = randomTensor(makeType(shape()), 1, -2, 2),
         dy = randomTensor(makeType(shape()), 2);
  std::vector<double> dx = numericalGradient(
      [&](const auto &values) { return forward(values); }, x.values, dy.values);
  Tensor y = tensor(makeType(shape()), forward(x.values));
  expectClose(launch("softmax_backward")
                  .read(dy)
                  .read(y)
                  .write(makeType(shape()))
                  .run()[0],
              dx, 1e-5);
  expectClose(launch("softmax_backward")
                  .read(dy)
                  .read(y)
                  .write(makeType(shape()))
                  .inPlace(0, 0)
                  .run()[0],
              dx, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SoftmaxTest,
    testing::Combine(testing::Values(std::pair{Shape{4, 10}, 1},
                                     std::pair{Shape{3, 5, 7}, 1},
                                     std::pair{Shape{2, 3, 4, 5}, 3},
                                     std::pair{Shape{6, 33}, 0},
                                     std::pair{Shape{1, 2500}, 1},
                                     std::pair{Shape{1, 1}, 1}),
                     testing::Bool()));

} // namespace vdnn::rt::conformance
