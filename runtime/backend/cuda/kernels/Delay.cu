//===- Delay.cu -----------------------------------------------------------===//

#include "runtime/backend/cuda/kernels/Delay.h"

namespace vdnn::rt::cuda {

static __device__ uint64_t globalTimer() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

static __global__ void delay(uint64_t nanoseconds) {
  uint64_t begin = globalTimer();
  while (globalTimer() - begin < nanoseconds) {
    __nanosleep(1000);
  }
}

cudaError_t launchDelay(uint64_t nanoseconds, cudaStream_t stream) {
  delay<<<1, 1, 0, stream>>>(nanoseconds);
  return cudaGetLastError();
}

} // namespace vdnn::rt::cuda
