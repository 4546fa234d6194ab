//===- Loss.cpp - softmax cross-entropy and its gradient ------------------===//

#include "runtime/backend/cuda/kernels/Loss.h"
#include "runtime/backend/cuda/Factories.h"

#include <algorithm>

namespace vdnn::rt::cuda {

using schedule::ElementType;
using schedule::TypeT;

static Result<LossReduction> readReduction(const Request &request) {
  std::string text = schedule::getText(request.kernel, "reduction", "mean");
  if (text == "mean") {
    return LossReduction::Mean;
  }
  if (text == "sum") {
    return LossReduction::Sum;
  }
  if (text == "none") {
    return LossReduction::None;
  }
  return Error{"unknown reduction '" + text +
               "', expected 'mean', 'sum' or 'none'"};
}

/// `loss` is the loss or its gradient. Reads 1 and 2 are labels and weights if
/// `first` is 1.
static Result<LossShape> describe(const Request &request, const TypeT &logits,
                                  size_t first, const TypeT &loss) {
  if (logits.shape.size() < 2 || logits.shape[1] < 1) {
    return Error{"expected logits with a batch and classes, found shape " +
                 toString(logits.shape)};
  }
  const TypeT &labels = *request.types.reads[first];
  std::vector<int64_t> expected = logits.shape;
  expected.erase(expected.begin() + 1);
  VDNN_TRY(expectShape(labels, expected, "labels"));
  if (labels.element != ElementType::I64 &&
      labels.element != ElementType::I32) {
    return Error{std::string("expected labels of 'I64' or 'I32', found '") +
                 schedule::EnumNameElementType(labels.element) + "'"};
  }
  VDNN_TRY(expectLayout(labels, schedule::Layout::RowMajor, "labels"));
  LossShape s{};
  s.images = logits.shape[0];
  s.classes = logits.shape[1];
  s.positions = countElements(expected) / std::max<int64_t>(s.images, 1);
  std::vector<int64_t> strides = memoryStrides(logits);
  s.classStride = strides[1];
  // Without positions the two layouts are one.
  s.positionStride = strides[1] == 1 ? s.classes : 1;
  if (s.positions > 1 && s.classes > 1 && strides.size() > 2) {
    s.positionStride = strides.back();
  }
  s.wideLabels = labels.element == ElementType::I64;
  if (request.types.reads.size() > first + 1) {
    VDNN_TRY(
        expectShape(*request.types.reads[first + 1], {s.classes}, "weights"));
    VDNN_TRY(expectElement(*request.types.reads[first + 1], ElementType::F32,
                           "weights"));
  }
  Result<LossReduction> reduction = readReduction(request);
  VDNN_TRY(reduction.status());
  s.reduction = *reduction;
  VDNN_TRY(expectElement(loss, ElementType::F32, "loss"));
  bool each = s.reduction == LossReduction::None;
  VDNN_TRY(expectShape(loss, each ? expected : std::vector<int64_t>{}, "loss"));
  if (each) {
    VDNN_TRY(expectLayout(loss, schedule::Layout::RowMajor, "loss"));
  }
  s.hasIgnored =
      schedule::findAttribute(request.kernel, "ignore_index") != nullptr;
  s.ignored = schedule::getInt(request.kernel, "ignore_index");
  return s;
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
  VDNN_TRY(expectArity(request, {2, 3, 2, 2}));
  VDNN_TRY(expectAllF32(request, {1}));
  const TypeT &logits = *request.types.reads[0];
  VDNN_TRY(expectSameType(*request.types.writes[1], logits, "log_prob"));
  Result<LossShape> shape =
      describe(request, logits, 1, *request.types.writes[0]);
  VDNN_TRY(shape.status());
  Kernel kernel;
  kernel.workspaceBytes = lossWorkspace(*shape);
  kernel.inPlace = {{0, 1}};
  kernel.run = [s = *shape](Context &context,
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
  VDNN_TRY(expectArity(request, {3, 4, 1, 1}));
  VDNN_TRY(expectAllF32(request, {2}));
  const TypeT &logProb = *request.types.reads[1];
  VDNN_TRY(expectSameType(*request.types.writes[0], logProb, "dlogits"));
  Result<LossShape> shape =
      describe(request, logProb, 2, *request.types.reads[0]);
  VDNN_TRY(shape.status());
  Kernel kernel;
  kernel.workspaceBytes = lossWorkspace(*shape);
  kernel.inPlace = {{1, 0}};
  kernel.run = [s = *shape](Context &context,
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
