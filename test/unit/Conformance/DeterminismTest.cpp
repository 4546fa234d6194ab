//===- DeterminismTest.cpp - the same bits at every address ---------------===//

#include "Harness.h"

namespace vdnn::rt::conformance {

/// Runs the launch at several offsets of the arena, twice each.
static void expectSameBits(Launch &launch) {
  std::vector<std::vector<std::byte>> expected = launch.runForBytes();
  for (uint64_t shift : {0, 1, 3, 16, 63}) {
    EXPECT_TRUE(launch.shift(shift).runForBytes() == expected)
        << "shifted by " << shift;
  }
  launch.shift(0);
}

static Launch convLaunch(const char *kind) {
  Launch launch(kind);
  launch.ints("strides", {1, 1})
      .ints("dilations", {1, 1})
      .ints("pads", {1, 1, 1, 1})
      .ints("group", {1});
  return launch;
}

static const Shape kX = {4, 24, 14, 14}, kW = {40, 24, 3, 3},
                   kY = {4, 40, 14, 14};

TEST(DeterminismTest, Convolutions) {
  Tensor x = randomTensor(activation(kX), 1),
         w = randomTensor(activation(kW), 2),
         dy = randomTensor(activation(kY), 3);
  Launch forward = convLaunch("conv"), data = convLaunch("conv_backward_data"),
         filter = convLaunch("conv_backward_filter");
  forward.read(x)
      .read(w)
      .read(randomTensor(makeType({40}), 4))
      .write(activation(kY));
  data.read(dy).read(w).write(activation(kX));
  filter.read(x).read(dy).write(activation(kW)).write(makeType({40}));
  for (Launch *launch : {&forward, &data, &filter}) {
    for (const std::string &algorithm : launch->algorithms()) {
      expectSameBits(launch->algorithm(algorithm));
    }
  }
}

TEST(DeterminismTest, MatMul) {
  Launch launch("matmul");
  launch.read(randomTensor(makeType({33, 257}), 1))
      .read(randomTensor(makeType({257, 65}), 2))
      .write(makeType({33, 65}));
  expectSameBits(launch);
}

TEST(DeterminismTest, BatchNorm) {
  schedule::TypeT vector = makeType({24});
  Launch forward("batch_norm"), backward("batch_norm_backward");
  forward.number("epsilon", 1e-5)
      .number("momentum", 0.9)
      .read(randomTensor(activation(kX), 1));
  forward.read(randomTensor(vector, 2))
      .read(randomTensor(vector, 3))
      .read(randomTensor(vector, 4));
  forward.read(randomTensor(vector, 5))
      .write(activation(kX))
      .write(vector)
      .write(vector)
      .write(vector)
      .write(vector);
  backward.number("epsilon", 1e-5)
      .read(randomTensor(activation(kX), 1))
      .read(randomTensor(activation(kX), 2));
  backward.read(randomTensor(vector, 3))
      .read(randomTensor(vector, 4))
      .read(randomTensor(vector, 5));
  backward.write(activation(kX)).write(vector).write(vector);
  expectSameBits(forward);
  expectSameBits(backward);
}

TEST(DeterminismTest, ReductionsAndSoftmax) {
  for (std::vector<int64_t> axes :
       {std::vector<int64_t>{0, 2, 3}, std::vector<int64_t>{1},
        std::vector<int64_t>{0, 1, 2, 3}}) {
    Shape yShape = kX;
    for (int64_t axis : axes) {
      yShape[axis] = 1;
    }
    Launch launch("reduce");
    launch.text("kind", "sum")
        .ints("axes", axes)
        .read(randomTensor(activation(kX), 1))
        .write(activation(yShape));
    expectSameBits(launch);
  }
  Launch softmax("softmax");
  softmax.ints("axis", {1})
      .read(randomTensor(makeType({9, 1003}), 1))
      .write(makeType({9, 1003}));
  expectSameBits(softmax);
}

TEST(DeterminismTest, Pools) {
  Launch launch("max_pool_backward");
  launch.ints("kernel", {3, 3})
      .ints("strides", {2, 2})
      .ints("pads", {1, 1, 1, 1})
      .ints("dilations", {1, 1});
  Shape yShape = {4, 24, 7, 7};
  Tensor index = randomTensor(activation(yShape), 2, 0, 9);
  index.type.element = ElementType::I8;
  launch.read(randomTensor(activation(yShape), 1))
      .read(index)
      .write(activation(kX));
  expectSameBits(launch);
}

} // namespace vdnn::rt::conformance
