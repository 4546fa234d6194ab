//===- BatchNorm.cpp - batch normalisation, training, inference, gradient -===//
//
// The tensor is `rows` x `channels`. Statistics are sums over chunks of a fixed
// number of rows, one thread per chunk, combined in order: one pass over the
// tensors, the same bits for every number of threads. All sums are in double
// precision: gradients behind a ReLU or a pool have both signs and are mostly
// zero, and their sum may be far smaller than they are. A chunk's values of x
// are taken relative to its first row, so that a large mean does not swallow
// the variance.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/common/NormShape.h"
#include "runtime/backend/cpu/Factories.h"
#include "runtime/backend/cpu/Parallel.h"

#include <algorithm>
#include <cmath>

namespace vdnn::rt::cpu {

using schedule::Layout;
namespace {

constexpr int64_t kChunkRows = 256;

struct NormShape {
  int64_t rows, channels;

  int64_t chunks() const { return (rows + kChunkRows - 1) / kChunkRows; }
  int64_t chunkRows(int64_t chunk) const {
    return std::min(kChunkRows, rows - chunk * kChunkRows);
  }
};

/// 4 channels at once, wherever they lie.
using Lanes [[gnu::vector_size(16), gnu::aligned(4), gnu::may_alias]] = float;
using WideLanes [[gnu::vector_size(32), gnu::aligned(8), gnu::may_alias]] =
    double;
using LaneMask [[gnu::vector_size(16), gnu::aligned(4), gnu::may_alias]] =
    int32_t;
constexpr int64_t kLanes = 4;

/// What follows the normalisation; `residual` may be null.
struct Epilogue {
  const float *residual;
  bool relu;
};

/// Where a ReLU behind the normalisation let through: where
/// `(x - mean) * factor + bias`, as `normalizeRow` computes it, is above zero.
/// Without a ReLU, `bias` is null.
struct ReluMask {
  const float *factor, *bias;
};

/// A loop that is part of each clone of the function that calls it.
#define VDNN_LOOP __attribute__((always_inline)) static inline

} // namespace

#define VDNN_LANES(pointer) (*reinterpret_cast<const Lanes *>(pointer))
#define VDNN_WIDEN(pointer)                                                    \
  __builtin_convertvector(VDNN_LANES(pointer), WideLanes)

/// sum1 = sum of (x - shift), sum2 = sum of its square, over the rows.
VDNN_MULTIVERSION
static void sumChunk(const float *x, const float *shift, double *sum1,
                     double *sum2, int64_t rows, int64_t channels) {
  int64_t c = 0;
  for (; c + kLanes <= channels; c += kLanes) {
    WideLanes base = VDNN_WIDEN(shift + c), first = {}, second = {};
    for (int64_t r = 0; r < rows; ++r) {
      WideLanes d = VDNN_WIDEN(x + r * channels + c) - base;
      first += d;
      second += d * d;
    }
    *reinterpret_cast<WideLanes *>(sum1 + c) = first;
    *reinterpret_cast<WideLanes *>(sum2 + c) = second;
  }
  for (; c < channels; ++c) {
    double first = 0, second = 0;
    for (int64_t r = 0; r < rows; ++r) {
      double d = double{x[r * channels + c]} - shift[c];
      first += d;
      second += d * d;
    }
    sum1[c] = first;
    sum2[c] = second;
  }
}

/// sums = the sums of dy, of dy * (x - mean) and of x - mean over the rows,
/// `channels` of each.
template <bool kRelu>
VDNN_LOOP void sumGradient(const float *dy, const float *x, const float *mean,
                           ReluMask mask, double *sums, int64_t rows,
                           int64_t channels) {
  int64_t c = 0;
  for (; c + kLanes <= channels; c += kLanes) {
    WideLanes base = VDNN_WIDEN(mean + c), first = {}, second = {}, third = {};
    for (int64_t r = 0; r < rows; ++r) {
      Lanes gradient = VDNN_LANES(dy + r * channels + c);
      if (kRelu) {
        Lanes y = (VDNN_LANES(x + r * channels + c) - VDNN_LANES(mean + c)) *
                      VDNN_LANES(mask.factor + c) +
                  VDNN_LANES(mask.bias + c);
        gradient = (Lanes)((LaneMask)gradient & (LaneMask)(y > 0));
      }
      WideLanes g = __builtin_convertvector(gradient, WideLanes);
      WideLanes d = VDNN_WIDEN(x + r * channels + c) - base;
      first += g;
      second += g * d;
      third += d;
    }
    *reinterpret_cast<WideLanes *>(sums + c) = first;
    *reinterpret_cast<WideLanes *>(sums + channels + c) = second;
    *reinterpret_cast<WideLanes *>(sums + 2 * channels + c) = third;
  }
  for (; c < channels; ++c) {
    double first = 0, second = 0, third = 0;
    for (int64_t r = 0; r < rows; ++r) {
      float value = x[r * channels + c];
      bool passes =
          !kRelu || (value - mean[c]) * mask.factor[c] + mask.bias[c] > 0;
      double g = passes ? dy[r * channels + c] : 0;
      double d = double{value} - mean[c];
      first += g;
      second += g * d;
      third += d;
    }
    sums[c] = first;
    sums[channels + c] = second;
    sums[2 * channels + c] = third;
  }
}

VDNN_MULTIVERSION
static void sumGradientChunk(const float *dy, const float *x, const float *mean,
                             ReluMask mask, double *sums, int64_t rows,
                             int64_t channels) {
  if (mask.bias) {
    sumGradient<true>(dy, x, mean, mask, sums, rows, channels);
  } else {
    sumGradient<false>(dy, x, mean, mask, sums, rows, channels);
  }
}

/// The sum of dy and `addend`, which may be null, where y is above zero.
VDNN_MULTIVERSION
static void maskGradient(float *masked, const float *dy, const float *y,
                         const float *addend, int64_t elements) {
  if (addend) {
#pragma GCC ivdep
    for (int64_t i = 0; i < elements; ++i) {
      masked[i] = y[i] > 0 ? dy[i] + addend[i] : 0;
    }
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < elements; ++i) {
      masked[i] = y[i] > 0 ? dy[i] : 0;
    }
  }
}

