//===- Update.cu ----------------------------------------------------------===//
//
// Every product and sum is rounded on its own: the result does not depend on
// what the compiler fuses, so that all schedules of a model agree bit by bit.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/cuda/kernels/Update.h"

#include "runtime/backend/cuda/kernels/Vector.cuh"

namespace vdnn::rt::cuda {

constexpr int kThreads = 256;

/// a + b * c
static __device__ float addProduct(float a, float b, float c) {
  return __fadd_rn(a, __fmul_rn(b, c));
}

template <bool HasVelocity>
static __device__ void update(float &w, float g, float &v, float rate,
                              const Sgd &s) {
  g = addProduct(g, s.decay, w);
  float direction = g;
  if (HasVelocity) {
    v = addProduct(g, s.momentum, v);
    direction = s.nesterov ? addProduct(g, s.momentum, v) : v;
  }
  w = __fsub_rn(w, __fmul_rn(rate, direction));
}

/// N neighbouring elements.
template <bool HasVelocity, int N>
static __device__ void updateAt(float *newParameter, float *newVelocity,
                                const float *parameter, const float *gradient,
                                const float *velocity, float rate,
                                const Sgd &sgd, int64_t at) {
  float w[N], g[N], v[N] = {};
  load(w, parameter + at);
  load(g, gradient + at);
  if (HasVelocity) {
    load(v, velocity + at);
  }
#pragma unroll
  for (int i = 0; i < N; ++i) {
    update<HasVelocity>(w[i], g[i], v[i], rate, sgd);
  }
  store(newParameter + at, w);
  if (HasVelocity) {
    store(newVelocity + at, v);
  }
}

template <bool HasVelocity>
static __global__ void sgdKernel(Sgd sgd, float *newParameter,
                                 float *newVelocity, const float *parameter,
                                 const float *gradient, const float *rate,
                                 const float *velocity, int64_t elements) {
  int64_t at = 4 * (int64_t{blockIdx.x} * kThreads + threadIdx.x);
  float step = *rate;
  if (at + 4 <= elements) {
    updateAt<HasVelocity, 4>(newParameter, newVelocity, parameter, gradient,
                             velocity, step, sgd, at);
    return;
  }
  for (; at < elements; ++at) {
    updateAt<HasVelocity, 1>(newParameter, newVelocity, parameter, gradient,
                             velocity, step, sgd, at);
  }
}

cudaError_t launchSgd(const Sgd &sgd, float *newParameter, float *newVelocity,
                      const float *parameter, const float *gradient,
                      const float *rate, const float *velocity,
                      int64_t elements, cudaStream_t stream) {
  if (elements == 0) {
    return cudaSuccess;
  }
  auto blocks =
      static_cast<unsigned>((elements + 4 * kThreads - 1) / (4 * kThreads));
  if (velocity) {
    sgdKernel<true><<<blocks, kThreads, 0, stream>>>(
        sgd, newParameter, newVelocity, parameter, gradient, rate, velocity,
        elements);
  } else {
    sgdKernel<false><<<blocks, kThreads, 0, stream>>>(
        sgd, newParameter, newVelocity, parameter, gradient, rate, velocity,
        elements);
  }
  return cudaGetLastError();
}

} // namespace vdnn::rt::cuda
