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

/// N neighbouring elements. `G`: the gradient's type.
template <typename G, bool HasVelocity, int N>
static __device__ void updateAt(const SgdOperands &o, float rate,
                                const Sgd &sgd, int64_t at) {
  float w[N], g[N], v[N] = {};
  load(w, o.parameter + at);
  load(g, static_cast<const G *>(o.gradient) + at);
  if (HasVelocity) {
    load(v, o.velocity + at);
  }
#pragma unroll
  for (int i = 0; i < N; ++i) {
    update<HasVelocity>(w[i], g[i], v[i], rate, sgd);
  }
  store(o.newParameter + at, w);
  if (HasVelocity) {
    store(o.newVelocity + at, v);
  }
  if (o.copy) {
    store(static_cast<__nv_bfloat16 *>(o.copy) + at, w);
  }
}

template <typename G, bool HasVelocity>
static __global__ void sgdKernel(Sgd sgd, SgdOperands operands,
                                 int64_t elements) {
  int64_t at = 4 * (int64_t{blockIdx.x} * kThreads + threadIdx.x);
  float rate = *operands.rate;
  if (at + 4 <= elements) {
    updateAt<G, HasVelocity, 4>(operands, rate, sgd, at);
    return;
  }
  for (; at < elements; ++at) {
    updateAt<G, HasVelocity, 1>(operands, rate, sgd, at);
  }
}

template <typename G>
static void launchOf(const Sgd &sgd, const SgdOperands &operands,
                     int64_t elements, cudaStream_t stream) {
  auto blocks = static_cast<unsigned>(ceilDivide(elements, 4 * kThreads));
  auto *kernel = operands.velocity ? sgdKernel<G, true> : sgdKernel<G, false>;
  kernel<<<blocks, kThreads, 0, stream>>>(sgd, operands, elements);
}

cudaError_t launchSgd(const Sgd &sgd, const SgdOperands &operands,
                      int64_t elements, cudaStream_t stream) {
  if (elements == 0) {
    return cudaSuccess;
  }
  if (operands.gradientStorage == Storage::F32) {
    launchOf<float>(sgd, operands, elements, stream);
  } else {
    launchOf<__nv_bfloat16>(sgd, operands, elements, stream);
  }
  return cudaGetLastError();
}

} // namespace vdnn::rt::cuda
