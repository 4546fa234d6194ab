//===- LossShape.cpp ------------------------------------------------------===//

#include "runtime/backend/common/LossShape.h"

#include <algorithm>

namespace vdnn::rt::backend {

using schedule::ElementType;
using schedule::TypeT;

static Result<LossReduction> readReduction(const schedule::KernelT &kernel) {
  std::string text = schedule::getText(kernel, "reduction", "mean");
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

/// `logits` or what has their type; `loss` or its gradient. Labels are read
/// `first`, weights next.
static Result<LossShape> read(const schedule::KernelT &kernel,
                              const LaunchTypes &types, const TypeT &logits,
                              size_t first, const TypeT &loss) {
  if (logits.shape.size() < 2 || logits.shape[1] < 1) {
    return Error{"expected logits with a batch and classes, found shape " +
                 toString(logits.shape)};
  }
  const TypeT &labels = *types.reads[first];
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
  s.weighted = types.reads.size() > first + 1;
  if (s.weighted) {
    VDNN_TRY(expectShape(*types.reads[first + 1], {s.classes}, "weights"));
  }
  Result<LossReduction> reduction = readReduction(kernel);
  VDNN_TRY(reduction.status());
  s.reduction = *reduction;
  bool each = s.reduction == LossReduction::None;
  VDNN_TRY(expectShape(loss, each ? expected : std::vector<int64_t>{}, "loss"));
  if (each) {
    VDNN_TRY(expectLayout(loss, schedule::Layout::RowMajor, "loss"));
  }
  if (schedule::findAttribute(kernel, "ignore_index")) {
    s.ignored = schedule::getInt(kernel, "ignore_index");
  }
  return s;
}

Result<LossShape> LossShape::parse(const schedule::KernelT &kernel,
                                   const LaunchTypes &types) {
  VDNN_TRY(expectArity(types, {2, 3, 2, 2}));
  VDNN_TRY(expectAllF32(types, {1}));
  const TypeT &logits = *types.reads[0];
  VDNN_TRY(expectSameType(*types.writes[1], logits, "log_prob"));
  return read(kernel, types, logits, 1, *types.writes[0]);
}

Result<LossShape> LossShape::parseBackward(const schedule::KernelT &kernel,
                                           const LaunchTypes &types) {
  VDNN_TRY(expectArity(types, {3, 4, 1, 1}));
  VDNN_TRY(expectAllF32(types, {2}));
  const TypeT &logProb = *types.reads[1];
  VDNN_TRY(expectSameType(*types.writes[0], logProb, "dlogits"));
  return read(kernel, types, logProb, 2, *types.reads[0]);
}

} // namespace vdnn::rt::backend
