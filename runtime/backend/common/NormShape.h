//===- NormShape.h - a batch normalisation's geometry ---------------------===//

#ifndef VDNN_RUNTIME_BACKEND_COMMON_NORMSHAPE_H
#define VDNN_RUNTIME_BACKEND_COMMON_NORMSHAPE_H

#include "runtime/backend/common/Checks.h"

namespace vdnn::rt::backend {

/// A tensor that lies channels last, as a matrix.
struct Rows {
  int64_t rows, channels;

  /// Checks result 0 and the other reads and writes that are activations, all
  /// of one type in f32 or bf16, and what is left, vectors of the channels in
  /// f32.
  static Result<Rows> parse(const LaunchTypes &types,
                            const std::vector<size_t> &activationReads,
                            const std::vector<size_t> &activationWrites = {});
};

/// Which operands of `batch_norm_backward` come after dy, x, scale, mean and
/// inv_std; 0: there is none. Result 3 is the masked dy, where `y` is read.
struct NormBackwardForm {
  size_t bias = 0, y = 0, addend = 0;

  static Result<NormBackwardForm> parse(const schedule::KernelT &kernel,
                                        const LaunchTypes &types);
  /// Checks the types.
  Result<Rows> rows(const LaunchTypes &types) const;
  /// The pairs (read, write) that may lie in one range: whoever writes the
  /// masked dy has read what it is made of, and reads that no more.
  std::vector<schedule::InPlace> inPlace() const;
};

} // namespace vdnn::rt::backend

#endif
