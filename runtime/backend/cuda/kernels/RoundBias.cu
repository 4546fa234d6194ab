//===- RoundBias.cu -------------------------------------------------------===//

#include "runtime/backend/cuda/kernels/RoundBias.h"

namespace vdnn::rt::cuda {

static constexpr int kThreads = 256;

static __global__ void roundBias(const float *__restrict__ from,
                                 __nv_bfloat16 *__restrict__ to,
                                 int64_t count) {
  int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) {
    to[i] = __float2bfloat16_rn(from[i]);
  }
}

cudaError_t launchRoundBias(const float *from, __nv_bfloat16 *to, int64_t count,
                            cudaStream_t stream) {
  auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  roundBias<<<blocks, kThreads, 0, stream>>>(from, to, count);
  return cudaGetLastError();
}

} // namespace vdnn::rt::cuda
