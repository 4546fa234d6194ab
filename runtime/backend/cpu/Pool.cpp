//===- Pool.cpp - maximum and mean over windows ---------------------------===//

#include "runtime/backend/cpu/Factories.h"
#include "runtime/backend/cpu/Parallel.h"
#include "runtime/backend/cpu/PoolLoops.h"

#include <limits>

namespace vdnn::rt::cpu {

using schedule::TypeT;

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
  parallelFor(threads, s.batch * s.outPixels() * blocks(s), [&](int64_t item) {
    int64_t row = item / blocks(s), first = item % blocks(s) * kBlock;
    int64_t image = row / s.outPixels();
    body(image * s.inPixels(), row, unflatten(row % s.outPixels(), s.out),
         first, std::min(kBlock, s.channels - first));
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
    VDNN_TRY(shape->expectIndex(*request.types.writes[1], y));
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
                 int32_t where[kBlock];
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
