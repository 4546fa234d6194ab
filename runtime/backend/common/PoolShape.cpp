//===- PoolShape.cpp ------------------------------------------------------===//

#include "runtime/backend/common/PoolShape.h"

#include <algorithm>

namespace vdnn::rt::backend {

using schedule::TypeT;

static Status readExtent(const schedule::KernelT &kernel, const char *name,
                         size_t spatial, int64_t least,
                         PoolShape::Extent &first,
                         PoolShape::Extent *second = nullptr) {
  std::vector<int64_t> values = schedule::getInts(kernel, name);
  size_t expected = second ? 2 * spatial : spatial;
  if (values.size() != expected) {
    return Error{"expected " + std::to_string(expected) +
                 " integers in attribute '" + name + "', found " +
                 std::to_string(values.size())};
  }
  for (size_t i = 0; i < expected; ++i) {
    if (values[i] < least || values[i] > (1 << 30)) {
      return Error{"attribute '" + std::string(name) + "' holds " +
                   std::to_string(values[i]) + ", expected at least " +
                   std::to_string(least)};
    }
    // Missing spatial dimensions are leading ones of size 1.
    (i < spatial ? first : *second)[3 - spatial + i % spatial] = values[i];
  }
  return {};
}

Result<PoolShape> PoolShape::parse(const schedule::KernelT &kernel,
                                   const TypeT &in, const TypeT &out,
                                   bool dilated) {
  size_t rank = in.shape.size();
  if (rank < 3 || rank > 5 || out.shape.size() != rank) {
    return Error{"expected 1 to 3 spatial dimensions, found shapes " +
                 toString(in.shape) + " and " + toString(out.shape)};
  }
  VDNN_TRY(expectActivation(in, "x"));
  VDNN_TRY(expectElement(out, in.element, "y"));
  VDNN_TRY(expectLayout(out, in.layout, "y"));
  PoolShape s;
  size_t spatial = rank - 2;
  VDNN_TRY(readExtent(kernel, "kernel", spatial, 1, s.kernel));
  VDNN_TRY(readExtent(kernel, "strides", spatial, 1, s.stride));
  VDNN_TRY(readExtent(kernel, "pads", spatial, 0, s.padBegin, &s.padEnd));
  if (dilated) {
    VDNN_TRY(readExtent(kernel, "dilations", spatial, 1, s.dilation));
  }
  s.batch = in.shape[0];
  s.channels = in.shape[1];
  if (out.shape[0] != s.batch || out.shape[1] != s.channels) {
    return Error{"expected batch and channels of " + toString(in.shape) +
                 " in 'y', found " + toString(out.shape)};
  }
  if (in.layout == schedule::Layout::RowMajor) {
    s.batch *= s.channels;
    s.channels = 1;
  }
  for (size_t i = 0; i < spatial; ++i) {
    size_t d = 3 - spatial + i;
    s.in[d] = in.shape[i + 2];
    s.out[d] = out.shape[i + 2];
    // The last window may reach beyond the padding (ceil mode), but must begin
    // inside.
    int64_t room = s.in[d] + s.padBegin[d] + s.padEnd[d] -
                   (s.kernel[d] - 1) * s.dilation[d] - 1;
    int64_t least = room < 0 ? 0 : room / s.stride[d] + 1;
    bool begins = (s.out[d] - 1) * s.stride[d] < s.in[d] + s.padBegin[d];
    if (s.out[d] < least || s.out[d] > least + 1 || s.out[d] < 1 || !begins) {
      return Error{"spatial dimension " + std::to_string(i) + " of 'y' is " +
                   std::to_string(s.out[d]) + ", expected " +
                   std::to_string(least) + " windows"};
    }
  }
  return s;
}

Status PoolShape::expectIndex(const TypeT &index, const TypeT &out) const {
  VDNN_TRY(expectElement(index, schedule::ElementType::I8, "index"));
  VDNN_TRY(expectShape(index, out.shape, "index"));
  VDNN_TRY(expectLayout(index, out.layout, "index"));
  if (windowSize() > 127) {
    return Error{"a window of " + std::to_string(windowSize()) +
                 " positions has no index, expected at most 127"};
  }
  return {};
}

int64_t PoolShape::divisor(const Extent &at, bool includePad) const {
  int64_t count = 1;
  for (size_t d = 0; d < 3; ++d) {
    int64_t low = includePad ? -padBegin[d] : 0,
            high = includePad ? in[d] + padEnd[d] : in[d];
    int64_t begin = at[d] * stride[d] - padBegin[d];
    count *= std::max<int64_t>(
        std::min(begin + kernel[d], high) - std::max(begin, low), 0);
  }
  return std::max<int64_t>(count, 1);
}

} // namespace vdnn::rt::backend
