//===- NormShape.cpp ------------------------------------------------------===//

#include "runtime/backend/common/NormShape.h"

#include <algorithm>

namespace vdnn::rt::backend {

static bool contains(const std::vector<size_t> &list, size_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

Result<Rows> Rows::parse(const LaunchTypes &types,
                         const std::vector<size_t> &activationReads,
                         const std::vector<size_t> &activationWrites) {
  const schedule::TypeT &y = *types.writes[0];
  VDNN_TRY(expectActivation(y, "result 0"));
  if (y.shape.size() < 2) {
    return Error{"expected a batch and channels, found shape " +
                 toString(y.shape)};
  }
  VDNN_TRY(expectLayout(y, schedule::Layout::ChannelsLast, "result 0"));
  int64_t channels = y.shape[1];
  auto expectOne = [&](const schedule::TypeT &type, bool isActivation,
                       const std::string &what) -> Status {
    if (isActivation) {
      return expectSameType(type, y, what.c_str());
    }
    VDNN_TRY(expectElement(type, schedule::ElementType::F32, what.c_str()));
    return expectShape(type, {channels}, what.c_str());
  };
  for (size_t i = 0; i < types.reads.size(); ++i) {
    VDNN_TRY(expectOne(*types.reads[i], contains(activationReads, i),
                       "operand " + std::to_string(i)));
  }
  for (size_t i = 1; i < types.writes.size(); ++i) {
    VDNN_TRY(expectOne(*types.writes[i], contains(activationWrites, i),
                       "result " + std::to_string(i)));
  }
  int64_t elements = countElements(y.shape);
  if (elements == 0) {
    return Error{"shape " + toString(y.shape) + " has no elements"};
  }
  return Rows{elements / channels, channels};
}

Result<NormBackwardForm>
NormBackwardForm::parse(const schedule::KernelT &kernel,
                        const LaunchTypes &types) {
  NormBackwardForm form;
  if (schedule::getInt(kernel, "relu") == 0) {
    VDNN_TRY(expectArity(types, {5, 5, 3, 3}));
  } else if (types.writes.size() != 4) {
    VDNN_TRY(expectArity(types, {6, 6, 3, 3}));
    form.bias = 5;
  } else {
    VDNN_TRY(expectArity(types, {6, 7, 4, 4}));
    form.y = 5;
    form.addend = types.reads.size() == 7 ? 6 : 0;
  }
  return form;
}

Result<Rows> NormBackwardForm::rows(const LaunchTypes &types) const {
  std::vector<size_t> reads = {0, 1}, writes;
  if (y) {
    reads.insert(reads.end(), {5, 6});
    writes.push_back(3);
  }
  return Rows::parse(types, reads, writes);
}

std::vector<schedule::InPlace> NormBackwardForm::inPlace() const {
  if (!y) {
    return {{0, 0}, {1, 0}};
  }
  std::vector<schedule::InPlace> pairs = {{0, 3}, {1, 0}};
  if (addend) {
    pairs.emplace_back(6, 3);
  }
  return pairs;
}

} // namespace vdnn::rt::backend
