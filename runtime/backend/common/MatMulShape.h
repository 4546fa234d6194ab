//===- MatMulShape.h - a matrix product's geometry ------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_COMMON_MATMULSHAPE_H
#define VDNN_RUNTIME_BACKEND_COMMON_MATMULSHAPE_H

#include "runtime/backend/common/Checks.h"

namespace vdnn::rt::backend {

/// y (batch, m, n) = a (batch, m, k) x b (batch, k, n) + bias (n), where a and
/// b lie transposed in memory if so said. All row major.
struct MatMulShape {
  int64_t batch, m, n, k;
  bool transposeA, transposeB, hasBias;

  /// Reads attributes `transpose_a` and `transpose_b`; checks operands `a`, `b`
  /// and, where there is one, `bias`, and result `y`.
  static Result<MatMulShape> parse(const schedule::KernelT &kernel,
                                   const LaunchTypes &types);
};

} // namespace vdnn::rt::backend

#endif
