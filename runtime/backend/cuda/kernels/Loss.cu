//===- Loss.cu ------------------------------------------------------------===//
//
// Blocks leave sums of their samples' losses and weights in the workspace; one
// block, or every block of the gradient, adds them up in a fixed order.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/cuda/kernels/Loss.h"

#include "runtime/backend/cuda/kernels/Group.cuh"

#include <algorithm>

namespace vdnn::rt::cuda {

constexpr int kThreads = 256;
constexpr int64_t kMostBlocks = 1024;
/// Fewer classes than this, or classes apart, are one thread's.
constexpr int64_t kFewClasses = 16;

namespace {
struct LossSum {
  double loss, weight;
};
} // namespace

static __device__ LossSum operator+(LossSum a, LossSum b) {
  return {a.loss + b.loss, a.weight + b.weight};
}

/// The offset of a sample's first class.
static __device__ int64_t sampleBase(const LossShape &s, int64_t sample) {
  if (s.positions == 1) {
    return sample * s.classes;
  }
  int64_t image = sample / s.positions;
  return image * s.classes * s.positions +
         (sample - image * s.positions) * s.positionStride;
}

/// The class of a sample; -1 if it is ignored, or none, which is noted.
static __device__ int64_t classOf(const LossShape &s, const LossLabels &l,
                                  int64_t sample) {
  int64_t label = s.wideLabels ? static_cast<const int64_t *>(l.labels)[sample]
                               : static_cast<const int32_t *>(l.labels)[sample];
  if (s.hasIgnored && label == s.ignored) {
    return -1;
  }
  if (label < 0 || label >= s.classes) {
    // The first to come notes all of it.
    if (atomicCAS_system(&l.bad->found, 0, 1) == 0) {
      l.bad->command = l.command;
      l.bad->label = label;
      l.bad->sample = sample;
    }
    return -1;
  }
  return label;
}

static __device__ double weightOf(const LossLabels &l, int64_t label) {
  return label < 0 ? 0.0 : l.weights ? double{l.weights[label]} : 1.0;
}

/// The block's sum, in thread 0; all threads must call it.
static __device__ LossSum blockSum(LossSum sum) {
  return {Group<kThreads>::sum(sum.loss), Group<kThreads>::sum(sum.weight)};
}

/// Size threads per sample: 1 or 32.
template <int Size>
static __global__ void __launch_bounds__(kThreads)
    lossKernel(LossShape s, LossLabels l, const float *logits, float *loss,
               float *logProb, LossSum *sums, int64_t samples) {
  int lane = Size == 1 ? 0 : Group<32>::lane();
  int64_t groups = kThreads / Size,
          own = blockIdx.x * groups + threadIdx.x / Size;
  LossSum sum = {};
  for (int64_t sample = own; sample < samples; sample += gridDim.x * groups) {
    int64_t base = sampleBase(s, sample), label = classOf(s, l, sample);
    const float *x = logits + base;
    // Before the results, which may lie there.
    float labelLogit = label < 0 ? 0.0f : x[label * s.classStride];
    float largest = -INFINITY;
    for (int64_t c = lane; c < s.classes; c += Size) {
      largest = fmaxf(largest, x[c * s.classStride]);
    }
    largest = Size == 1 ? largest : Group<32>::max(largest);
    double total = 0;
    for (int64_t c = lane; c < s.classes; c += Size) {
      total += expf(x[c * s.classStride] - largest);
    }
    total = Size == 1 ? total : Group<32>::sum(total);
    auto logSum = static_cast<float>(log(total));
    for (int64_t c = lane; c < s.classes; c += Size) {
      logProb[base + c * s.classStride] =
          x[c * s.classStride] - largest - logSum;
    }
    if (lane == 0) {
      double weight = weightOf(l, label);
      double term = label < 0 ? 0.0 : -weight * (labelLogit - largest - logSum);
      if (s.reduction == LossReduction::None) {
        loss[sample] = static_cast<float>(term);
      }
      sum = sum + LossSum{term, weight};
    }
  }
  if (s.reduction != LossReduction::None) {
    sum = blockSum(sum);
    if (threadIdx.x == 0) {
      sums[blockIdx.x] = sum;
    }
  }
}

/// The sum of all blocks' sums, in every thread.
static __device__ LossSum addUp(const LossSum *sums, int count) {
  LossSum sum = {};
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
    sum = sum + sums[i];
  }
  return blockSum(sum);
}