/// y = (x - mean) * factor + bias, then the epilogue. A NaN passes a ReLU.
template <bool kResidual, bool kRelu>
VDNN_LOOP void normalizeElements(float *y, const float *x, const float *mean,
                                 const float *factor, const float *bias,
                                 const float *residual, int64_t channels) {
#pragma GCC ivdep
  for (int64_t c = 0; c < channels; ++c) {
    float value = (x[c] - mean[c]) * factor[c] + bias[c];
    value = kResidual ? value + residual[c] : value;
    y[c] = kRelu && value <= 0 ? 0 : value;
  }
}

VDNN_MULTIVERSION
static void normalizeRow(float *y, const float *x, const float *mean,
                         const float *factor, const float *bias,
                         Epilogue epilogue, int64_t channels) {
  const float *residual = epilogue.residual;
  if (residual && epilogue.relu) {
    normalizeElements<true, true>(y, x, mean, factor, bias, residual, channels);
  } else if (residual) {
    normalizeElements<true, false>(y, x, mean, factor, bias, residual,
                                   channels);
  } else if (epilogue.relu) {
    normalizeElements<false, true>(y, x, mean, factor, bias, residual,
                                   channels);
  } else {
    normalizeElements<false, false>(y, x, mean, factor, bias, residual,
                                    channels);
  }
}

/// dx = (dy - meanG) * a + (x - mean) * b: differences first, since the
/// gradient may be nearly constant over a channel. Its mean is needed to more
/// digits than a float has then: `low` is what `high` lacks of it.
template <bool kRelu>
VDNN_LOOP void gradientElements(float *dx, const float *dy, const float *high,
                                const float *low, const float *x,
                                const float *mean, const float *a,
                                const float *b, const float *bias,
                                int64_t channels) {
#pragma GCC ivdep
  for (int64_t c = 0; c < channels; ++c) {
    float centred = x[c] - mean[c];
    float gradient = dy[c];
    if (kRelu) {
      gradient = centred * a[c] + bias[c] > 0 ? gradient : 0;
    }
    dx[c] = (gradient - high[c] - low[c]) * a[c] + centred * b[c];
  }
}

/// `a` is the normalisation's factor; `bias` is null without a ReLU.
VDNN_MULTIVERSION
static void gradientRow(float *dx, const float *dy, const float *high,
                        const float *low, const float *x, const float *mean,
                        const float *a, const float *b, const float *bias,
                        int64_t channels) {
  if (bias) {
    gradientElements<true>(dx, dy, high, low, x, mean, a, b, bias, channels);
  } else {
    gradientElements<false>(dx, dy, high, low, x, mean, a, b, bias, channels);
  }
}

