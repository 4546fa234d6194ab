//===- ConvTest.cpp - convolutions against plain loops --------------------===//

#include "Harness.h"

#include <algorithm>
#include <array>
#include <set>

namespace vdnn::rt::conformance {

namespace {

struct Case {
  const char *name;
  Shape x; ///< N, C, spatial...
  int64_t outputs;
  std::vector<int64_t> kernel, strides, dilations, pads;
  int64_t group = 1;

  size_t spatial() const { return kernel.size(); }
  Shape wShape() const {
    Shape shape = {outputs, x[1] / group};
    shape.insert(shape.end(), kernel.begin(), kernel.end());
    return shape;
  }
  Shape yShape() const {
    Shape shape = {x[0], outputs};
    for (size_t i = 0; i < spatial(); ++i) {
      int64_t padded = x[i + 2] + pads[i] + pads[spatial() + i];
      shape.push_back(
          (padded - (kernel[i] - 1) * dilations[i] - 1) / strides[i] + 1);
    }
    return shape;
  }
};

/// Calls `visit(y element, x element, w element)` for every product of the
/// convolution.
template <typename Visit>
void forProducts(const Case &c, const Visit &visit) {
  std::array<int64_t, 3> in = {1, 1, 1}, out = in, kernel = in, stride = in,
                         dilation = in, pad = {0, 0, 0};
  size_t skip = 3 - c.spatial();
  Shape y = c.yShape();
  for (size_t i = 0; i < c.spatial(); ++i) {
    in[skip + i] = c.x[i + 2];
    out[skip + i] = y[i + 2];
    kernel[skip + i] = c.kernel[i];
    stride[skip + i] = c.strides[i];
    dilation[skip + i] = c.dilations[i];
    pad[skip + i] = c.pads[i];
  }
  int64_t groupIn = c.x[1] / c.group, groupOut = c.outputs / c.group;
  int64_t inSize = in[0] * in[1] * in[2], outSize = out[0] * out[1] * out[2],
          taps = kernel[0] * kernel[1] * kernel[2];
  for (int64_t n = 0; n < c.x[0]; ++n) {
    for (int64_t o = 0; o < c.outputs; ++o) {
      for (int64_t p = 0; p < outSize; ++p) {
        std::array<int64_t, 3> at = {p / (out[1] * out[2]), p / out[2] % out[1],
                                     p % out[2]};
        for (int64_t t = 0; t < taps; ++t) {
          std::array<int64_t, 3> tap = {t / (kernel[1] * kernel[2]),
                                        t / kernel[2] % kernel[1],
                                        t % kernel[2]};
          int64_t pixel = 0;
          bool inside = true;
          for (size_t d = 0; d < 3; ++d) {
            int64_t position =
                at[d] * stride[d] - pad[d] + tap[d] * dilation[d];
            inside = inside && position >= 0 && position < in[d];
            pixel = pixel * in[d] + position;
          }
          for (int64_t i = 0; inside && i < groupIn; ++i) {
            int64_t channel = o / groupOut * groupIn + i;
            visit((n * c.outputs + o) * outSize + p,
                  (n * c.x[1] + channel) * inSize + pixel,
                  (o * groupIn + i) * taps + t);
          }
        }
      }
    }
  }
}

Launch makeLaunch(const char *kind, const Case &c) {
  Launch launch(kind);
  launch.ints("strides", c.strides)
      .ints("dilations", c.dilations)
      .ints("pads", c.pads)
      .ints("group", {c.group});
  return launch;
}

/// The first algorithm of each engine with the same work of our own behind a
/// "+": what follows a comma is its tiling. Tensor cores have dozens, and some
/// are compiled when they are prepared.
std::vector<std::string> enginesOf(const std::vector<std::string> &algorithms) {
  std::set<std::string> known;
  std::vector<std::string> first;
  for (const std::string &algorithm : algorithms) {
    size_t own = std::min(algorithm.find('+'), algorithm.size());
    if (known
            .insert(algorithm.substr(0, algorithm.find_first_of(",+")) +
                    algorithm.substr(own))
            .second) {
      first.push_back(algorithm);
    }
  }
  return first;
}

/// Runs every algorithm that the backend offers, nondeterministic ones too, on
/// bf16 every engine. All add products in f32, tensor cores with some digits
/// less.
void checkAll(Launch launch, const std::vector<std::vector<double>> &expected,
              ElementType element) {
  bool isBf16 = element == ElementType::BF16;
  std::vector<std::string> algorithms = launch.nondeterministic().algorithms();
  ASSERT_FALSE(algorithms.empty());
  for (const std::string &algorithm :
       isBf16 ? enginesOf(algorithms) : algorithms) {
    SCOPED_TRACE("algorithm '" + algorithm + "'");
    std::vector<Tensor> results = launch.algorithm(algorithm).run();
    for (size_t i = 0; i < expected.size(); ++i) {
      expectRounded(results[i], expected[i], isBf16 ? 1e-4 : 1e-5);
    }
  }
}

class ConvTest : public testing::TestWithParam<std::tuple<Case, ElementType>> {
};

} // namespace

TEST_P(ConvTest, Forward) {
  auto [c, element] = GetParam();
  for (auto [withBias, relu] : {std::pair(false, false), std::pair(true, false),
                                std::pair(true, true)}) {
    Tensor x = randomTensor(activation(c.x, element), 1),
           w = randomTensor(activation(c.wShape(), element), 2);
    // Of few digits: a backend may round it to the tensors' type.
    Tensor bias =
        tensor(makeType({c.outputs}),
               randomTensor(makeType({c.outputs}, Layout::RowMajor, element), 3)
                   .values);
    std::vector<double> y(count(c.yShape()));
    int64_t pixels = static_cast<int64_t>(y.size()) / (c.x[0] * c.outputs);
    for (size_t i = 0; withBias && i < y.size(); ++i) {
      y[i] = bias.values[static_cast<int64_t>(i) / pixels % c.outputs];
    }
    forProducts(c, [&](int64_t yi, int64_t xi, int64_t wi) {
      y[yi] += x.values[xi] * w.values[wi];
    });
    for (double &value : y) {
      value = relu ? std::max(value, 0.0) : value;
    }
    Launch launch = makeLaunch("conv", c);
    launch.read(x).read(w).write(activation(c.yShape(), element));
    if (withBias) {
      launch.read(bias);
    }
    if (relu) {
      launch.ints("relu", {1});
    }
    checkAll(std::move(launch), {y}, element);
    if (withBias && element == ElementType::BF16) {
      // The bias may also be of bf16.
      bias.type.element = element;
      Launch narrow = makeLaunch("conv", c);
      narrow.ints("relu", {relu}).read(x).read(w).read(bias);
      narrow.write(activation(c.yShape(), element));
      expectRounded(narrow.run()[0], y, 1e-4);
    }
  }
}

TEST_P(ConvTest, BackwardData) {
  auto [c, element] = GetParam();
  Tensor dy = randomTensor(activation(c.yShape(), element), 4),
         w = randomTensor(activation(c.wShape(), element), 5);
  std::vector<double> dx(count(c.x));
  forProducts(c, [&](int64_t yi, int64_t xi, int64_t wi) {
    dx[xi] += dy.values[yi] * w.values[wi];
  });
  Launch launch = makeLaunch("conv_backward_data", c);
  launch.read(dy).read(w).write(activation(c.x, element));
  checkAll(std::move(launch), {dx}, element);
}

TEST_P(ConvTest, BackwardFilter) {
  auto [c, element] = GetParam();
  Tensor x = randomTensor(activation(c.x, element), 6),
         dy = randomTensor(activation(c.yShape(), element), 7);
  std::vector<double> dw(count(c.wShape())), dbias(c.outputs);
  forProducts(c, [&](int64_t yi, int64_t xi, int64_t wi) {
    dw[wi] += dy.values[yi] * x.values[xi];
  });
  int64_t pixels = count(c.yShape()) / (c.x[0] * c.outputs);
  for (size_t i = 0; i < dy.values.size(); ++i) {
    dbias[static_cast<int64_t>(i) / pixels % c.outputs] += dy.values[i];
  }
  Launch plain = makeLaunch("conv_backward_filter", c),
         withBias = makeLaunch("conv_backward_filter", c);
  plain.read(x).read(dy).write(activation(c.wShape(), element));
  withBias.read(x)
      .read(dy)
      .write(activation(c.wShape(), element))
      .write(makeType({c.outputs}));
  checkAll(std::move(plain), {dw}, element);
  checkAll(std::move(withBias), {dw, dbias}, element);
  if (element == ElementType::BF16) {
    Launch narrow = makeLaunch("conv_backward_filter", c);
    narrow.read(x).read(dy).write(activation(c.wShape(), element));
    narrow.write(makeType({c.outputs}, Layout::RowMajor, element));
    expectRounded(narrow.run()[1], dbias);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ConvTest,
    testing::Combine(
        testing::Values(
            Case{"plain3x3",
                 {2, 16, 9, 9},
                 32,
                 {3, 3},
                 {1, 1},
                 {1, 1},
                 {1, 1, 1, 1}},
            Case{"pointwise",
                 {2, 32, 7, 7},
                 48,
                 {1, 1},
                 {1, 1},
                 {1, 1},
                 {0, 0, 0, 0}},
            Case{"stridedPointwise",
                 {2, 16, 8, 8},
                 32,
                 {1, 1},
                 {2, 2},
                 {1, 1},
                 {0, 0, 0, 0}},
            Case{"firstLayer",
                 {2, 3, 31, 31},
                 16,
                 {7, 7},
                 {2, 2},
                 {1, 1},
                 {3, 3, 3, 3}},
            Case{"odd", {3, 5, 10, 7}, 7, {3, 2}, {2, 1}, {1, 1}, {0, 1, 2, 0}},
            Case{"dilated",
                 {1, 16, 12, 12},
                 16,
                 {3, 3},
                 {1, 1},
                 {2, 3},
                 {2, 3, 2, 3}},
            Case{"grouped",
                 {2, 32, 6, 6},
                 32,
                 {3, 3},
                 {1, 1},
                 {1, 1},
                 {1, 1, 1, 1},
                 4},
            Case{"oddGroups",
                 {2, 9, 6, 6},
                 6,
                 {3, 3},
                 {1, 1},
                 {1, 1},
                 {1, 1, 1, 1},
                 3},
            Case{"depthwise",
                 {2, 24, 8, 8},
                 24,
                 {3, 3},
                 {2, 2},
                 {1, 1},
                 {1, 1, 1, 1},
                 24},
            Case{"line", {2, 8, 20}, 12, {5}, {2}, {1}, {2, 2}},
            Case{"volume",
                 {1, 4, 5, 6, 7},
                 8,
                 {3, 3, 3},
                 {1, 2, 1},
                 {1, 1, 1},
                 {1, 1, 1, 1, 1, 1}},
            Case{"whole",
                 {2, 16, 4, 4},
                 10,
                 {4, 4},
                 {1, 1},
                 {1, 1},
                 {0, 0, 0, 0}},
            Case{"onePixel",
                 {4, 20, 1, 1},
                 30,
                 {1, 1},
                 {1, 1},
                 {1, 1},
                 {0, 0, 0, 0}},
            Case{"oneChannel",
                 {2, 1, 8, 8},
                 1,
                 {3, 3},
                 {1, 1},
                 {1, 1},
                 {1, 1, 1, 1}}),
        testing::ValuesIn(activationElements())),
    [](const auto &info) {
      return std::string(std::get<0>(info.param).name) + "_" +
             nameOf(std::get<1>(info.param));
    });

} // namespace vdnn::rt::conformance
