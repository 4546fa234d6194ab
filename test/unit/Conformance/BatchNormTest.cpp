//===- BatchNormTest.cpp - batch normalisation against plain loops --------===//

#include "Harness.h"

namespace vdnn::rt::conformance {

namespace {

constexpr double kEpsilon = 1e-3, kMomentum = 0.9;

class BatchNormTest : public testing::TestWithParam<Shape> {
protected:
  int64_t channels() const { return GetParam()[1]; }
  int64_t pixels() const {
    return count(GetParam()) / (GetParam()[0] * channels());
  }
  int64_t channelOf(size_t element) const {
    return static_cast<int64_t>(element) / pixels() % channels();
  }
  double rows() const {
    return static_cast<double>(count(GetParam()) / channels());
  }
  schedule::TypeT type() const { return activation(GetParam()); }
  schedule::TypeT vector() const { return makeType({channels()}); }

  /// Mean and biased variance by channel.
  std::pair<std::vector<double>, std::vector<double>>
  statistics(const std::vector<double> &x) const {
    std::vector<double> mean(channels()), variance(channels());
    for (size_t i = 0; i < x.size(); ++i) {
      mean[channelOf(i)] += x[i] / rows();
    }
    for (size_t i = 0; i < x.size(); ++i) {
      variance[channelOf(i)] +=
          (x[i] - mean[channelOf(i)]) * (x[i] - mean[channelOf(i)]) / rows();
    }
    return {mean, variance};
  }