static void normalize(NormShape s, unsigned threads, float *y, const float *x,
                      const float *mean, const float *factor, const float *bias,
                      Epilogue epilogue) {
  parallelFor(threads, s.rows, [&](int64_t row) {
    int64_t at = row * s.channels;
    Epilogue own{epilogue.residual ? epilogue.residual + at : nullptr,
                 epilogue.relu};
    normalizeRow(y + at, x + at, mean, factor, bias, own, s.channels);
  });
}

static Result<NormShape> describe(Result<Rows> rows) {
  VDNN_TRY(rows.status());
  return NormShape{rows->rows, rows->channels};
}

Result<Kernel> createBatchNorm(const Request &request) {
  VDNN_TRY(expectArity(request, {5, 6, 5, 5}));
  Result<NormShape> shape = describe(Rows::parse(request.types, {0, 5}));
  VDNN_TRY(shape.status());
  double epsilon = schedule::getNumber(request.kernel, "epsilon");
  double momentum = schedule::getNumber(request.kernel, "momentum");
  bool unbiased = schedule::getInt(request.kernel, "unbiased_running_var") != 0;
  bool relu = schedule::getInt(request.kernel, "relu") != 0;
  bool residual = request.types.reads.size() == 6;
  WorkspacePlan plan;
  uint64_t sums =
      plan.add(2 * shape->chunks() * shape->channels * sizeof(double));
  uint64_t factors = plan.add(shape->channels * sizeof(float));
  Kernel kernel;
  kernel.workspaceBytes = plan.bytes();
  kernel.inPlace = {{3, 3}, {4, 4}};
  if (residual) {
    kernel.inPlace.push_back({5, 0});
  }
  kernel.run = [=, s = *shape,
                threads = request.threads](const Operands &operands) {
    const float *x = operands.read<float>(0), *scale = operands.read<float>(1),
                *bias = operands.read<float>(2);
    const float *runningMean = operands.read<float>(3),
                *runningVar = operands.read<float>(4);
    float *mean = operands.write<float>(1), *inverse = operands.write<float>(2);
    float *newMean = operands.write<float>(3),
          *newVar = operands.write<float>(4);
    double *partial = reinterpret_cast<double *>(operands.workspace + sums);
    float *factor = reinterpret_cast<float *>(operands.workspace + factors);
    parallelFor(threads, s.chunks(), [&](int64_t chunk) {
      const float *first = x + chunk * kChunkRows * s.channels;
      double *sum = partial + 2 * chunk * s.channels;
      sumChunk(first, first, sum, sum + s.channels, s.chunkRows(chunk),
               s.channels);
    });
    parallelFor(threads, s.channels, [&](int64_t c) {
      // Chan's rule joins the chunks' means and squared deviations.
      double count = 0, center = 0, deviation = 0;
      for (int64_t chunk = 0; chunk < s.chunks(); ++chunk) {
        double rows = static_cast<double>(s.chunkRows(chunk));
        double sum1 = partial[2 * chunk * s.channels + c],
               sum2 = partial[(2 * chunk + 1) * s.channels + c];
        double chunkMean = x[chunk * kChunkRows * s.channels + c] + sum1 / rows;
        double delta = chunkMean - center, total = count + rows;
        deviation += std::max(sum2 - sum1 * sum1 / rows, 0.0) +
                     delta * delta * count * rows / total;
        center += delta * rows / total;
        count = total;
      }
      double variance = deviation / count;
      double inverseStd = 1.0 / std::sqrt(variance + epsilon);
      double runningVariance =
          unbiased && count > 1 ? deviation / (count - 1) : variance;
      mean[c] = static_cast<float>(center);
      inverse[c] = static_cast<float>(inverseStd);
      // From what the backward kernel gets, so that it finds the same values.
      factor[c] = scale[c] * inverse[c];
      newMean[c] = static_cast<float>(runningMean[c] * momentum +
                                      center * (1 - momentum));
      newVar[c] = static_cast<float>(runningVar[c] * momentum +
                                     runningVariance * (1 - momentum));
    });
    normalize(s, threads, operands.write<float>(0), x, mean, factor, bias,
              {residual ? operands.read<float>(5) : nullptr, relu});
    return Status();
  };
  return kernel;
}

