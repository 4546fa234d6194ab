//===- PoolBackward.cpp - gradients of pools ------------------------------===//

#include "runtime/backend/cpu/Factories.h"
#include "runtime/backend/cpu/Parallel.h"
#include "runtime/backend/cpu/PoolLoops.h"

namespace vdnn::rt::cpu {

using schedule::TypeT;

VDNN_MULTIVERSION
static void addWhereIndexed(float *dx, const float *dy, const int8_t *index,
                            int8_t position, int64_t count) {
  for (int64_t c = 0; c < count; ++c) {
    dx[c] += index[c] == position ? dy[c] : 0.0f;
  }
}

/// Adds dy where this place of the window holds the maximum and no earlier one
/// did.
VDNN_MULTIVERSION
static void addWhereFirst(float *dx, const float *dy, const float *x,
                          const float *y, int32_t *found, int64_t count) {
  for (int64_t c = 0; c < count; ++c) {
    bool equal = x[c] == y[c] || (x[c] != x[c] && y[c] != y[c]);
    bool hit = equal && !found[c];
    dx[c] += hit ? dy[c] : 0.0f;
    found[c] |= hit;
  }
}

VDNN_MULTIVERSION
static void addDivided(float *dx, const float *dy, float divisor,
                       int64_t count) {
  for (int64_t c = 0; c < count; ++c) {
    dx[c] += dy[c] / divisor;
  }
}

/// Calls `body(dx row, first output row of the image, pixel, first channel,
/// channels)` for every block of channels of every input pixel, in parallel,
/// with the row zeroed. Each row is gathered by one thread in a fixed order of
/// windows.
template <typename Body>
static void forInputs(const PoolShape &s, unsigned threads, float *dx,
                      const Body &body) {
  parallelFor(threads, s.batch * s.inPixels() * blocks(s), [&](int64_t item) {
    int64_t row = item / blocks(s), first = item % blocks(s) * kBlock;
    int64_t count = std::min(kBlock, s.channels - first);
    float *target = dx + row * s.channels + first;
    std::fill_n(target, count, 0.0f);
    body(target, row / s.inPixels() * s.outPixels(),
         unflatten(row % s.inPixels(), s.in), first, count);
  });
}

static int64_t flatten(const PoolShape::Extent &at,
                       const PoolShape::Extent &extent) {
  return (at[0] * extent[1] + at[1]) * extent[2] + at[2];
}

static Kernel maxPoolFromIndex(const PoolShape &shape, unsigned threads) {
  Kernel kernel;
  kernel.run = [s = shape, threads](const Operands &operands) {
    const float *dy = operands.read<float>(0);
    const int8_t *index = operands.read<int8_t>(1);
    forInputs(
        s, threads, operands.write<float>(0),
        [&](float *dx, int64_t base, const auto &pixel, int64_t first,
            int64_t count) {
          forCoveringWindows(s, pixel, [&](const auto &at, int64_t position) {
            int64_t from = (base + flatten(at, s.out)) * s.channels + first;
            addWhereIndexed(dx, dy + from, index + from,
                            static_cast<int8_t>(position), count);
          });
        });
    return Status();
  };
  return kernel;
}

static Kernel maxPoolFromForward(const PoolShape &shape, unsigned threads) {
  Kernel kernel;
  kernel.run = [s = shape, threads](const Operands &operands) {
    const float *dy = operands.read<float>(0), *x = operands.read<float>(1),
                *y = operands.read<float>(2);
    float *dx = operands.write<float>(0);
    // Windows overlap, so one thread scatters all windows of its channels of
    // its image. Narrow blocks make enough items.
    constexpr int64_t kBlock = 64;
    int64_t blocks = (s.channels + kBlock - 1) / kBlock;
    parallelFor(threads, s.batch * blocks, [&](int64_t item) {
      int64_t image = item / blocks, first = item % blocks * kBlock;
      int64_t count = std::min(kBlock, s.channels - first);
      int64_t in = image * s.inPixels(), out = image * s.outPixels();
      for (int64_t pixel = 0; pixel < s.inPixels(); ++pixel) {
        std::fill_n(dx + (in + pixel) * s.channels + first, count, 0.0f);
      }
      for (int64_t window = 0; window < s.outPixels(); ++window) {
        int64_t from = (out + window) * s.channels + first;
        int32_t found[kBlock] = {};
        forWindow(s, unflatten(window, s.out), [&](int64_t pixel, int64_t) {
          int64_t to = (in + pixel) * s.channels + first;
          addWhereFirst(dx + to, dy + from, x + to, y + from, found, count);
        });
      }
    });
    return Status();
  };
  return kernel;
}

Result<Kernel> createMaxPoolBackward(const Request &request) {
  VDNN_TRY(expectArity(request, {2, 3, 1, 1}));
  const TypeT &dy = *request.types.reads[0], &dx = *request.types.writes[0];
  Result<PoolShape> shape = PoolShape::parse(request.kernel, dx, dy, true);
  VDNN_TRY(shape.status());
  if (request.types.reads.size() == 2) {
    VDNN_TRY(expectAllF32(request, {1}));
    VDNN_TRY(shape->expectIndex(*request.types.reads[1], dy));
    return maxPoolFromIndex(*shape, request.threads);
  }
  VDNN_TRY(expectAllF32(request));
  VDNN_TRY(expectSameType(*request.types.reads[1], dx, "x"));
  VDNN_TRY(expectSameType(*request.types.reads[2], dy, "y"));
  return maxPoolFromForward(*shape, request.threads);
}

Result<Kernel> createAvgPoolBackward(const Request &request) {
  VDNN_TRY(expectArity(request, {1, 1, 1, 1}));
  VDNN_TRY(expectAllF32(request));
  Result<PoolShape> shape = PoolShape::parse(
      request.kernel, *request.types.writes[0], *request.types.reads[0], false);
  VDNN_TRY(shape.status());
  bool includePad = schedule::getInt(request.kernel, "count_include_pad") != 0;
  Kernel kernel;
  kernel.run = [s = *shape, includePad,
                threads = request.threads](const Operands &operands) {
    const float *dy = operands.read<float>(0);
    forInputs(s, threads, operands.write<float>(0),
              [&](float *dx, int64_t base, const auto &pixel, int64_t first,
                  int64_t count) {
                forCoveringWindows(s, pixel, [&](const auto &at, int64_t) {
                  addDivided(
                      dx, dy + (base + flatten(at, s.out)) * s.channels + first,
                      static_cast<float>(s.divisor(at, includePad)), count);
                });
              });
    return Status();
  };
  return kernel;
}

} // namespace vdnn::rt::cpu
