//===- PoolTest.cpp - pools and their gradients against plain loops -------===//

#include "Harness.h"

#include <limits>

namespace vdnn::rt::conformance {

namespace {

struct Case {
  const char *name;
  Shape x;
  std::vector<int64_t> kernel, strides, pads, dilations;
  /// Windows beyond those that the padding holds (ceil mode).
  int64_t extra = 0;

  size_t spatial() const { return kernel.size(); }
  Shape yShape() const {
    Shape shape = {x[0], x[1]};
    for (size_t i = 0; i < spatial(); ++i) {
      int64_t padded = x[i + 2] + pads[i] + pads[spatial() + i];
      shape.push_back((padded - (kernel[i] - 1) * dilations[i] - 1) /
                          strides[i] +
                      1 + extra);
    }
    return shape;
  }
};

struct Tap {
  int64_t x;        ///< element of x
  int64_t position; ///< in the window
};

class PoolTest : public testing::TestWithParam<std::tuple<Case, ElementType>> {
};

} // namespace

/// For every element of y, the elements of x under its window, and how many
/// positions lie within the padding's bounds.
static std::vector<std::pair<std::vector<Tap>, int64_t>>
windows(const Case &c) {
  Shape yShape = c.yShape();
  int64_t inSize = count(c.x) / (c.x[0] * c.x[1]),
          outSize = count(yShape) / (c.x[0] * c.x[1]), taps = count(c.kernel);
  std::vector<std::pair<std::vector<Tap>, int64_t>> result;
  for (int64_t plane = 0; plane < c.x[0] * c.x[1]; ++plane) {
    for (int64_t p = 0; p < outSize; ++p) {
      std::vector<Tap> inside;
      int64_t padded = 0;
      for (int64_t t = 0; t < taps; ++t) {
        int64_t outRest = p, tapRest = t, pixel = 0, scale = 1;
        bool isInside = true, isPadded = true;
        for (size_t d = c.spatial(); d-- > 0;) {
          int64_t at = outRest % yShape[d + 2] * c.strides[d] - c.pads[d] +
                       tapRest % c.kernel[d] * c.dilations[d];
          outRest /= yShape[d + 2];
          tapRest /= c.kernel[d];
          isInside = isInside && at >= 0 && at < c.x[d + 2];
          isPadded = isPadded && at < c.x[d + 2] + c.pads[c.spatial() + d];
          pixel += at * scale;
          scale *= c.x[d + 2];
        }
        padded += isPadded;
        if (isInside) {
          inside.push_back({plane * inSize + pixel, t});
        }
      }
      result.emplace_back(std::move(inside), padded);
    }
  }
  return result;
}

static Launch makeLaunch(const char *kind, const Case &c, bool dilated) {
  Launch launch(kind);
  launch.ints("kernel", c.kernel)
      .ints("strides", c.strides)
      .ints("pads", c.pads);
  if (dilated) {
    launch.ints("dilations", c.dilations);
  }
  return launch;
}

static schedule::TypeT indexType(const Case &c) {
  schedule::TypeT type = activation(c.yShape());
  type.element = ElementType::I8;
  return type;
}

/// Values that repeat, so that the first maximum matters.
static Tensor coarse(schedule::TypeT type, uint64_t seed) {
  Tensor x = randomTensor(std::move(type), seed, -3, 3);
  for (double &value : x.values) {
    value = std::round(value);
  }
  return x;
}

TEST_P(PoolTest, Max) {
  auto [c, element] = GetParam();
  Tensor x = coarse(activation(c.x, element), 1);
  x.values[x.values.size() / 2] = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> y, index;
  for (const auto &[taps, padded] : windows(c)) {
    const Tap *best = &taps.front();
    for (const Tap &tap : taps) {
      double value = x.values[tap.x], largest = x.values[best->x];
      best = !std::isnan(largest) && (value > largest || std::isnan(value))
                 ? &tap
                 : best;
    }
    y.push_back(x.values[best->x]);
    index.push_back(static_cast<double>(best->position));
  }
  Launch plain = makeLaunch("max_pool", c, true),
         indexed = makeLaunch("max_pool", c, true);
  expectClose(plain.read(x).write(activation(c.yShape(), element)).run()[0], y,
              0);
  std::vector<Tensor> results = indexed.read(x)
                                    .write(activation(c.yShape(), element))
                                    .write(indexType(c))
                                    .run();
  expectClose(results[0], y, 0);
  expectClose(results[1], index, 0);
}

TEST_P(PoolTest, MaxBackward) {
  auto [c, element] = GetParam();
  Tensor x = coarse(activation(c.x, element), 2),
         dy = randomTensor(activation(c.yShape(), element), 3);
  Tensor y{activation(c.yShape(), element), {}}, index{indexType(c), {}};
  std::vector<double> dx(x.values.size());
  for (const auto &[taps, padded] : windows(c)) {
    const Tap *best = &taps.front();
    for (const Tap &tap : taps) {
      best = x.values[tap.x] > x.values[best->x] ? &tap : best;
    }
    dx[best->x] += dy.values[y.values.size()];
    y.values.push_back(x.values[best->x]);
    index.values.push_back(static_cast<double>(best->position));
  }
  Launch fromIndex = makeLaunch("max_pool_backward", c, true),
         fromForward = makeLaunch("max_pool_backward", c, true);
  expectRounded(
      fromIndex.read(dy).read(index).write(activation(c.x, element)).run()[0],
      dx, 1e-6);
  expectRounded(fromForward.read(dy)
                    .read(x)
                    .read(y)
                    .write(activation(c.x, element))
                    .run()[0],
                dx, 1e-6);
}

TEST_P(PoolTest, Average) {
  auto [c, element] = GetParam();
  c.dilations.assign(c.spatial(), 1);
  for (bool includePad : {false, true}) {
    Tensor x = randomTensor(activation(c.x, element), 4),
           dy = randomTensor(activation(c.yShape(), element), 5);
    std::vector<double> y, dx(x.values.size());
    for (const auto &[taps, padded] : windows(c)) {
      double divisor = static_cast<double>(
                 includePad ? padded : static_cast<int64_t>(taps.size())),
             sum = 0;
      for (const Tap &tap : taps) {
        sum += x.values[tap.x];
        dx[tap.x] += dy.values[y.size()] / divisor;
      }
      y.push_back(sum / divisor);
    }
    Launch forward = makeLaunch("avg_pool", c, false),
           backward = makeLaunch("avg_pool_backward", c, false);
    if (includePad) {
      forward.ints("count_include_pad", {1});
      backward.ints("count_include_pad", {1});
    }
    expectRounded(
        forward.read(x).write(activation(c.yShape(), element)).run()[0], y,
        1e-6);
    expectRounded(backward.read(dy).write(activation(c.x, element)).run()[0],
                  dx, 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, PoolTest,
    testing::Combine(
        testing::Values(
            Case{"two", {2, 16, 8, 8}, {2, 2}, {2, 2}, {0, 0, 0, 0}, {1, 1}},
            Case{"overlapping",
                 {2, 20, 13, 11},
                 {3, 3},
                 {2, 2},
                 {1, 1, 1, 1},
                 {1, 1}},
            Case{"twelve",
                 {3, 12, 15, 14},
                 {3, 3},
                 {2, 2},
                 {1, 1, 1, 1},
                 {1, 1}},
            Case{"wide", {1, 300, 6, 6}, {3, 2}, {1, 2}, {1, 0, 0, 1}, {1, 1}},
            Case{"dilated",
                 {2, 5, 12, 12},
                 {3, 3},
                 {2, 1},
                 {1, 1, 1, 1},
                 {2, 2}},
            Case{"whole", {3, 70, 7, 7}, {7, 7}, {1, 1}, {0, 0, 0, 0}, {1, 1}},
            Case{"ceil", {2, 8, 7, 7}, {2, 2}, {2, 2}, {0, 0, 0, 0}, {1, 1}, 1},
            Case{"line", {2, 3, 17}, {4}, {3}, {1, 2}, {1}},
            Case{"volume",
                 {1, 6, 5, 6, 4},
                 {2, 3, 2},
                 {2, 1, 1},
                 {0, 1, 1, 0, 1, 0},
                 {1, 1, 1}}),
        testing::ValuesIn(activationElements())),
    [](const auto &info) {
      return std::string(std::get<0>(info.param).name) + "_" +
             nameOf(std::get<1>(info.param));
    });

} // namespace vdnn::rt::conformance
