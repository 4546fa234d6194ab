//===- BatchNorm.h - batch normalisation, training, inference, gradient ---===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_BATCHNORM_H
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_BATCHNORM_H

#include "runtime/backend/cuda/kernels/Storage.h"

#include <cuda_runtime.h>

namespace vdnn::rt::cuda {

/// A tensor of rows x channels, and how blocks share it: each takes a chunk of
/// rows of a range of channels, with `threadsX` threads along the channels and
/// `threadsY` along the rows.
struct NormGrid {
  int64_t rows = 0, chunkRows = 0;
  int channels = 0;
  int width = 1; ///< channels of a thread: 1, 4 or, in bf16, 8
  int threadsX = 1, threadsY = 1;
  int blocksX = 1, chunks = 1;

  static NormGrid of(int64_t rows, int64_t channels, Storage storage);
};

/// What the workspace holds: sums in double precision per chunk and channel,
/// and floats per channel.
constexpr int kNormSums = 2, kNormVectors = 2;
constexpr int kNormGradientSums = 3, kNormGradientVectors = 4;

struct NormTraining {
  double epsilon, momentum;
  bool unbiased;
  const void *x;
  const float *scale, *bias, *runningMean, *runningVar;
  const void *residual; ///< added to the normalised values, or null
  bool relu;            ///< at the end
  void *y;
  float *mean, *inverse, *newMean, *newVar;
  double *sums;   ///< chunks x kNormSums x channels
  float *vectors; ///< kNormVectors x channels
};
cudaError_t launchBatchNorm(const NormGrid &grid, Storage storage,
                            const NormTraining &arguments, cudaStream_t stream);

struct NormInference {
  double epsilon;
  const void *x;
  const float *scale, *bias, *mean, *variance;
  void *y;
};
cudaError_t launchBatchNormInference(const NormGrid &grid, Storage storage,
                                     const NormInference &arguments,
                                     cudaStream_t stream);

/// With a ReLU either `bias` or `y`, its output, tells where dy counts. With
/// `y`, the gradient is dy plus `addend`, which may be null, and is written to
/// `masked` where it counts.
struct NormGradient {
  const void *dy, *x;
  const float *scale, *mean, *inverse;
  const float *bias;
  const void *y, *addend;
  void *dx, *masked;
  float *dscale, *dbias;
  double *sums;   ///< chunks x kNormGradientSums x channels
  float *vectors; ///< kNormGradientVectors x channels
};
cudaError_t launchBatchNormBackward(const NormGrid &grid, Storage storage,
                                    const NormGradient &arguments,
                                    cudaStream_t stream);

} // namespace vdnn::rt::cuda

#endif
