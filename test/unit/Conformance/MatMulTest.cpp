//===- MatMulTest.cpp - matrix products against plain loops ---------------===//

#include "Harness.h"

namespace vdnn::rt::conformance {

namespace {

struct Case {
  Shape batch;
  int64_t m, k, n;
};

/// Of the operands, and of the bias and the result.
using Elements = std::pair<ElementType, ElementType>;

class MatMulTest : public testing::TestWithParam<
                       std::tuple<Case, bool, bool, bool, Elements>> {};

} // namespace

TEST_P(MatMulTest, Forward) {
  auto [c, transposeA, transposeB, withBias, elements] = GetParam();
  auto [input, output] = elements;
  auto shapeOf = [&, c = c](int64_t rows, int64_t columns, bool transposed) {
    Shape shape = c.batch;
    shape.insert(shape.end(),
                 {transposed ? columns : rows, transposed ? rows : columns});
    return shape;
  };
  Tensor a = randomTensor(
      makeType(shapeOf(c.m, c.k, transposeA), Layout::RowMajor, input), 1);
  Tensor b = randomTensor(
             makeType(shapeOf(c.k, c.n, transposeB), Layout::RowMajor, input),
             2),
         bias = randomTensor(makeType({c.n}, Layout::RowMajor, output), 3);
  Shape yShape = shapeOf(c.m, c.n, false);
  std::vector<double> y(count(yShape));
  for (int64_t g = 0; g < count(c.batch); ++g) {
    for (int64_t i = 0; i < c.m; ++i) {
      for (int64_t j = 0; j < c.n; ++j) {
        double sum = withBias ? bias.values[j] : 0;
        for (int64_t l = 0; l < c.k; ++l) {
          sum += a.values[g * c.m * c.k +
                          (transposeA ? l * c.m + i : i * c.k + l)] *
                 b.values[g * c.k * c.n +
                          (transposeB ? j * c.k + l : l * c.n + j)];
        }
        y[(g * c.m + i) * c.n + j] = sum;
      }
    }
  }
  Launch launch("matmul");
  launch.read(a).read(b).write(makeType(yShape, Layout::RowMajor, output));
  if (withBias) {
    launch.read(bias);
  }
  if (transposeA) {
    launch.ints("transpose_a", {1});
  }
  if (transposeB) {
    launch.ints("transpose_b", {1});
  }
  expectRounded(launch.run()[0], y);
}

/// Few results of long sums, which code splits: also where it adds the parts to
/// the result as they are ready.
TEST(MatMul, EveryAlgorithmOfALongSum) {
  constexpr int64_t kSide = 16, kSum = 4096;
  for (ElementType element : activationElements()) {
    Tensor a = randomTensor(makeType({kSide, kSum}, Layout::RowMajor, element),
                            1),
           b = randomTensor(makeType({kSum, kSide}, Layout::RowMajor, element),
                            2);
    std::vector<double> y(kSide * kSide);
    for (int64_t i = 0; i < kSide; ++i) {
      for (int64_t j = 0; j < kSide; ++j) {
        for (int64_t l = 0; l < kSum; ++l) {
          y[i * kSide + j] += a.values[i * kSum + l] * b.values[l * kSide + j];
        }
      }
    }
    Launch launch("matmul");
    launch.nondeterministic().read(a).read(b).write(makeType({kSide, kSide}));
    for (const std::string &algorithm : launch.algorithms()) {
      SCOPED_TRACE("algorithm '" + algorithm + "'");
      if (Status status = launch.algorithm(algorithm).prepare();
          !status && status.message().find("has no code that adds in place") !=
                         std::string::npos) {
        continue;
      }
      expectClose(launch.run()[0], y);
    }
  }
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
    Shapes, MatMulTest,
    testing::Combine(testing::Values(Case{{}, 5, 7, 3}, Case{{}, 32, 64, 48},
                                     Case{{}, 1, 33, 10}, Case{{3}, 4, 5, 6},
                                     Case{{2, 3}, 8, 1, 9}, Case{{1}, 6, 4, 1}),
                     testing::Bool(), testing::Bool(), testing::Bool(),
                     testing::ValuesIn(elements())));

} // namespace vdnn::rt::conformance
