//===- ConvShape.cpp ------------------------------------------------------===//

#include "runtime/backend/common/ConvShape.h"

namespace vdnn::rt::backend {

using schedule::TypeT;

static Result<std::vector<int64_t>> readSpatial(const schedule::KernelT &kernel,
                                                const char *name, size_t length,
                                                int64_t least) {
  std::vector<int64_t> values = schedule::getInts(kernel, name);
  if (values.size() != length) {
    return Error{"expected " + std::to_string(length) +
                 " integers in attribute '" + name + "', found " +
                 std::to_string(values.size())};
  }
  for (int64_t value : values) {
    if (value < least || value > (1 << 30)) {
      return Error{"attribute '" + std::string(name) + "' holds " +
                   std::to_string(value) + ", expected at least " +
                   std::to_string(least)};
    }
  }
  return values;
}

Result<ConvTypes> ConvTypes::of(const std::string &kind,
                                const LaunchTypes &types) {
  auto optional = [](std::span<const TypeT *const> list, size_t index) {
    return index < list.size() ? list[index] : nullptr;
  };
  if (kind == "conv") {
    VDNN_TRY(expectArity(types, {2, 3, 1, 1}));
    return ConvTypes{types.reads[0], types.reads[1], types.writes[0],
                     optional(types.reads, 2)};
  }
  if (kind == "conv_backward_data") {
    VDNN_TRY(expectArity(types, {2, 2, 1, 1}));
    return ConvTypes{types.writes[0], types.reads[1], types.reads[0], nullptr};
  }
  VDNN_TRY(expectArity(types, {2, 2, 1, 2}));
  return ConvTypes{types.reads[0], types.writes[0], types.reads[1],
                   optional(types.writes, 1)};
}

Result<ConvShape> ConvShape::parse(const schedule::KernelT &kernel,
                                   const TypeT &x, const TypeT &w,
                                   const TypeT &y, const TypeT *bias) {
  size_t rank = x.shape.size();
  if (rank < 3 || rank > 5) {
    return Error{"expected 1 to 3 spatial dimensions, found shape " +
                 toString(x.shape)};
  }
  VDNN_TRY(expectLayout(w, x.layout, "w"));
  VDNN_TRY(expectLayout(y, x.layout, "y"));

  size_t spatial = rank - 2;
  Result<std::vector<int64_t>> strides =
      readSpatial(kernel, "strides", spatial, 1);
  VDNN_TRY(strides.status());
  Result<std::vector<int64_t>> dilations =
      readSpatial(kernel, "dilations", spatial, 1);
  VDNN_TRY(dilations.status());
  Result<std::vector<int64_t>> pads =
      readSpatial(kernel, "pads", 2 * spatial, 0);
  VDNN_TRY(pads.status());
  int64_t group = schedule::getInt(kernel, "group", 1);

  if (w.shape.size() != rank || y.shape.size() != rank) {
    return Error{"expected 'w' and 'y' of the rank of 'x', found shapes " +
                 toString(w.shape) + " and " + toString(y.shape)};
  }
  int64_t channels = x.shape[1], outputs = w.shape[0];
  if (group < 1 || channels % group != 0 || outputs % group != 0 ||
      w.shape[1] != channels / group) {
    return Error{"group " + std::to_string(group) +
                 " does not fit 'x' of shape " + toString(x.shape) +
                 " and 'w' of shape " + toString(w.shape)};
  }
  std::vector<int64_t> expected = {x.shape[0], outputs};
  for (size_t i = 0; i < spatial; ++i) {
    int64_t window = (w.shape[i + 2] - 1) * (*dilations)[i] + 1;
    int64_t padded = x.shape[i + 2] + (*pads)[i] + (*pads)[spatial + i];
    expected.push_back(padded < window ? 0
                                       : (padded - window) / (*strides)[i] + 1);
  }
  VDNN_TRY(expectShape(y, expected, "y"));
  if (countElements(expected) == 0 || countElements(w.shape) == 0) {
    return Error{"a dimension is empty: 'w' has shape " + toString(w.shape) +
                 ", 'y' " + toString(y.shape)};
  }
  if (bias) {
    VDNN_TRY(expectShape(*bias, {outputs}, "bias"));
  }
  ConvShape shape;
  shape.strides = std::move(*strides);
  shape.dilations = std::move(*dilations);
  shape.padsBegin.assign(pads->begin(), pads->begin() + spatial);
  shape.padsEnd.assign(pads->begin() + spatial, pads->end());
  shape.group = group;
  return shape;
}

} // namespace vdnn::rt::backend
