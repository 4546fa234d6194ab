//===- Lrn.cpp - local response normalisation across channels -------------===//
//
// Our own: oneDNN has its gradient only as reference code and only with a
// workspace. One pixel's channels at a time, with room for them in the
// workspace per thread.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/common/LrnShape.h"
#include "runtime/backend/cpu/Factories.h"
#include "runtime/backend/cpu/Parallel.h"

#include <cmath>

namespace vdnn::rt::cpu {

/// sum[c] = sum of value[c - below .. c + above], clipped.
VDNN_MULTIVERSION
static void windowSums(float *sum, const float *value, int64_t below,
                       int64_t above, int64_t channels) {
  std::fill_n(sum, channels, 0.0f);
  for (int64_t shift = -std::min(below, channels - 1);
       shift <= std::min(above, channels - 1); ++shift) {
    int64_t begin = std::max<int64_t>(0, -shift),
            end = std::min(channels, channels - shift);
#pragma GCC ivdep
    for (int64_t c = begin; c < end; ++c) {
      sum[c] += value[c + shift];
    }
  }
}

/// base[c] = bias + alpha / size * window sum of squares; `square` is scratch.
VDNN_MULTIVERSION
static void bases(float *base, float *square, const float *x,
                  const LrnWindow &s) {
#pragma GCC ivdep
  for (int64_t c = 0; c < s.channels; ++c) {
    square[c] = x[c] * x[c];
  }
  windowSums(base, square, s.below, s.above, s.channels);
#pragma GCC ivdep
  for (int64_t c = 0; c < s.channels; ++c) {
    base[c] = s.bias + s.alphaOverSize * base[c];
  }
}

/// power[c] = base[c] ^ -beta.
VDNN_MULTIVERSION
static void negativePowers(float *power, const float *base, float beta,
                           int64_t channels) {
  if (beta == 0.75f) {
    // The usual exponent needs square roots only.
#pragma GCC ivdep
    for (int64_t c = 0; c < channels; ++c) {
      float root = std::sqrt(base[c]);
      power[c] = 1.0f / (root * std::sqrt(root));
    }
    return;
  }
  for (int64_t c = 0; c < channels; ++c) {
    power[c] = std::pow(base[c], -beta);
  }
}

VDNN_MULTIVERSION
static void forwardRow(float *y, const float *x, float *room,
                       const LrnWindow &s) {
  float *base = room, *power = room + s.channels;
  bases(base, power, x, s);
  negativePowers(power, base, s.beta, s.channels);
#pragma GCC ivdep
  for (int64_t c = 0; c < s.channels; ++c) {
    y[c] = x[c] * power[c];
  }
}

/// dx[i] = dy[i] * base[i]^-beta - 2 alpha beta / size * x[i] * sum over the
/// windows j that hold i of dy[j] x[j] base[j]^(-beta - 1).
VDNN_MULTIVERSION
static void backwardRow(float *dx, const float *dy, const float *x, float *room,
                        const LrnWindow &s) {
  float *base = room, *power = room + s.channels,
        *product = room + 2 * s.channels;
  bases(base, power, x, s);
  negativePowers(power, base, s.beta, s.channels);
#pragma GCC ivdep
  for (int64_t c = 0; c < s.channels; ++c) {
    product[c] = dy[c] * x[c] * power[c] / base[c];
  }
  float *sum = base;
  windowSums(sum, product, s.above, s.below, s.channels);
  float factor = 2.0f * s.alphaOverSize * s.beta;
#pragma GCC ivdep
  for (int64_t c = 0; c < s.channels; ++c) {
    dx[c] = dy[c] * power[c] - factor * x[c] * sum[c];
  }
}

/// Runs `body(row, room for three rows)` over all pixels.
template <typename Body>
static Kernel makeKernel(const LrnWindow &s, unsigned threads,
                         const Body &body) {
  uint64_t room = (3 * s.channels * sizeof(float) + 63) / 64 * 64;
  Kernel kernel;
  kernel.workspaceBytes = room * threads;
  kernel.run = [=](const Operands &operands) {
    parallelRanges(
        threads, s.rows, [&](unsigned thread, int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            body(operands, row * s.channels,
                 reinterpret_cast<float *>(operands.workspace + thread * room));
          }
        });
    return Status();
  };
  return kernel;
}

Result<Kernel> createLrn(const Request &request) {
  VDNN_TRY(expectArity(request, {1, 1, 1, 1}));
  Result<LrnWindow> shape = LrnWindow::parse(request.kernel, request.types);
  VDNN_TRY(shape.status());
  return makeKernel(
      *shape, request.threads,
      [s = *shape](const Operands &operands, int64_t at, float *room) {
        forwardRow(operands.write<float>(0) + at, operands.read<float>(0) + at,
                   room, s);
      });
}

Result<Kernel> createLrnBackward(const Request &request) {
  VDNN_TRY(expectArity(request, {2, 2, 1, 1}));
  Result<LrnWindow> shape = LrnWindow::parse(request.kernel, request.types);
  VDNN_TRY(shape.status());
  return makeKernel(
      *shape, request.threads,
      [s = *shape](const Operands &operands, int64_t at, float *room) {
        backwardRow(operands.write<float>(0) + at, operands.read<float>(0) + at,
                    operands.read<float>(1) + at, room, s);
      });
}

} // namespace vdnn::rt::cpu
