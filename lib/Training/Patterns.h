//===- Patterns.h - what forward pointwise ops compute ----------*- C++ -*-===//

#ifndef VDNN_LIB_TRAINING_PATTERNS_H
#define VDNN_LIB_TRAINING_PATTERNS_H

#include "vdnn/Dialect/VDNN.h"

namespace vdnn {

/// Whether `op` is the maximum of its one operand and zero.
bool isRelu(PointwiseOp op);

/// Whether `op` is the sum of its two operands, both of its result's type.
bool isSum(PointwiseOp op);

} // namespace vdnn

#endif
