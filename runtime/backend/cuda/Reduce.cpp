//===- Reduce.cpp - reductions over any axes ------------------------------===//

#include "runtime/backend/cuda/kernels/Reduce.h"
#include "runtime/backend/common/ReduceShape.h"
#include "runtime/backend/cuda/Factories.h"

namespace vdnn::rt::cuda {

using schedule::ElementType;
using schedule::TypeT;

static ReduceKind toKernel(backend::ReduceKind kind) {
  switch (kind) {
  case backend::ReduceKind::Sum:
    return ReduceKind::Sum;
  case backend::ReduceKind::Mean:
    return ReduceKind::Mean;
  case backend::ReduceKind::Max:
    return ReduceKind::Max;
  case backend::ReduceKind::Min:
    return ReduceKind::Min;
  case backend::ReduceKind::Prod:
    return ReduceKind::Prod;
  default:
    return ReduceKind::SumSquare;
  }
}

static Result<ReduceElement> readElement(const TypeT &type) {
  switch (type.element) {
  case ElementType::F32:
    return ReduceElement::F32;
  case ElementType::BF16:
    return ReduceElement::BF16;
  case ElementType::F64:
    return ReduceElement::F64;
  case ElementType::I64:
    return ReduceElement::I64;
  case ElementType::I32:
    return ReduceElement::I32;
  default:
    return Error{
        std::string("element type '") +
        schedule::EnumNameElementType(type.element) +
        "' cannot be reduced, expected 'F32', 'BF16', 'F64', 'I64' or 'I32'"};
  }
}

Result<Kernel> createReduce(const Request &request) {
  Result<ReduceShape> shape = ReduceShape::parse(request.kernel, request.types);
  VDNN_TRY(shape.status());
  const TypeT &x = *request.types.reads[0], &y = *request.types.writes[0];
  Result<ReduceElement> element = readElement(x);
  VDNN_TRY(element.status());
  std::vector<ReduceDim> dims;
  for (const backend::ReduceDim &dim : shape->dims) {
    dims.push_back({dim.size, dim.reduced});
  }
  Reduce reduce(dims, toKernel(shape->kind), *element, x.element != y.element);
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
