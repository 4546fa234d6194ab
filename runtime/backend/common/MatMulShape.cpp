//===- MatMulShape.cpp ----------------------------------------------------===//

#include "runtime/backend/common/MatMulShape.h"

namespace vdnn::rt::backend {

using schedule::Layout;
using schedule::TypeT;

Result<MatMulShape> MatMulShape::parse(const schedule::KernelT &kernel,
                                       const LaunchTypes &types) {
  VDNN_TRY(expectArity(types, {2, 3, 1, 1}));
  const TypeT &a = *types.reads[0], &b = *types.reads[1], &y = *types.writes[0];
  size_t rank = a.shape.size();
  if (rank < 2 || b.shape.size() != rank) {
    return Error{"expected 'a' and 'b' of one rank, at least 2, found shapes " +
                 toString(a.shape) + " and " + toString(b.shape)};
  }
  VDNN_TRY(expectLayout(a, Layout::RowMajor, "a"));
  VDNN_TRY(expectLayout(b, Layout::RowMajor, "b"));
  VDNN_TRY(expectLayout(y, Layout::RowMajor, "y"));
  MatMulShape s{};
  s.transposeA = schedule::getInt(kernel, "transpose_a") != 0;
  s.transposeB = schedule::getInt(kernel, "transpose_b") != 0;
  s.m = a.shape[rank - (s.transposeA ? 1 : 2)];
  s.k = a.shape[rank - (s.transposeA ? 2 : 1)];
  s.n = b.shape[rank - (s.transposeB ? 2 : 1)];
  std::vector<int64_t> batchShape(a.shape.begin(), a.shape.end() - 2);
  std::vector<int64_t> expectedB = batchShape, expectedY = batchShape;
  expectedB.insert(expectedB.end(),
                   {s.transposeB ? s.n : s.k, s.transposeB ? s.k : s.n});
  expectedY.insert(expectedY.end(), {s.m, s.n});
  VDNN_TRY(expectShape(b, expectedB, "b"));
  VDNN_TRY(expectShape(y, expectedY, "y"));
  s.hasBias = types.reads.size() == 3;
  if (s.hasBias) {
    VDNN_TRY(expectShape(*types.reads[2], {s.n}, "bias"));
  }
  s.batch = countElements(batchShape);
  return s;
}

} // namespace vdnn::rt::backend
