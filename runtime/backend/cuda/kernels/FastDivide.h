//===- FastDivide.h - division by a number known at launch ----------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_FASTDIVIDE_H
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_FASTDIVIDE_H

#include <cstdint>
#include <cuda_runtime.h>

namespace vdnn::rt::cuda {

/// Divides numbers below 2^31 by one multiplication (Granlund, Montgomery:
/// "Division by invariant integers using multiplication", PLDI 1994).
class FastDivide {
public:
  FastDivide() = default;
  explicit FastDivide(int64_t divisor)
      : divisor_(static_cast<uint32_t>(divisor)) {
    while ((uint64_t{1} << shift_) < divisor_) {
      ++shift_;
    }
    uint64_t excess = (uint64_t{1} << shift_) - divisor_;
    factor_ = static_cast<uint32_t>((excess << 32) / divisor_ + 1);
  }

  __host__ __device__ uint32_t divide(uint32_t number) const {
    auto high = static_cast<uint32_t>((uint64_t{number} * factor_) >> 32);
    return (high + number) >> shift_;
  }
  __host__ __device__ uint32_t divisor() const { return divisor_; }

private:
  uint32_t divisor_ = 1, factor_ = 1, shift_ = 0;
};

} // namespace vdnn::rt::cuda

#endif
