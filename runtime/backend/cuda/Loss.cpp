//===- Loss.cpp - softmax cross-entropy and its gradient ------------------===//

#include "runtime/backend/cuda/kernels/Loss.h"
#include "runtime/backend/common/LossShape.h"
#include "runtime/backend/cuda/Factories.h"

namespace vdnn::rt::cuda {

/// For the kernels, which know nothing of schedules.
static LossShape toKernel(const backend::LossShape &shape) {
  LossReduction reduction = LossReduction::None;
  if (shape.reduction != backend::LossReduction::None) {
    reduction = shape.reduction == backend::LossReduction::Mean
                    ? LossReduction::Mean
                    : LossReduction::Sum;
  }
  return {shape.images,
          shape.classes,
          shape.positions,
          shape.classStride,
          shape.positionStride,
          shape.wideLabels,
          reduction,
          shape.ignored.has_value(),
          shape.ignored.value_or(0)};
}

/// Labels are read `first`, weights, where there are any, the next.
static LossLabels labelsOf(const Context &context, const Operands &operands,
                           size_t first) {
  bool weighted = operands.reads.size() > first + 1;
  return {operands.reads[first],
          weighted ? operands.read<float>(first + 1) : nullptr,
          context.badLabel, operands.command};
}

Result<Kernel> createSoftmaxCrossEntropy(const Request &request) {
  auto parsed = backend::LossShape::parse(request.kernel, request.types);
  VDNN_TRY(parsed.status());
  LossShape shape = toKernel(*parsed);
  Kernel kernel;
  kernel.workspaceBytes = lossWorkspace(shape);
  kernel.inPlace = {{0, 1}};
  kernel.run = [s = shape](Context &context,
                           const Operands &operands) -> Status {
    VDNN_CUDA(launchLoss(s, labelsOf(context, operands, 1),
                         operands.read<float>(0), operands.write<float>(0),
                         operands.write<float>(1), operands.workspace,
                         operands.stream));
    return {};
  };
  return kernel;
}

Result<Kernel> createSoftmaxCrossEntropyBackward(const Request &request) {
  auto parsed =
      backend::LossShape::parseBackward(request.kernel, request.types);
  VDNN_TRY(parsed.status());
  LossShape shape = toKernel(*parsed);
  Kernel kernel;
  kernel.workspaceBytes = lossWorkspace(shape);
  kernel.inPlace = {{1, 0}};
  kernel.run = [s = shape](Context &context,
                           const Operands &operands) -> Status {
    VDNN_CUDA(launchLossBackward(
        s, labelsOf(context, operands, 2), operands.read<float>(0),
        operands.read<float>(1), operands.write<float>(0), operands.workspace,
        operands.stream));
    return {};
  };
  return kernel;
}

} // namespace vdnn::rt::cuda
