//===- BatchNormTest.cpp - batch normalisation against plain loops --------===//

#include "Harness.h"

namespace vdnn::rt::conformance {

namespace {

constexpr double kEpsilon = 1e-3, kMomentum = 0.9;

class BatchNormTest
    : public testing::TestWithParam<std::tuple<Shape, ElementType>> {
protected:
  const Shape &shape() const { return std::get<0>(GetParam()); }
  ElementType element() const { return std::get<1>(GetParam()); }
  int64_t channels() const { return shape()[1]; }
  int64_t pixels() const { return count(shape()) / (shape()[0] * channels()); }
  int64_t channelOf(size_t element) const {
    return static_cast<int64_t>(element) / pixels() % channels();
  }
  double rows() const {
    return static_cast<double>(count(shape()) / channels());
  }
  schedule::TypeT type() const { return activation(shape(), element()); }
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

  struct Gradients {
    std::vector<double> dx, dscale, dbias;
  };

  /// From the statistics that a kernel gets.
  Gradients differentiate(const std::vector<double> &x,
                          const std::vector<double> &dy,
                          const std::vector<double> &scale,
                          const std::vector<double> &mean,
                          const std::vector<double> &inverse) const {
    Gradients g{
        {}, std::vector<double>(channels()), std::vector<double>(channels())};
    for (size_t i = 0; i < x.size(); ++i) {
      int64_t c = channelOf(i);
      g.dbias[c] += dy[i];
      g.dscale[c] += dy[i] * (x[i] - mean[c]) * inverse[c];
    }
    for (size_t i = 0; i < x.size(); ++i) {
      int64_t c = channelOf(i);
      double normalized = (x[i] - mean[c]) * inverse[c];
      g.dx.push_back(
          scale[c] * inverse[c] *
          (dy[i] - g.dbias[c] / rows() - normalized * g.dscale[c] / rows()));
    }
    return g;
  }

  Launch forward(const Tensor &x, const Tensor &scale, const Tensor &bias,
                 const Tensor *residual, bool relu) const {
    Launch launch("batch_norm");
    launch.number("epsilon", kEpsilon).number("momentum", kMomentum);
    launch.read(x).read(scale).read(bias).read(scale).read(scale);
    if (residual) {
      launch.read(*residual);
    }
    if (relu) {
      launch.ints("relu", {1});
    }
    launch.write(type());
    launch.write(vector()).write(vector()).write(vector()).write(vector());
    return launch;
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
      expectRounded(
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
    expectRounded(launch.run()[0],
                  normalize(x.values, scale.values, bias.values, mean.values,
                            variance.values),
                  1e-5);
  }
}

TEST_P(BatchNormTest, Backward) {
  Tensor x = randomTensor(type(), 1), dy = randomTensor(type(), 2),
         scale = randomTensor(vector(), 3);
  auto [mean, variance] = statistics(x.values);
  std::vector<double> inverse;
  for (double value : variance) {
    inverse.push_back(static_cast<float>(1 / std::sqrt(value + kEpsilon)));
  }
  for (double &value : mean) {
    value = static_cast<float>(value);
  }
  auto [dx, dscale, dbias] =
      differentiate(x.values, dy.values, scale.values, mean, inverse);
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
    expectRounded(results[0], dx, 1e-5);
    expectClose(results[1], dscale, 1e-5);
    expectClose(results[2], dbias, 1e-5);
  }
}

TEST_P(BatchNormTest, ForwardWithResidualAndRelu) {
  Tensor x = randomTensor(type(), 1), scale = randomTensor(vector(), 2),
         bias = randomTensor(vector(), 3), residual = randomTensor(type(), 4);
  auto [mean, variance] = statistics(x.values);
  std::vector<double> plain =
      normalize(x.values, scale.values, bias.values, mean, variance);
  for (auto [adds, relu] : {std::pair(true, true), std::pair(true, false),
                            std::pair(false, true)}) {
    std::vector<double> expected = plain;
    for (size_t i = 0; i < expected.size(); ++i) {
      expected[i] += adds ? residual.values[i] : 0;
      expected[i] = relu ? std::max(expected[i], 0.0) : expected[i];
    }
    Launch launch = forward(x, scale, bias, adds ? &residual : nullptr, relu);
    expectRounded(launch.run()[0], expected, 1e-5);
    if (adds) {
      expectRounded(launch.inPlace(5, 0).run()[0], expected, 1e-5);
    }
  }
}

// A ReLU keeps a NaN, and neither zero has a sign behind it.
TEST_P(BatchNormTest, ReluOfNotANumber) {
  Tensor x = randomTensor(type(), 1), residual = randomTensor(type(), 4),
         zero = tensor(vector(), std::vector<double>(channels()));
  residual.values[1] = std::nan("");
  residual.values[2] = -0.0;
  Tensor y = forward(x, zero, zero, &residual, true).run()[0];
  EXPECT_TRUE(std::isnan(y.values[1]));
  EXPECT_FALSE(std::signbit(y.values[2]));
}

// The backward op has no output to read and still takes for zero exactly the
// elements that the forward op did: half of the elements are neighbouring
// numbers around the kink of their channel, and channel 0 lies on it
// throughout.
TEST_P(BatchNormTest, ReluBackward) {
  Tensor x = randomTensor(type(), 1), dy = randomTensor(type(), 2, 0.5, 1.5),
         scale = randomTensor(vector(), 3, 0.5, 2),
         bias = tensor(vector(), std::vector<double>(channels()));
  constexpr double kKink = 0x1.66p-1;
  double step = element() == ElementType::BF16 ? 0x1p-8 : 0x1p-24;
  for (size_t i = 0; i < x.values.size(); i += 2) {
    x.values[i] = kKink + static_cast<double>(i % 64 / 2) * step;
  }
  auto [mean, variance] = statistics(x.values);
  for (int64_t c = 1; c < channels(); ++c) {
    double above = kKink + 16 * step - mean[c];
    bias.values[c] = static_cast<float>(-above * scale.values[c] /
                                        std::sqrt(variance[c] + kEpsilon));
  }
  scale.values[0] = 0;
  std::vector<Tensor> made = forward(x, scale, bias, nullptr, true).run();
  std::vector<double> masked = dy.values;
  int64_t kept = 0, dropped = 0;
  for (size_t i = 0; i < masked.size(); ++i) {
    bool passes = made[0].values[i] > 0;
    masked[i] = passes ? masked[i] : 0;
    (passes ? kept : dropped) += i % 2 == 0 && channelOf(i) != 0;
  }
  EXPECT_GT(kept, 0);
  EXPECT_GT(dropped, 0);
  auto [dx, dscale, dbias] = differentiate(x.values, masked, scale.values,
                                           made[1].values, made[2].values);
  for (int inPlace : {-1, 0, 1}) {
    Launch launch("batch_norm_backward");
    launch.number("epsilon", kEpsilon).ints("relu", {1});
    launch.read(dy).read(x).read(scale).read(made[1]).read(made[2]).read(bias);
    launch.write(type()).write(vector()).write(vector());
    if (inPlace >= 0) {
      launch.inPlace(static_cast<uint32_t>(inPlace), 0);
    }
    std::vector<Tensor> results = launch.run();
    expectRounded(results[0], dx, 1e-5);
    expectClose(results[1], dscale, 1e-5);
    expectClose(results[2], dbias, 1e-5);
  }
}

// With a residual the output tells where the ReLU let through, and the masked
// gradient is a result.
TEST_P(BatchNormTest, ReluBackwardFromOutput) {
  Tensor x = randomTensor(type(), 1), dy = randomTensor(type(), 2),
         scale = randomTensor(vector(), 3), y = randomTensor(type(), 4),
         addend = randomTensor(type(), 5);
  for (size_t i = 0; i < y.values.size(); ++i) {
    y.values[i] = i % 3 == 0 ? 0 : y.values[i];
  }
  auto [mean, variance] = statistics(x.values);
  std::vector<double> inverse;
  for (int64_t c = 0; c < channels(); ++c) {
    mean[c] = static_cast<float>(mean[c]);
    inverse.push_back(
        static_cast<float>(1 / std::sqrt(variance[c] + kEpsilon)));
  }
  for (bool adds : {false, true}) {
    std::vector<double> masked = dy.values;
    for (size_t i = 0; i < masked.size(); ++i) {
      masked[i] += adds ? addend.values[i] : 0;
      masked[i] = y.values[i] > 0 ? masked[i] : 0;
    }
    // Rounded as it is stored; the other results are those of what is stored.
    masked = rounded(element(), masked);
    auto [dx, dscale, dbias] =
        differentiate(x.values, masked, scale.values, mean, inverse);
    for (int inPlace = 0; inPlace < (adds ? 4 : 3); ++inPlace) {
      Launch launch("batch_norm_backward");
      launch.number("epsilon", kEpsilon).ints("relu", {1});
      launch.read(dy).read(x).read(scale).read(tensor(vector(), mean));
      launch.read(tensor(vector(), inverse)).read(y);
      if (adds) {
        launch.read(addend);
      }
      launch.write(type()).write(vector()).write(vector()).write(type());
      if (inPlace == 1) {
        launch.inPlace(1, 0);
      } else if (inPlace > 1) {
        launch.inPlace(1, 0).inPlace(inPlace == 2 ? 0 : 6, 3);
      }
      std::vector<Tensor> results = launch.run();
      expectRounded(results[0], dx, 1e-5);
      expectClose(results[1], dscale, 1e-5);
      expectClose(results[2], dbias, 1e-5);
      expectRounded(results[3], masked, 1e-6);
    }
  }
}

// With a ReLU the bias is an operand, without one it is none.
TEST(BatchNormBackward, BiasComesWithRelu) {
  schedule::TypeT x = activation({2, 3, 4, 4}), vector = makeType({3});
  for (bool relu : {false, true}) {
    for (bool bias : {false, true}) {
      Launch launch("batch_norm_backward");
      launch.number("epsilon", kEpsilon).ints("relu", {relu});
      launch.read(randomTensor(x, 1)).read(randomTensor(x, 2));
      for (int i = 0; i < (bias ? 4 : 3); ++i) {
        launch.read(randomTensor(vector, 3));
      }
      launch.write(x).write(vector).write(vector);
      EXPECT_EQ(launch.prepare().ok(), relu == bias);
    }
  }
}

// With a fourth result the output is an operand, and an addend may be.
TEST(BatchNormBackward, OutputComesWithTheMaskedGradient) {
  schedule::TypeT x = activation({2, 3, 4, 4}), vector = makeType({3});
  struct Case {
    bool relu;
    std::vector<schedule::TypeT> more; ///< operands behind the five of all
    schedule::TypeT masked;
    bool right;
  };
  for (const Case &c :
       {Case{true, {x}, x, true}, Case{true, {x, x}, x, true},
        Case{false, {x}, x, false}, Case{true, {}, x, false},
        Case{true, {vector}, x, false}, Case{true, {x, vector}, x, false},
        Case{true, {x, x, x}, x, false}, Case{true, {x, x}, vector, false}}) {
    Launch launch("batch_norm_backward");
    launch.number("epsilon", kEpsilon).ints("relu", {c.relu});
    launch.read(randomTensor(x, 1)).read(randomTensor(x, 2));
    for (int i = 0; i < 3; ++i) {
      launch.read(randomTensor(vector, 3));
    }
    for (const schedule::TypeT &type : c.more) {
      launch.read(randomTensor(type, 4));
    }
    launch.write(x).write(vector).write(vector).write(c.masked);
    EXPECT_EQ(launch.prepare().ok(), c.right);
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

// Sums of bf16 tensors pass from f32 to double precision after some rows of a
// thread; here every thread has more.
TEST(BatchNorm, LongSumsOfBf16) {
  if (!backend().bf16) {
    GTEST_SKIP() << "the backend's batch norms take f32 alone";
  }
  constexpr int64_t kChannels = 8, kRows = 1500 * 1500;
  schedule::TypeT type =
                      activation({1, kChannels, 1500, 1500}, ElementType::BF16),
                  vector = makeType({kChannels});
  Tensor x = randomTensor(type, 1, 9, 11), dy = randomTensor(type, 2, -1, 3),
         ones = tensor(vector, std::vector<double>(kChannels, 1));
  std::vector<double> mean(kChannels), variance(kChannels), inverse, dbias(8),
      dscale(8);
  auto channelOf = [](size_t i) { return i / kRows; };
  for (size_t i = 0; i < x.values.size(); ++i) {
    mean[channelOf(i)] += x.values[i] / kRows;
    dbias[channelOf(i)] += dy.values[i];
  }
  for (size_t i = 0; i < x.values.size(); ++i) {
    double d = x.values[i] - mean[channelOf(i)];
    variance[channelOf(i)] += d * d / kRows;
    dscale[channelOf(i)] += dy.values[i] * d;
  }
  for (int64_t c = 0; c < kChannels; ++c) {
    inverse.push_back(1 / std::sqrt(variance[c] + kEpsilon));
    dscale[c] *= inverse[c];
  }
  Launch forward("batch_norm");
  forward.number("epsilon", kEpsilon).number("momentum", kMomentum);
  forward.read(x).read(ones).read(ones).read(ones).read(ones).write(type);
  forward.write(vector).write(vector).write(vector).write(vector);
  std::vector<Tensor> made = forward.run();
  expectClose(made[1], mean, 1e-6);
  expectClose(made[2], inverse, 1e-5);
  Launch backward("batch_norm_backward");
  backward.number("epsilon", kEpsilon).read(dy).read(x).read(ones);
  backward.read(made[1]).read(made[2]);
  backward.write(type).write(vector).write(vector);
  std::vector<Tensor> gradients = backward.run();
  expectClose(gradients[1], dscale, 1e-4);
  expectClose(gradients[2], dbias, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, BatchNormTest,
    testing::Combine(testing::Values(Shape{2, 3, 4, 5}, Shape{4, 64, 9, 9},
                                     Shape{2, 37, 30, 20}, Shape{8, 10},
                                     Shape{3, 16, 7}, Shape{2, 5, 2, 3, 4},
                                     Shape{3, 12, 40, 41}, Shape{2, 7, 33, 35},
                                     Shape{2, 24, 90, 91}),
                     testing::ValuesIn(activationElements())),
    [](const auto &info) {
      return std::to_string(info.index) + "_" + nameOf(std::get<1>(info.param));
    });

} // namespace vdnn::rt::conformance
