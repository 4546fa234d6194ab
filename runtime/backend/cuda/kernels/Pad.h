//===- Pad.h - rows filled up with zeros, and cut again -------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_PAD_H
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_PAD_H

#include <cstdint>
#include <cuda_runtime.h>

namespace vdnn::rt::cuda {

/// Packed rows of `rowBytes`, an even number of at most 16, beside rows of 16.
struct PadShape {
  int64_t rows;
  int rowBytes, paddedRowBytes = 16;

  uint64_t paddedBytes() const { return rows * paddedRowBytes; }
};

/// `to` is aligned to 16 bytes, `from` to 2.
cudaError_t launchPad(const PadShape &shape, const void *from, void *to,
                      cudaStream_t stream);
/// The other way round.
cudaError_t launchCut(const PadShape &shape, const void *from, void *to,
                      cudaStream_t stream);

} // namespace vdnn::rt::cuda

#endif
