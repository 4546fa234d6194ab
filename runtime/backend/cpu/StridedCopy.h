//===- StridedCopy.h - copies between strided views -----------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CPU_STRIDEDCOPY_H
#define VDNN_RUNTIME_BACKEND_CPU_STRIDEDCOPY_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vdnn::rt::cpu {

/// A copy of a block of elements between two strided views.
class StridedCopy {
public:
  /// Sizes and strides by dimension, in elements of `elementBytes` bytes (1, 2,
  /// 4 or 8), in any order of dimensions.
  StridedCopy(std::vector<int64_t> sizes, std::vector<int64_t> fromStrides,
              std::vector<int64_t> toStrides, uint64_t elementBytes);

  void run(unsigned threads, std::byte *to, const std::byte *from) const;

private:
  struct Dim {
    int64_t size, from, to;
  };

  /// All dimensions but the two that `run` copies as a tile; outermost first.
  std::vector<Dim> outer_;
  Dim row_ = {1, 0, 0}; ///< the dimension along which `from` is contiguous
  Dim column_ = {
      1, 0,
      0}; ///< the innermost dimension of `to`; all of the tile if both are one
  uint64_t elementBytes_;
};

} // namespace vdnn::rt::cpu

#endif
