//===- Dropout.cu ---------------------------------------------------------===//
//
// docs/kernels.md fixes every bit of this, so that all backends drop the same
// elements. A thread takes the four elements of one counter.
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

template <typename T>
static __global__ void __launch_bounds__(kThreads)
    dropoutKernel(DropoutShape s, const void *xs, const int64_t *seeds,
                  const int64_t *steps, void *ys) {
  int64_t counter = int64_t{blockIdx.x} * kThreads + threadIdx.x,
          at = 4 * counter;
  if (at >= s.elements) {
    return;
  }
  auto seed = static_cast<uint64_t>(*seeds),
       step = static_cast<uint64_t>(*steps);
  uint32_t words[4] = {static_cast<uint32_t>(counter), s.id,
                       static_cast<uint32_t>(step),
                       static_cast<uint32_t>(step >> 32)};
  philox(words, static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
  const T *x = static_cast<const T *>(xs) + at;
  T *y = static_cast<T *>(ys) + at;
  auto drop = [&](float value, uint32_t word) {
    return word >> 8 >= s.threshold ? __fmul_rn(value, s.scale) : 0.0f;
  };
  if (at + 4 <= s.elements) {
    float values[4];
    load(values, x);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      values[i] = drop(values[i], words[i]);
    }
    store(y, values);
    return;
  }
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    if (at + i < s.elements) {
      fromFloat(y[i], drop(toFloat(x[i]), words[i]));
    }
  }
}

cudaError_t launchDropout(const DropoutShape &shape, Storage storage,
                          const void *x, const int64_t *seed,
                          const int64_t *step, void *y, cudaStream_t stream) {
  if (shape.elements == 0) {
    return cudaSuccess;
  }
  auto blocks = static_cast<unsigned>(ceilDivide(shape.elements, 4 * kThreads));
  auto *kernel = storage == Storage::F32 ? dropoutKernel<float>
                                         : dropoutKernel<__nv_bfloat16>;
  kernel<<<blocks, kThreads, 0, stream>>>(shape, x, seed, step, y);
  return cudaGetLastError();
}

} // namespace vdnn::rt::cuda