  std::vector<double> normalize(const std::vector<double> &x,
                                const std::vector<double> &scale,
                                const std::vector<double> &bias,
                                const std::vector<double> &mean,
                                const std::vector<double> &variance) const {
    std::vector<double> y(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      int64_t c = channelOf(i);
      y[i] = scale[c] * (x[i] - mean[c]) / std::sqrt(variance[c] + kEpsilon) +
             bias[c];
    }
    return y;
  }
};

} // namespace

TEST_P(BatchNormTest, Forward) {
  // A mean far from zero shows whether the variance survives.
  Tensor x = randomTensor(type(), 1, 9, 11), scale = randomTensor(vector(), 2),
         bias = randomTensor(vector(), 3);
  Tensor runningMean = randomTensor(vector(), 4),
         runningVar = randomTensor(vector(), 5, 0.5, 2);
  auto [mean, variance] = statistics(x.values);
  for (bool unbiased : {false, true}) {
    std::vector<double> inverse, newMean, newVar;
    for (int64_t c = 0; c < channels(); ++c) {
      inverse.push_back(1 / std::sqrt(variance[c] + kEpsilon));
      newMean.push_back(runningMean.values[c] * kMomentum +
                        mean[c] * (1 - kMomentum));
      double correction = unbiased ? rows() / (rows() - 1) : 1;
      newVar.push_back(runningVar.values[c] * kMomentum +
                       variance[c] * correction * (1 - kMomentum));
    }
    for (bool inPlace : {false, true}) {
      Launch launch("batch_norm");
      launch.number("epsilon", kEpsilon).number("momentum", kMomentum);
      if (unbiased) {
        launch.ints("unbiased_running_var", {1});
      }
      launch.read(x)
          .read(scale)
          .read(bias)
          .read(runningMean)
          .read(runningVar)
          .write(type());
      launch.write(vector()).write(vector()).write(vector()).write(vector());
      if (inPlace) {
        launch.inPlace(3, 3).inPlace(4, 4);
      }
      std::vector<Tensor> results = launch.run();
      expectClose(
          results[0],
          normalize(x.values, scale.values, bias.values, mean, variance), 1e-5);
      expectClose(results[1], mean, 1e-6);
      expectClose(results[2], inverse, 1e-5);
      expectClose(results[3], newMean, 1e-6);
      expectClose(results[4], newVar, 1e-5);
    }
  }
}

TEST_P(BatchNormTest, Inference) {
  Tensor x = randomTensor(type(), 1), scale = randomTensor(vector(), 2),
         bias = randomTensor(vector(), 3);
  Tensor mean = randomTensor(vector(), 4),
         variance = randomTensor(vector(), 5, 0.1, 2);
  for (bool inPlace : {false, true}) {
    Launch launch("batch_norm_inference");
    launch.number("epsilon", kEpsilon)
        .read(x)
        .read(scale)
        .read(bias)
        .read(mean)
        .read(variance)
        .write(type());
    if (inPlace) {
      launch.inPlace(0, 0);
    }
    expectClose(launch.run()[0],
                normalize(x.values, scale.values, bias.values, mean.values,
                          variance.values),
                1e-5);
  }
}

TEST_P(BatchNormTest, Backward) {
  Tensor x = randomTensor(type(), 1), dy = randomTensor(type(), 2),
         scale = randomTensor(vector(), 3);
  auto [mean, variance] = statistics(x.values);
  std::vector<double> inverse, dscale(channels()), dbias(channels()), dx;
  for (double value : variance) {
    inverse.push_back(static_cast<float>(1 / std::sqrt(value + kEpsilon)));
  }
  for (double &value : mean) {
    value = static_cast<float>(value);
  }
  for (size_t i = 0; i < x.values.size(); ++i) {
    int64_t c = channelOf(i);
    dbias[c] += dy.values[i];
    dscale[c] += dy.values[i] * (x.values[i] - mean[c]) * inverse[c];
  }
  for (size_t i = 0; i < x.values.size(); ++i) {
    int64_t c = channelOf(i);
    double normalized = (x.values[i] - mean[c]) * inverse[c];
    dx.push_back(
        scale.values[c] * inverse[c] *
        (dy.values[i] - dbias[c] / rows() - normalized * dscale[c] / rows()));
  }
  if (x.values.size() < 200) {
    // The formula above is the derivative.
    auto forward = [&](const std::vector<double> &values) {
      auto [m, v] = statistics(values);
      return normalize(values, scale.values, std::vector<double>(channels()), m,
                       v);
    };
    expectClose(tensor(type(), dx),
                numericalGradient(forward, x.values, dy.values), 1e-6);
  }
  for (int inPlace : {-1, 0, 1}) {
    Launch launch("batch_norm_backward");
    launch.number("epsilon", kEpsilon).read(dy).read(x).read(scale);
    launch.read(tensor(vector(), mean))
        .read(tensor(vector(), inverse))
        .write(type())
        .write(vector())
        .write(vector());
    if (inPlace >= 0) {
      launch.inPlace(static_cast<uint32_t>(inPlace), 0);
    }
    std::vector<Tensor> results = launch.run();
    expectClose(results[0], dx, 1e-5);
    expectClose(results[1], dscale, 1e-5);
    expectClose(results[2], dbias, 1e-5);
  }
}

// Behind a maximum pool few gradients are not zero, and their sum is small: it
// is right to float's digits of what is summed up, whichever element comes
// first.
TEST(BatchNormBackward, SumOfSparseGradients) {
  constexpr int64_t kRows = 2 * 96 * 96, kChannels = 5, kEvery = 128;
  Shape shape{2, kChannels, 96, 96};
  Tensor x = randomTensor(activation(shape), 1),
         dy = randomTensor(activation(shape), 2);
  std::vector<double> sum(kChannels), size(kChannels);
  for (size_t i = 0; i < dy.values.size(); ++i) {
    if (i % kEvery != 0) {
      dy.values[i] = 0;
    }
    int64_t c = static_cast<int64_t>(i) / (kRows / 2) % kChannels;
    sum[c] += dy.values[i];
    size[c] += std::fabs(dy.values[i]);
  }
  schedule::TypeT vector = makeType({kChannels});
  std::vector<double> zeros(kChannels), ones(kChannels, 1);
  Launch launch("batch_norm_backward");
  launch.number("epsilon", kEpsilon)
      .read(tensor(activation(shape), dy.values))
      .read(x)
      .read(tensor(vector, ones))
      .read(tensor(vector, zeros))
      .read(tensor(vector, ones))
      .write(activation(shape))
      .write(vector)
      .write(vector);
  std::vector<Tensor> results = launch.run();
  for (int64_t c = 0; c < kChannels; ++c) {
    EXPECT_LE(std::fabs(results[2].values[c] - sum[c]), 2e-7 * size[c])
        << "channel " << c;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, BatchNormTest,
                         testing::Values(Shape{2, 3, 4, 5}, Shape{4, 64, 9, 9},
                                         Shape{2, 37, 30, 20}, Shape{8, 10},
                                         Shape{3, 16, 7},
                                         Shape{2, 5, 2, 3, 4}));

} // namespace vdnn::rt::conformance
