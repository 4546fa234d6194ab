//===- ReduceShape.cpp ----------------------------------------------------===//

#include "runtime/backend/common/ReduceShape.h"

#include <utility>

namespace vdnn::rt::backend {

using schedule::ElementType;
using schedule::TypeT;

static Result<ReduceKind> readKind(const schedule::KernelT &kernel) {
  std::string text = schedule::getText(kernel, "kind");
  constexpr std::pair<const char *, ReduceKind> kKinds[] = {
      {"sum", ReduceKind::Sum},   {"mean", ReduceKind::Mean},
      {"max", ReduceKind::Max},   {"min", ReduceKind::Min},
      {"prod", ReduceKind::Prod}, {"sum_square", ReduceKind::SumSquare}};
  for (const auto &[name, kind] : kKinds) {
    if (text == name) {
      return kind;
    }
  }
  return Error{
      "unknown reduction '" + text +
      "', expected 'sum', 'mean', 'max', 'min', 'prod' or 'sum_square'"};
}

Result<ReduceShape> ReduceShape::parse(const schedule::KernelT &kernel,
                                       const LaunchTypes &types) {
  VDNN_TRY(expectArity(types, {1, 1, 1, 1}));
  const TypeT &x = *types.reads[0], &y = *types.writes[0];
  if (x.element != ElementType::BF16 || y.element != ElementType::F32) {
    VDNN_TRY(expectElement(y, x.element, "the result"));
  }
  VDNN_TRY(expectLayout(y, x.layout, "the result"));
  std::vector<bool> reduced(x.shape.size());
  std::vector<int64_t> expected = x.shape;
  for (int64_t axis : schedule::getInts(kernel, "axes")) {
    if (axis < 0 || axis >= static_cast<int64_t>(x.shape.size())) {
      return Error{"axis " + std::to_string(axis) +
                   " is outside the rank of shape " + toString(x.shape)};
    }
    reduced[static_cast<size_t>(axis)] = true;
    expected[static_cast<size_t>(axis)] = 1;
  }
  VDNN_TRY(expectShape(y, expected, "the result"));
  if (countElements(x.shape) == 0) {
    return Error{"shape " + toString(x.shape) + " has no elements"};
  }
  Result<ReduceKind> kind = readKind(kernel);
  VDNN_TRY(kind.status());
  ReduceShape shape{*kind, {}};
  for (size_t dim : memoryOrder(x)) {
    if (x.shape[dim] == 1) {
      continue;
    }
    if (!shape.dims.empty() && shape.dims.back().reduced == reduced[dim]) {
      shape.dims.back().size *= x.shape[dim];
    } else {
      shape.dims.push_back({x.shape[dim], reduced[dim]});
    }
  }
  return shape;
}

int64_t ReduceShape::reducedElements() const {
  int64_t count = 1;
  for (const ReduceDim &dim : dims) {
    count *= dim.reduced ? dim.size : 1;
  }
  return count;
}

} // namespace vdnn::rt::backend
