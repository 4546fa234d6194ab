//===- LrnTest.cpp - local response normalisation against plain loops -----===//

#include "Harness.h"

#include <algorithm>

namespace vdnn::rt::conformance {

namespace {

struct Case {
  Shape x;
  int64_t size;
  double alpha, beta, bias;

  std::vector<double> forward(const std::vector<double> &x) const;
  Launch launch(const char *kind) const {
    Launch launch(kind);
    launch.ints("size", {size})
        .number("alpha", alpha)
        .number("beta", beta)
        .number("bias", bias);
    return launch;
  }
};

class LrnTest : public testing::TestWithParam<std::tuple<Case, ElementType>> {};

} // namespace

std::vector<double> Case::forward(const std::vector<double> &in) const {
  int64_t channels = x[1], pixels = count(x) / (x[0] * channels);
  std::vector<double> y(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    int64_t pixel = static_cast<int64_t>(i) % pixels,
            c = static_cast<int64_t>(i) / pixels % channels;
    int64_t image = static_cast<int64_t>(i) / pixels / channels;
    double sum = 0;
    for (int64_t j = std::max<int64_t>(0, c - (size - 1) / 2);
         j <= std::min(channels - 1, c + size / 2); ++j) {
      double value = in[(image * channels + j) * pixels + pixel];
      sum += value * value;
    }
    y[i] =
        in[i] / std::pow(bias + alpha / static_cast<double>(size) * sum, beta);
  }
  return y;
}

TEST_P(LrnTest, Forward) {
  auto [c, element] = GetParam();
  Tensor x = randomTensor(activation(c.x, element), 1, -2, 2);
  expectRounded(
      c.launch("lrn").read(x).write(activation(c.x, element)).run()[0],
      c.forward(x.values), 1e-6);
}

TEST_P(LrnTest, Backward) {
  auto [c, element] = GetParam();
  Tensor x = randomTensor(activation(c.x, element), 1, -2, 2),
         dy = randomTensor(activation(c.x, element), 2);
  std::vector<double> dx = numericalGradient(
      [&, c = c](const auto &values) { return c.forward(values); }, x.values,
      dy.values);
  expectRounded(c.launch("lrn_backward")
                    .read(dy)
                    .read(x)
                    .write(activation(c.x, element))
                    .run()[0],
                dx, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, LrnTest,
    testing::Combine(testing::Values(Case{{2, 12, 2, 3}, 5, 0.5, 0.75, 1.0},
                                     Case{{1, 7, 2, 2}, 4, 0.3, 0.6, 2.0},
                                     Case{{1, 3, 3, 2}, 9, 1.0, 0.75, 1.0},
                                     Case{{2, 1, 5}, 3, 1.0, 1.0, 1.5}),
                     testing::ValuesIn(activationElements())));

} // namespace vdnn::rt::conformance
