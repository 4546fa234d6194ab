//===- Bias.h - a bias and a ReLU behind a convolution --------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_BIAS_H
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_BIAS_H

#include <cstdint>

#include <cuda_runtime.h>

namespace vdnn::rt::cuda {

/// Images; channels are the innermost dimension, or planes of `pixels`
/// elements.
struct BiasShape {
  int64_t batch, channels, pixels;
  bool channelsLast;
};

/// Adds `bias` (channels) to every pixel of `y`, then takes the maximum with
/// zero if `relu` (a NaN stays one). In place; `y` is aligned to 16 bytes.
cudaError_t launchAddBias(const BiasShape &shape, float *y, const float *bias,
                          bool relu, cudaStream_t stream);

} // namespace vdnn::rt::cuda

#endif
