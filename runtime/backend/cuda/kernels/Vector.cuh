//===- Vector.cuh - loads and stores of neighbouring elements -------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_KERNELS_VECTOR_CUH
#define VDNN_RUNTIME_BACKEND_CUDA_KERNELS_VECTOR_CUH

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

namespace vdnn::rt::cuda {

/// What one instruction moves.
template <int Bytes>
struct Raw;
template <>
struct Raw<1> {
  using Type = uint8_t;
};
template <>
struct Raw<2> {
  using Type = uint16_t;
};
template <>
struct Raw<4> {
  using Type = uint32_t;
};
template <>
struct Raw<8> {
  using Type = uint2;
};
template <>
struct Raw<16> {
  using Type = uint4;
};

/// Elements of 16 bytes.
template <typename T>
constexpr int kWide = 16 / sizeof(T);

__device__ inline float toFloat(float value) { return value; }
__device__ inline float toFloat(__nv_bfloat16 value) {
  return __bfloat162float(value);
}
__device__ inline void fromFloat(float &to, float value) { to = value; }
__device__ inline void fromFloat(__nv_bfloat16 &to, float value) {
  to = __float2bfloat16_rn(value);
}

/// N elements from an address aligned to their size, unconverted.
template <int N, typename T>
__device__ inline void loadRaw(T (&values)[N], const T *from) {
  union {
    typename Raw<sizeof(T) * N>::Type raw;
    T elements[N];
  } pack = {*reinterpret_cast<const typename Raw<sizeof(T) * N>::Type *>(from)};
#pragma unroll
  for (int i = 0; i < N; ++i) {
    values[i] = pack.elements[i];
  }
}

template <int N, typename T>
__device__ inline void storeRaw(T *to, const T (&values)[N]) {
  union {
    typename Raw<sizeof(T) * N>::Type raw;
    T elements[N];
  } pack = {};
#pragma unroll
  for (int i = 0; i < N; ++i) {
    pack.elements[i] = values[i];
  }
  *reinterpret_cast<typename Raw<sizeof(T) * N>::Type *>(to) = pack.raw;
}

/// N elements as they were loaded: eight of bf16 take four registers until they
/// are needed as floats.
template <typename T, int N>
struct Pack {
  typename Raw<sizeof(T) * N>::Type raw;
};

template <int N, typename T>
__device__ inline void load(Pack<T, N> &pack, const T *from) {
  pack.raw = *reinterpret_cast<const typename Raw<sizeof(T) * N>::Type *>(from);
}

template <int N, typename T>
__device__ inline void widen(float (&values)[N], const Pack<T, N> &pack) {
  if constexpr (sizeof(T) == 2 && N > 1) {
    union {
      typename Raw<sizeof(T) * N>::Type raw;
      uint32_t words[N / 2];
    } pairs = {pack.raw};
#pragma unroll
    for (int i = 0; i < N / 2; ++i) {
      values[2 * i] = __uint_as_float(pairs.words[i] << 16);
      values[2 * i + 1] = __uint_as_float(pairs.words[i] & 0xFFFF0000u);
    }
  } else {
    T elements[N];
    loadRaw(elements, reinterpret_cast<const T *>(&pack.raw));
#pragma unroll
    for (int i = 0; i < N; ++i) {
      values[i] = toFloat(elements[i]);
    }
  }
}

template <int N, typename T>
__device__ inline void load(float (&values)[N], const T *from) {
  Pack<T, N> pack;
  load(pack, from);
  widen(values, pack);
}

template <int N, typename T>
__device__ inline void store(T *to, const float (&values)[N]) {
  if constexpr (sizeof(T) == 2 && N > 1) {
    union {
      typename Raw<sizeof(T) * N>::Type raw;
      __nv_bfloat162 elements[N / 2];
    } pairs = {};
#pragma unroll
    for (int i = 0; i < N / 2; ++i) {
      pairs.elements[i] =
          __floats2bfloat162_rn(values[2 * i], values[2 * i + 1]);
    }
    *reinterpret_cast<typename Raw<sizeof(T) * N>::Type *>(to) = pairs.raw;
  } else {
    T elements[N];
#pragma unroll
    for (int i = 0; i < N; ++i) {
      fromFloat(elements[i], values[i]);
    }
    storeRaw(to, elements);
  }
}

} // namespace vdnn::rt::cuda

#endif
