//===- Storage.h - element types of activations ---------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_STORAGE_H
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_STORAGE_H

#include <cstdint>

namespace vdnn::rt::cuda {

/// How activations lie in memory; kernels compute in f32.
enum class Storage { F32, BF16 };

/// Elements of 16 bytes.
inline int wideElements(Storage storage) {
  return storage == Storage::F32 ? 4 : 8;
}

/// Neighbouring elements that a thread takes of rows of `size`: the most of 16
/// bytes, 4 and 1 that divide them.
inline int vectorWidth(Storage storage, int64_t size) {
  int wide = wideElements(storage);
  return size % wide == 0 ? wide : size % 4 == 0 ? 4 : 1;
}

inline int64_t ceilDivide(int64_t number, int64_t divisor) {
  return (number + divisor - 1) / divisor;
}

/// The smallest power of two of at least `number`, between `least` and `most`,
/// powers of two.
inline int64_t powerOfTwo(int64_t number, int64_t least, int64_t most) {
  int64_t power = least;
  while (power < number && power < most) {
    power *= 2;
  }
  return power;
}

/// Blocks of 256 threads that fill an H200 once, four on each of 132
/// multiprocessors. A constant: the order of sums may depend on shapes alone.
constexpr int64_t kWaveBlocks = 528;

} // namespace vdnn::rt::cuda

#endif
