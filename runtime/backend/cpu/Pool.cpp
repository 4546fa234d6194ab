//===- Pool.cpp - maximum and mean over windows ---------------------------===//

#include "runtime/backend/cpu/Factories.h"
#include "runtime/backend/cpu/Parallel.h"
#include "runtime/backend/cpu/PoolShape.h"

#include <limits>

namespace vdnn::rt::cpu {

using schedule::Layout;
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
  VDNN_TRY(expectLayout(in, Layout::ChannelsLast, "x"));
  VDNN_TRY(expectLayout(out, Layout::ChannelsLast, "y"));
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

//===----------------------------------------------------------------------===//
// Rows of channels
//===----------------------------------------------------------------------===//

/// A NaN replaces every number and is never replaced; of equal values the first
/// stays.
static inline bool replaces(float value, float best) {
  return !(value <= best) && best == best;
}

VDNN_MULTIVERSION
static void maxRow(float *best, const float *x, int64_t count) {
  for (int64_t c = 0; c < count; ++c) {
    best[c] = replaces(x[c], best[c]) ? x[c] : best[c];
  }
}

VDNN_MULTIVERSION
static void maxRowIndexed(float *best, int32_t *where, const float *x,
                          int32_t position, int64_t count) {
  for (int64_t c = 0; c < count; ++c) {
    bool replace = replaces(x[c], best[c]);
    best[c] = replace ? x[c] : best[c];
    where[c] = replace ? position : where[c];
  }
}

VDNN_MULTIVERSION
static void addRow(float *sum, const float *x, int64_t count) {
  for (int64_t c = 0; c < count; ++c) {
    sum[c] += x[c];
  }
}

VDNN_MULTIVERSION
static void scaleRow(float *y, const float *sum, float divisor, int64_t count) {
  for (int64_t c = 0; c < count; ++c) {
    y[c] = sum[c] / divisor;
  }
}

/// Calls `body(x of the image, number of the output row, its window, first
/// channel, channels)` for every block of channels of every output pixel, in
/// parallel.
template <typename Body>
static void forOutputs(const PoolShape &s, unsigned threads, const Body &body) {
  parallelFor(threads, s.batch * s.outPixels() * s.blocks(), [&](int64_t item) {
    int64_t row = item / s.blocks(),
            first = item % s.blocks() * PoolShape::kBlock;
    int64_t image = row / s.outPixels();
    body(image * s.inPixels(), row, unflatten(row % s.outPixels(), s.out),
         first, std::min(PoolShape::kBlock, s.channels - first));
  });
}

Result<Kernel> createMaxPool(const Request &request) {
  VDNN_TRY(expectArity(request, {1, 1, 1, 2}));
  VDNN_TRY(expectAllF32(request, {2}));
  const TypeT &y = *request.types.writes[0];
  Result<PoolShape> shape =
      PoolShape::parse(request.kernel, *request.types.reads[0], y, true);
  VDNN_TRY(shape.status());
  bool indexed = request.types.writes.size() == 2;
  if (indexed) {
    const TypeT &index = *request.types.writes[1];
    VDNN_TRY(expectElement(index, schedule::ElementType::I8, "index"));
    VDNN_TRY(expectShape(index, y.shape, "index"));
    VDNN_TRY(expectLayout(index, Layout::ChannelsLast, "index"));
    if (shape->windowSize() > 127) {
      return Error{"a window of " + std::to_string(shape->windowSize()) +
                   " positions has no index, expected at most 127"};
    }
  }
  Kernel kernel;
  kernel.run = [s = *shape, indexed,
                threads = request.threads](const Operands &operands) {
    const float *x = operands.read<float>(0);
    float *y = operands.write<float>(0);
    int8_t *index = indexed ? operands.write<int8_t>(1) : nullptr;
    forOutputs(s, threads,
               [&](int64_t base, int64_t row, const auto &at, int64_t first,
                   int64_t count) {
                 float *best = y + row * s.channels + first;
                 int32_t where[PoolShape::kBlock];
                 bool begun = false;
                 forWindow(s, at, [&](int64_t pixel, int64_t position) {
                   const float *in = x + (base + pixel) * s.channels + first;
                   if (!begun) {
                     std::copy_n(in, count, best);
                     std::fill_n(where, count, static_cast<int32_t>(position));
                     begun = true;
                   } else if (indexed) {
                     maxRowIndexed(best, where, in,
                                   static_cast<int32_t>(position), count);
                   } else {
                     maxRow(best, in, count);
                   }
                 });
                 if (!begun) {
                   // Only padding: nothing to choose.
                   std::fill_n(best, count,
                               -std::numeric_limits<float>::infinity());
                   std::fill_n(where, count, 0);
                 }
                 if (indexed) {
                   std::copy_n(where, count, index + row * s.channels + first);
                 }
               });
    return Status();
  };
  return kernel;
}

Result<Kernel> createAvgPool(const Request &request) {
  VDNN_TRY(expectArity(request, {1, 1, 1, 1}));
  VDNN_TRY(expectAllF32(request));
  Result<PoolShape> shape = PoolShape::parse(
      request.kernel, *request.types.reads[0], *request.types.writes[0], false);
  VDNN_TRY(shape.status());
  bool includePad = schedule::getInt(request.kernel, "count_include_pad") != 0;
  Kernel kernel;
  kernel.run = [s = *shape, includePad,
                threads = request.threads](const Operands &operands) {
    const float *x = operands.read<float>(0);
    float *y = operands.write<float>(0);
    forOutputs(s, threads,
               [&](int64_t base, int64_t row, const auto &at, int64_t first,
                   int64_t count) {
                 float *sum = y + row * s.channels + first;
                 std::fill_n(sum, count, 0.0f);
                 forWindow(s, at, [&](int64_t pixel, int64_t) {
                   addRow(sum, x + (base + pixel) * s.channels + first, count);
                 });
                 scaleRow(sum, sum,
                          static_cast<float>(s.divisor(at, includePad)), count);
               });
    return Status();
  };
  return kernel;
}

} // namespace vdnn::rt::cpu
