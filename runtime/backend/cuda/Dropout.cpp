//===- Dropout.cpp - random zeros from a counter --------------------------===//

#include "runtime/backend/cuda/kernels/Dropout.h"
#include "runtime/backend/cuda/Factories.h"

#include <cmath>

namespace vdnn::rt::cuda {

using schedule::TypeT;

Result<Kernel> createDropout(const Request &request) {
  VDNN_TRY(expectArity(request, {3, 3, 1, 1}));
  VDNN_TRY(expectAllF32(request, {1, 2}));
  const TypeT &x = *request.types.reads[0];
  VDNN_TRY(expectSameType(*request.types.writes[0], x, "the result"));
  for (size_t i : {1, 2}) {
    const char *what = i == 1 ? "seed" : "step";
    VDNN_TRY(expectElement(*request.types.reads[i], schedule::ElementType::I64,
                           what));
    VDNN_TRY(expectShape(*request.types.reads[i], {}, what));
  }
  double ratio = schedule::getNumber(request.kernel, "ratio");
  if (!(ratio >= 0 && ratio < 1)) {
    return Error{"expected a 'ratio' of at least 0 and less than 1, found " +
                 std::to_string(ratio)};
  }
  int64_t id = schedule::getInt(request.kernel, "id");
  if (id < 0 || id > UINT32_MAX) {
    return Error{"expected an 'id' of 32 bits, found " + std::to_string(id)};
  }
  int64_t elements = countElements(x.shape);
  if (elements > (int64_t{1} << 34)) {
    return Error{
        "shape " + toString(x.shape) +
        " has more than 2^34 elements, which the counter cannot number"};
  }
  DropoutShape shape{elements, static_cast<uint32_t>(id),
                     static_cast<uint32_t>(std::ceil(ratio * (1 << 24))),
                     static_cast<float>(1.0 / (1.0 - ratio))};
  Kernel kernel;
  kernel.inPlace = {{0, 0}};
  kernel.run = [=](Context &, const Operands &operands) -> Status {
    VDNN_CUDA(launchDropout(
        shape, Storage::F32, operands.reads[0], operands.read<int64_t>(1),
        operands.read<int64_t>(2), operands.writes[0], operands.stream));
    return {};
  };
  return kernel;
}

} // namespace vdnn::rt::cuda