Result<Kernel> createBatchNormInference(const Request &request) {
  VDNN_TRY(expectArity(request, {5, 5, 1, 1}));
  Result<NormShape> shape = describe(Rows::parse(request.types, {0}));
  VDNN_TRY(shape.status());
  double epsilon = schedule::getNumber(request.kernel, "epsilon");
  Kernel kernel;
  kernel.workspaceBytes = shape->channels * sizeof(float);
  kernel.inPlace = {{0, 0}};
  kernel.run = [=, s = *shape,
                threads = request.threads](const Operands &operands) {
    const float *scale = operands.read<float>(1),
                *variance = operands.read<float>(4);
    float *factor = reinterpret_cast<float *>(operands.workspace);
    for (int64_t c = 0; c < s.channels; ++c) {
      factor[c] =
          static_cast<float>(scale[c] / std::sqrt(variance[c] + epsilon));
    }
    normalize(s, threads, operands.write<float>(0), operands.read<float>(0),
              operands.read<float>(3), factor, operands.read<float>(2),
              {nullptr, false});
    return Status();
  };
  return kernel;
}

Result<Kernel> createBatchNormBackward(const Request &request) {
  Result<NormBackwardForm> form =
      NormBackwardForm::parse(request.kernel, request.types);
  VDNN_TRY(form.status());
  Result<NormShape> shape = describe(form->rows(request.types));
  VDNN_TRY(shape.status());
  WorkspacePlan plan;
  uint64_t vector = shape->channels * sizeof(float);
  uint64_t sums =
      plan.add(3 * shape->chunks() * shape->channels * sizeof(double));
  uint64_t as = plan.add(vector), bs = plan.add(vector),
           highs = plan.add(vector), lows = plan.add(vector);
  Kernel kernel;
  kernel.workspaceBytes = plan.bytes();
  kernel.inPlace = form->inPlace();
  kernel.run = [=, form = *form, s = *shape,
                threads = request.threads](const Operands &operands) {
    auto readIf = [&](size_t operand) {
      return operand ? operands.read<float>(operand) : nullptr;
    };
    const float *given = operands.read<float>(0), *x = operands.read<float>(1),
                *scale = operands.read<float>(2);
    const float *mean = operands.read<float>(3),
                *inverse = operands.read<float>(4), *bias = readIf(form.bias),
                *y = readIf(form.y), *addend = readIf(form.addend);
    float *masked = y ? operands.write<float>(3) : nullptr;
    const float *dy = y ? masked : given;
    float *dx = operands.write<float>(0), *dscale = operands.write<float>(1),
          *dbias = operands.write<float>(2);
    auto vectorAt = [&](uint64_t offset) {
      return reinterpret_cast<float *>(operands.workspace + offset);
    };
    double *partial = reinterpret_cast<double *>(operands.workspace + sums);
    float *a = vectorAt(as), *b = vectorAt(bs), *high = vectorAt(highs),
          *low = vectorAt(lows);
    for (int64_t c = 0; c < s.channels; ++c) {
      a[c] = scale[c] * inverse[c];
    }
    parallelFor(threads, s.chunks(), [&](int64_t chunk) {
      int64_t first = chunk * kChunkRows * s.channels;
      if (y) {
        maskGradient(masked + first, given + first, y + first,
                     addend ? addend + first : nullptr,
                     s.chunkRows(chunk) * s.channels);
      }
      sumGradientChunk(dy + first, x + first, mean, {a, bias},
                       partial + 3 * chunk * s.channels, s.chunkRows(chunk),
                       s.channels);
    });
    parallelFor(threads, s.channels, [&](int64_t c) {
      double sumG = 0, sumGX = 0, sumX = 0, rows = static_cast<double>(s.rows);
      for (int64_t chunk = 0; chunk < s.chunks(); ++chunk) {
        sumG += partial[3 * chunk * s.channels + c];
        sumGX += partial[(3 * chunk + 1) * s.channels + c];
        sumX += partial[(3 * chunk + 2) * s.channels + c];
      }
      // The sum of x - mean is not quite zero, since the mean is rounded: that
      // part of a constant gradient is no part of the variance's gradient.
      double meanG = sumG / rows, sum2 = sumGX - meanG * sumX;
      double inverseStd = inverse[c], factor = scale[c] * inverseStd;
      dbias[c] = static_cast<float>(sumG);
      dscale[c] = static_cast<float>(sum2 * inverseStd);
      b[c] =
          static_cast<float>(-factor * inverseStd * inverseStd * sum2 / rows);
      high[c] = static_cast<float>(meanG);
      low[c] = static_cast<float>(meanG - high[c]);
    });
    parallelFor(threads, s.rows, [&](int64_t row) {
      int64_t at = row * s.channels;
      gradientRow(dx + at, dy + at, high, low, x + at, mean, a, b, bias,
                  s.channels);
    });
    return Status();
  };
  return kernel;
}

} // namespace vdnn::rt::cpu
