//===- DropoutShape.cpp ---------------------------------------------------===//

#include "runtime/backend/common/DropoutShape.h"

#include <cmath>

namespace vdnn::rt::backend {

Result<DropoutNumbers> DropoutNumbers::parse(const schedule::KernelT &kernel,
                                             const LaunchTypes &types) {
  VDNN_TRY(expectArity(types, {3, 3, 1, 1}));
  const schedule::TypeT &x = *types.reads[0];
  VDNN_TRY(expectActivation(x, "x"));
  VDNN_TRY(expectSameType(*types.writes[0], x, "the result"));
  for (size_t i : {1, 2}) {
    const char *what = i == 1 ? "seed" : "step";
    VDNN_TRY(expectElement(*types.reads[i], schedule::ElementType::I64, what));
    VDNN_TRY(expectShape(*types.reads[i], {}, what));
  }
  double ratio = schedule::getNumber(kernel, "ratio");
  if (!(ratio >= 0 && ratio < 1)) {
    return Error{"expected a 'ratio' of at least 0 and less than 1, found " +
                 std::to_string(ratio)};
  }
  int64_t id = schedule::getInt(kernel, "id");
  if (id < 0 || id > UINT32_MAX) {
    return Error{"expected an 'id' of 32 bits, found " + std::to_string(id)};
  }
  int64_t elements = countElements(x.shape);
  if (elements > (int64_t{1} << 34)) {
    return Error{
        "shape " + toString(x.shape) +
        " has more than 2^34 elements, which the counter cannot number"};
  }
  return DropoutNumbers{elements, static_cast<uint32_t>(id),
                        static_cast<uint32_t>(std::ceil(ratio * (1 << 24))),
                        static_cast<float>(1.0 / (1.0 - ratio))};
}

} // namespace vdnn::rt::backend
