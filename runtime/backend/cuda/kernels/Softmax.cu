//===- Softmax.cu ---------------------------------------------------------===//
//
// A row is handled by a warp, a block if it is long, or one thread if its
// elements are not neighbours; then neighbouring threads have neighbouring
// rows.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/cuda/kernels/Softmax.h"

#include "runtime/backend/cuda/kernels/Group.cuh"

#include <algorithm>

namespace vdnn::rt::cuda {

constexpr int kThreads = 256;
/// Longer rows are worth a block.
constexpr int64_t kLongRow = 2048;

/// A row of a thread that works alone.
struct Alone {
  __device__ static int lane() { return 0; }
  __device__ static double sum(double value) { return value; }
  __device__ static float max(float value) { return value; }
};

/// Calls `body(offset of the row's first element)` for every row of the group.
template <int Size, typename Body>
static __device__ void forRows(const SoftmaxShape &s, const Body &body) {
  int64_t rows = s.outer * s.inner, groups = kThreads / Size,
          own = blockIdx.x * groups + threadIdx.x / Size;
  for (int64_t row = own; row < rows; row += gridDim.x * groups) {
    body(s.inner == 1 ? row * s.length
                      : row / s.inner * s.length * s.inner + row % s.inner);
  }
}

template <typename Threads, int Size>
static __global__ void __launch_bounds__(kThreads)
    forwardKernel(SoftmaxShape s, const float *x, float *y) {
  int step = Size;
  forRows<Size>(s, [&](int64_t base) {
    float largest = -INFINITY;
    for (int64_t i = Threads::lane(); i < s.length; i += step) {
      largest = fmaxf(largest, x[base + i * s.inner]);
    }
    largest = Threads::max(largest);
    double sum = 0;
    for (int64_t i = Threads::lane(); i < s.length; i += step) {
      sum += expf(x[base + i * s.inner] - largest);
    }
    sum = Threads::sum(sum);
    auto logSum = static_cast<float>(log(sum)),
         factor = static_cast<float>(1.0 / sum);
    for (int64_t i = Threads::lane(); i < s.length; i += step) {
      int64_t at = base + i * s.inner;
      float value = x[at] - largest;
      y[at] = s.log ? value - logSum : expf(value) * factor;
    }
  });
}

template <typename Threads, int Size>
static __global__ void __launch_bounds__(kThreads)
    backwardKernel(SoftmaxShape s, const float *dy, const float *y, float *dx) {
  int step = Size;
  forRows<Size>(s, [&](int64_t base) {
    double sum = 0;
    for (int64_t i = Threads::lane(); i < s.length; i += step) {
      int64_t at = base + i * s.inner;
      sum += s.log ? double{dy[at]} : double{dy[at]} * y[at];
    }
    auto total = static_cast<float>(Threads::sum(sum));
    for (int64_t i = Threads::lane(); i < s.length; i += step) {
      int64_t at = base + i * s.inner;
      dx[at] = s.log ? dy[at] - expf(y[at]) * total : y[at] * (dy[at] - total);
    }
  });
}

static unsigned blocksOf(const SoftmaxShape &s, int size) {
  int64_t rows = s.outer * s.inner, groups = kThreads / size;
  return static_cast<unsigned>(
      std::min<int64_t>((rows + groups - 1) / groups, 1 << 30));
}

/// Launches `kernel<Threads, Size>` with the group that fits the rows.
#define VDNN_LAUNCH_ROWS(kernel, ...)                                          \
  do {                                                                         \
    if (shape.inner > 1) {                                                     \
      kernel<Alone, 1>                                                         \
          <<<blocksOf(shape, 1), kThreads, 0, stream>>>(shape, __VA_ARGS__);   \
    } else if (shape.length <= kLongRow) {                                     \
      kernel<Group<32>, 32>                                                    \
          <<<blocksOf(shape, 32), kThreads, 0, stream>>>(shape, __VA_ARGS__);  \
    } else {                                                                   \
      kernel<Group<kThreads>, kThreads>                                        \
          <<<blocksOf(shape, kThreads), kThreads, 0, stream>>>(shape,          \
                                                               __VA_ARGS__);   \
    }                                                                          \
    return cudaGetLastError();                                                 \
  } while (false)

cudaError_t launchSoftmax(const SoftmaxShape &shape, const float *x, float *y,
                          cudaStream_t stream) {
  VDNN_LAUNCH_ROWS(forwardKernel, x, y);
}

cudaError_t launchSoftmaxBackward(const SoftmaxShape &shape, const float *dy,
                                  const float *y, float *dx,
                                  cudaStream_t stream) {
  VDNN_LAUNCH_ROWS(backwardKernel, dy, y, dx);
}

} // namespace vdnn::rt::cuda
