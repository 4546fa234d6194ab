//===- Dropout.cpp - random zeros from a counter --------------------------===//

#include "runtime/backend/cuda/kernels/Dropout.h"
#include "runtime/backend/common/DropoutShape.h"
#include "runtime/backend/cuda/Factories.h"

namespace vdnn::rt::cuda {

Result<Kernel> createDropout(const Request &request) {
  Result<DropoutNumbers> numbers =
      DropoutNumbers::parse(request.kernel, request.types);
  VDNN_TRY(numbers.status());
  DropoutShape shape{numbers->elements, numbers->id, numbers->threshold,
                     numbers->scale};
  Kernel kernel;
  kernel.inPlace = {{0, 0}};
  kernel.run = [shape, storage = storageOf(*request.types.reads[0])](
                   Context &, const Operands &operands) -> Status {
    VDNN_CUDA(launchDropout(
        shape, storage, operands.reads[0], operands.read<int64_t>(1),
        operands.read<int64_t>(2), operands.writes[0], operands.stream));
    return {};
  };
  return kernel;
}

} // namespace vdnn::rt::cuda
