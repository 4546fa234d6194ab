//===- Dropout.cu ---------------------------------------------------------===//
//
// docs/kernels.md fixes every bit of this, so that all backends drop the same
// elements. A thread takes 16 bytes: the four elements of one counter, or the
// eight of two.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/cuda/kernels/Dropout.h"
#include "runtime/backend/cuda/kernels/Vector.cuh"

namespace vdnn::rt::cuda {

constexpr int kThreads = 256;

/// Philox4x32-10.
static __device__ void philox(uint32_t (&w)[4], uint32_t key0, uint32_t key1) {
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    uint32_t high0 = __umulhi(0xD2511F53u, w[0]), low0 = 0xD2511F53u * w[0],
             high1 = __umulhi(0xCD9E8D57u, w[2]), low1 = 0xCD9E8D57u * w[2];
    w[0] = high1 ^ w[1] ^ key0;
    w[1] = low1;
    w[2] = high0 ^ w[3] ^ key1;
    w[3] = low0;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
}

/// The factors of the four elements of a counter.
struct Mask {
  uint32_t words[4];

  __device__ Mask(const DropoutShape &s, int64_t counter, uint64_t seed,
                  uint64_t step)
      : words{static_cast<uint32_t>(counter), s.id, static_cast<uint32_t>(step),
              static_cast<uint32_t>(step >> 32)} {
    philox(words, static_cast<uint32_t>(seed),
           static_cast<uint32_t>(seed >> 32));
  }
  __device__ float apply(const DropoutShape &s, float value, int i) const {
    return words[i] >> 8 >= s.threshold ? __fmul_rn(value, s.scale) : 0.0f;
  }
};

template <typename T>
static __global__ void __launch_bounds__(kThreads)
    dropoutKernel(DropoutShape s, const void *xs, const int64_t *seeds,
                  const int64_t *steps, void *ys) {
  constexpr int kElements = kWide<T>, kCounters = kElements / 4;
  int64_t counter = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * kCounters;
  int64_t at = 4 * counter;
  if (at >= s.elements) {
    return;
  }
  auto seed = static_cast<uint64_t>(*seeds),
       step = static_cast<uint64_t>(*steps);
  const T *x = static_cast<const T *>(xs) + at;
  T *y = static_cast<T *>(ys) + at;
  if (at + kElements <= s.elements) {
    float values[kElements];
    load(values, x);
#pragma unroll
    for (int i = 0; i < kCounters; ++i) {
      Mask mask(s, counter + i, seed, step);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        values[4 * i + j] = mask.apply(s, values[4 * i + j], j);
      }
    }
    store(y, values);
    return;
  }
  // The end of the tensor.
  for (int i = 0; i < kCounters; ++i) {
    Mask mask(s, counter + i, seed, step);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (at + 4 * i + j < s.elements) {
        fromFloat(y[4 * i + j], mask.apply(s, toFloat(x[4 * i + j]), j));
      }
    }
  }
}

cudaError_t launchDropout(const DropoutShape &shape, Storage storage,
                          const void *x, const int64_t *seed,
                          const int64_t *step, void *y, cudaStream_t stream) {
  if (shape.elements == 0) {
    return cudaSuccess;
  }
  auto blocks = static_cast<unsigned>(
      ceilDivide(shape.elements, wideElements(storage) * kThreads));
  auto *kernel = storage == Storage::F32 ? dropoutKernel<float>
                                         : dropoutKernel<__nv_bfloat16>;
  kernel<<<blocks, kThreads, 0, stream>>>(shape, x, seed, step, y);
  return cudaGetLastError();
}

} // namespace vdnn::rt::cuda
