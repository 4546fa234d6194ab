//===- NormShape.h - a batch normalisation's geometry ---------------------===//

#ifndef VDNN_RUNTIME_BACKEND_COMMON_NORMSHAPE_H
#define VDNN_RUNTIME_BACKEND_COMMON_NORMSHAPE_H

#include "runtime/backend/common/Checks.h"

namespace vdnn::rt::backend {

/// A tensor that lies channels last, as a matrix.
struct Rows {
  int64_t rows, channels;

  /// Checks result 0 and the reads that `activations` lists, all of one type in
  /// f32 or bf16, and all others, which are vectors of the channels in f32.
  static Result<Rows> parse(const LaunchTypes &types,
                            std::initializer_list<size_t> activations);
};

} // namespace vdnn::rt::backend

#endif
