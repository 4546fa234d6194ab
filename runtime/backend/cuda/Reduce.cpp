//===- Reduce.cpp - reductions over any axes ------------------------------===//

#include "runtime/backend/cuda/kernels/Reduce.h"
#include "runtime/backend/cuda/Factories.h"

namespace vdnn::rt::cuda {

using schedule::ElementType;
using schedule::TypeT;

static Result<ReduceKind> readKind(const Request &request) {
  std::string text = schedule::getText(request.kernel, "kind");
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

static Result<ReduceElement> readElement(const TypeT &type) {
  switch (type.element) {
  case ElementType::F32:
    return ReduceElement::F32;
  case ElementType::F64:
    return ReduceElement::F64;
  case ElementType::I64:
    return ReduceElement::I64;
  case ElementType::I32:
    return ReduceElement::I32;
  default:
    return Error{std::string("element type '") +
                 schedule::EnumNameElementType(type.element) +
                 "' cannot be reduced, expected 'F32', 'F64', 'I64' or 'I32'"};
  }
}

Result<Kernel> createReduce(const Request &request) {
  VDNN_TRY(expectArity(request, {1, 1, 1, 1}));
  const TypeT &x = *request.types.reads[0], &y = *request.types.writes[0];
  VDNN_TRY(expectElement(y, x.element, "the result"));
  VDNN_TRY(expectLayout(y, x.layout, "the result"));
  std::vector<bool> reduced(x.shape.size());
  std::vector<int64_t> expected = x.shape;
  for (int64_t axis : schedule::getInts(request.kernel, "axes")) {
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
  Result<ReduceKind> kind = readKind(request);
  VDNN_TRY(kind.status());
  Result<ReduceElement> element = readElement(x);
  VDNN_TRY(element.status());
  // Neighbours of one kind are one dimension.
  std::vector<ReduceDim> dims;
  for (size_t dim : memoryOrder(x)) {
    if (x.shape[dim] == 1) {
      continue;
    }
    if (!dims.empty() && dims.back().reduced == reduced[dim]) {
      dims.back().size *= x.shape[dim];
    } else {
      dims.push_back({x.shape[dim], reduced[dim]});
    }
  }
  Reduce reduce(dims, *kind, *element);
  if (!reduce.fits()) {
    return Error{"shape " + toString(x.shape) +
                 " is reduced along too many separate axes"};
  }
  Kernel kernel;
  kernel.workspaceBytes = reduce.workspaceBytes();
  kernel.run = [=](Context &, const Operands &operands) -> Status {
    VDNN_CUDA(reduce.launch(operands.reads[0], operands.writes[0],
                            operands.workspace, operands.stream));
    return {};
  };
  return kernel;
}

} // namespace vdnn::rt::cuda
