//===- StridedCopy.h - copies between strided views -----------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_STRIDEDCOPY_H
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_STRIDEDCOPY_H

#include <cstddef>
#include <cstdint>
#include <cuda_runtime.h>
#include <vector>

namespace vdnn::rt::cuda {

struct CopyDim {
  int64_t size, from, to; ///< strides in units of what is copied at once
};

/// Dimensions of a copy, outermost in `to` first.
struct CopyDims {
  static constexpr int kMost = 8;
  int count = 0;
  CopyDim dims[kMost] = {};
};

/// A copy of a block of elements between two strided views.
class StridedCopy {
public:
  /// Dimensions in any order, strides in elements of `elementBytes` bytes (1,
  /// 2, 4 or 8). Offsets of the views are multiples of `alignment` bytes, a
  /// power of two.
  StridedCopy(std::vector<CopyDim> dims, uint64_t elementBytes,
              uint64_t alignment);

  /// False: it has more dimensions that cannot be joined than
  /// `CopyDims::kMost`.
  bool fits() const { return fits_; }

  cudaError_t launch(const void *from, void *to, cudaStream_t stream) const;

  /// How it runs: rows of `unitBytes`-wide units or element by element, tiles
  /// that are transposed, or a few planes that are interleaved.
  enum class Method { Empty, Units, Tiles, Planes };
  Method method() const { return method_; }
  int unitBytes() const { return unitBytes_; }
  const CopyDims &dims() const { return dims_; }

private:
  Method method_ = Method::Units;
  int unitBytes_ = 1;
  bool fits_ = true;
  int64_t units_ = 1;
  CopyDims dims_;              ///< but those of `row_` and `column_`
  CopyDim row_ = {1, 0, 0};    ///< along which `from` is contiguous
  CopyDim column_ = {1, 0, 0}; ///< along which `to` is contiguous; of planes
                               ///< that is from one to the next
};

/// The operands of one concatenation that are copied together: rows of parts
/// side by side.
struct ConcatParts {
  static constexpr int kMost = 32;
  int count = 0;
  const void *from[kMost] = {};
  int64_t bytes[kMost] = {}; ///< of a row of the part
};

/// Writes `rows` rows of all parts' rows one after the other. A row of `to`
/// is `toBytes` long, its first part lies at `to`.
cudaError_t launchConcat(const ConcatParts &parts, int64_t rows,
                         int64_t toBytes, void *to, cudaStream_t stream);

} // namespace vdnn::rt::cuda

#endif
