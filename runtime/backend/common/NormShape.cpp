//===- NormShape.cpp ------------------------------------------------------===//

#include "runtime/backend/common/NormShape.h"

#include <algorithm>

namespace vdnn::rt::backend {

Result<Rows> Rows::parse(const LaunchTypes &types,
                         std::initializer_list<size_t> activations) {
  const schedule::TypeT &y = *types.writes[0];
  VDNN_TRY(expectActivation(y, "result 0"));
  if (y.shape.size() < 2) {
    return Error{"expected a batch and channels, found shape " +
                 toString(y.shape)};
  }
  VDNN_TRY(expectLayout(y, schedule::Layout::ChannelsLast, "result 0"));
  int64_t channels = y.shape[1];
  auto expectVector = [&](const schedule::TypeT &type,
                          const char *what) -> Status {
    VDNN_TRY(expectElement(type, schedule::ElementType::F32, what));
    return expectShape(type, {channels}, what);
  };
  for (size_t i = 0; i < types.reads.size(); ++i) {
    std::string what = "operand " + std::to_string(i);
    bool activation = std::find(activations.begin(), activations.end(), i) !=
                      activations.end();
    if (activation) {
      VDNN_TRY(expectSameType(*types.reads[i], y, what.c_str()));
    } else {
      VDNN_TRY(expectVector(*types.reads[i], what.c_str()));
    }
  }
  for (size_t i = 1; i < types.writes.size(); ++i) {
    VDNN_TRY(expectVector(*types.writes[i],
                          ("result " + std::to_string(i)).c_str()));
  }
  int64_t elements = countElements(y.shape);
  if (elements == 0) {
    return Error{"shape " + toString(y.shape) + " has no elements"};
  }
  return Rows{elements / channels, channels};
}

} // namespace vdnn::rt::backend