static __global__ void __launch_bounds__(kThreads)
    finishKernel(LossReduction reduction, const LossSum *sums, int count,
                 float *loss) {
  LossSum sum = addUp(sums, count);
  if (threadIdx.x == 0) {
    *loss = static_cast<float>(
        reduction == LossReduction::Mean ? sum.loss / sum.weight : sum.loss);
  }
}

/// The samples' weights, for the mean's gradient.
static __global__ void __launch_bounds__(kThreads)
    weightKernel(LossShape s, LossLabels l, LossSum *sums, int64_t samples) {
  LossSum sum = {};
  for (int64_t sample = int64_t{blockIdx.x} * kThreads + threadIdx.x;
       sample < samples; sample += int64_t{gridDim.x} * kThreads) {
    sum.weight += weightOf(l, classOf(s, l, sample));
  }
  sum = blockSum(sum);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
  }
}

template <int Size>
static __global__ void __launch_bounds__(kThreads)
    gradientKernel(LossShape s, LossLabels l, const float *dloss,
                   const float *logProb, float *dlogits, const LossSum *sums,
                   int sumCount, int64_t samples) {
  double divisor = 1.0;
  if (s.reduction == LossReduction::Mean) {
    divisor = addUp(sums, sumCount).weight;
  }
  int lane = Size == 1 ? 0 : Group<32>::lane();
  int64_t groups = kThreads / Size,
          own = blockIdx.x * groups + threadIdx.x / Size;
  for (int64_t sample = own; sample < samples; sample += gridDim.x * groups) {
    int64_t base = sampleBase(s, sample), label = classOf(s, l, sample);
    float outer = dloss[s.reduction == LossReduction::None ? sample : 0];
    float factor =
        label < 0 ? 0.0f
                  : static_cast<float>(outer * weightOf(l, label) / divisor);
    for (int64_t c = lane; c < s.classes; c += Size) {
      int64_t at = base + c * s.classStride;
      float gradient = expf(logProb[at]) - (c == label ? 1.0f : 0.0f);
      dlogits[at] = label < 0 ? 0.0f : gradient * factor;
    }
  }
}

static int threadsPerSample(const LossShape &s) {
  return s.classStride == 1 && s.classes >= kFewClasses ? 32 : 1;
}

static unsigned blocksOf(const LossShape &s, int threadsPerSample) {
  int64_t perBlock = kThreads / threadsPerSample;
  int64_t blocks = (s.samples() + perBlock - 1) / perBlock;
  return static_cast<unsigned>(std::clamp<int64_t>(blocks, 1, kMostBlocks));
}

uint64_t lossWorkspace(const LossShape &shape) {
  if (shape.reduction == LossReduction::None) {
    return 0;
  }
  return blocksOf(shape, threadsPerSample(shape)) * sizeof(LossSum);
}

cudaError_t launchLoss(const LossShape &shape, const LossLabels &labels,
                       const float *logits, float *loss, float *logProb,
                       void *workspace, cudaStream_t stream) {
  int size = threadsPerSample(shape);
  unsigned blocks = blocksOf(shape, size);
  auto *sums = static_cast<LossSum *>(workspace);
  auto *kernel = size == 1 ? lossKernel<1> : lossKernel<32>;
  kernel<<<blocks, kThreads, 0, stream>>>(shape, labels, logits, loss, logProb,
                                          sums, shape.samples());
  if (shape.reduction != LossReduction::None) {
    finishKernel<<<1, kThreads, 0, stream>>>(shape.reduction, sums,
                                             static_cast<int>(blocks), loss);
  }
  return cudaGetLastError();
}

cudaError_t launchLossBackward(const LossShape &shape, const LossLabels &labels,
                               const float *dloss, const float *logProb,
                               float *dlogits, void *workspace,
                               cudaStream_t stream) {
  int size = threadsPerSample(shape);
  unsigned blocks = blocksOf(shape, size), weightBlocks = blocksOf(shape, 1);
  auto *sums = static_cast<LossSum *>(workspace);
  if (shape.reduction == LossReduction::Mean) {
    weightKernel<<<weightBlocks, kThreads, 0, stream>>>(shape, labels, sums,
                                                        shape.samples());
  }
  auto *kernel = size == 1 ? gradientKernel<1> : gradientKernel<32>;
  kernel<<<blocks, kThreads, 0, stream>>>(
      shape, labels, dloss, logProb, dlogits, sums,
      static_cast<int>(weightBlocks), shape.samples());
  return cudaGetLastError();
}

} // namespace vdnn::rt::cuda
