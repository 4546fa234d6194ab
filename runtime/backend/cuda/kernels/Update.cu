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
static __device__ void updateAt(const SgdUpdate &o, float rate, const Sgd &sgd,
                                int64_t at) {
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

/// One block's share of an update.
template <typename G, bool HasVelocity>
static __device__ void updateBlock(const SgdUpdate &update, float rate,
                                   const Sgd &sgd, unsigned block) {
  int64_t at = 4 * (int64_t{block} * kThreads + threadIdx.x);
  if (at + 4 <= update.elements) {
    updateAt<G, HasVelocity, 4>(update, rate, sgd, at);
    return;
  }
  for (; at < update.elements; ++at) {
    updateAt<G, HasVelocity, 1>(update, rate, sgd, at);
  }
}

static unsigned countBlocks(const SgdUpdate &update) {
  return static_cast<unsigned>(ceilDivide(update.elements, 4 * kThreads));
}

template <typename G, bool HasVelocity>
static __global__ void sgdKernel(Sgd sgd, const float *rate, SgdUpdate update) {
  updateBlock<G, HasVelocity>(update, *rate, sgd, blockIdx.x);
}

/// In the constant memory of parameters all threads of a block read the same
/// entry at once; `__grid_constant__` keeps the table there, though it is
/// indexed.
template <typename G, bool HasVelocity>
static __global__ void sgdGroupKernel(const __grid_constant__ SgdGroup group) {
  // The last update that begins at this block or before: an empty one begins
  // where the next one does.
  int found = 0;
  for (int end = group.count; end - found > 1;) {
    int middle = (found + end) / 2;
    (group.firstBlock[middle] <= blockIdx.x ? found : end) = middle;
  }
  updateBlock<G, HasVelocity>(group.updates[found], *group.rate, group.sgd,
                              blockIdx.x - group.firstBlock[found]);
}

template <typename G>
static void launchOf(const Sgd &sgd, const float *rate, const SgdUpdate &update,
                     cudaStream_t stream) {
  auto *kernel = update.velocity ? sgdKernel<G, true> : sgdKernel<G, false>;
  kernel<<<countBlocks(update), kThreads, 0, stream>>>(sgd, rate, update);
}

cudaError_t launchSgd(const Sgd &sgd, const float *rate, Storage gradient,
                      const SgdUpdate &update, cudaStream_t stream) {
  if (update.elements == 0) {
    return cudaSuccess;
  }
  if (gradient == Storage::F32) {
    launchOf<float>(sgd, rate, update, stream);
  } else {
    launchOf<__nv_bfloat16>(sgd, rate, update, stream);
  }
  return cudaGetLastError();
}

template <typename G>
static void launchGroupOf(const SgdGroup &group, unsigned blocks,
                          cudaStream_t stream) {
  auto *kernel = group.updates[0].velocity ? sgdGroupKernel<G, true>
                                           : sgdGroupKernel<G, false>;
  kernel<<<blocks, kThreads, 0, stream>>>(group);
}

cudaError_t launchSgdGroup(SgdGroup group, Storage gradient,
                           cudaStream_t stream) {
  unsigned blocks = 0;
  for (int i = 0; i < group.count; ++i) {
    group.firstBlock[i] = blocks;
    blocks += countBlocks(group.updates[i]);
  }
  if (blocks == 0) {
    return cudaSuccess;
  }
  if (gradient == Storage::F32) {
    launchGroupOf<float>(group, blocks, stream);
  } else {
    launchGroupOf<__nv_bfloat16>(group, blocks, stream);
  }
  return cudaGetLastError();
}

} // namespace vdnn::rt::cuda
