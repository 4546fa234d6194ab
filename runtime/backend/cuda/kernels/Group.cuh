//===- Group.cuh - values joined over a warp or a block -------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_GROUP_CUH
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_GROUP_CUH

#include <cuda_runtime.h>

namespace vdnn::rt::cuda {

/// `Size` threads that work on one thing: a warp or a block. Joins run in a
/// fixed order, and every thread gets the same result.
template <int Size>
struct Group {
  static constexpr int kWarps = Size / 32;

  __device__ static int lane() { return static_cast<int>(threadIdx.x) % Size; }

  template <typename T, typename Join>
  __device__ static T join(T value, const Join &join) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
      value = join(value, __shfl_xor_sync(~0u, value, distance));
    }
    if (kWarps == 1) {
      return value;
    }
    __shared__ T warps[kWarps];
    __syncthreads(); // The last join's values are read.
    if (threadIdx.x % 32 == 0) {
      warps[threadIdx.x / 32] = value;
    }
    __syncthreads();
    value = warps[0];
    for (int i = 1; i < kWarps; ++i) {
      value = join(value, warps[i]);
    }
    return value;
  }

  template <typename T>
  __device__ static T sum(T value) {
    return join(value, [](T a, T b) { return a + b; });
  }
  __device__ static float max(float value) {
    return join(value, [](float a, float b) { return fmaxf(a, b); });
  }
};

} // namespace vdnn::rt::cuda

#endif
