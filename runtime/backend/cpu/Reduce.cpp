//===- Reduce.cpp - reductions over any axes ------------------------------===//
//
// Our own: oneDNN has reductions only as reference code. Sums run in double
// precision (integers in 64 bits). Where the outermost dimension is reduced, it
// is cut into chunks whose number does not depend on the threads, and the
// chunks are joined in order.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/cpu/Factories.h"
#include "runtime/backend/cpu/Parallel.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace vdnn::rt::cpu {

using schedule::ElementType;
using schedule::TypeT;

namespace {

struct Dim {
  int64_t size;
  bool reduced;
};

/// The dimensions in the order of memory, neighbours of one kind joined: kinds
/// alternate.
struct ReduceShape {
  std::vector<Dim> dims;
  int64_t reducedElements = 1;
  bool mean = false;

  /// Kept elements from dimension `first` inwards: the accumulators that one
  /// item needs.
  int64_t kept(size_t first) const {
    int64_t count = 1;
    for (size_t i = first; i < dims.size(); ++i) {
      count *= dims[i].reduced ? 1 : dims[i].size;
    }
    return count;
  }
  bool outerReduced() const { return !dims.empty() && dims[0].reduced; }
  int64_t chunkSize() const {
    return (dims[0].size + kMaxChunks - 1) / kMaxChunks;
  }
  int64_t chunks() const {
    return (dims[0].size + chunkSize() - 1) / chunkSize();
  }

  static constexpr int64_t kMaxChunks = 64;
};

template <typename Acc>
struct Sum {
  static Acc initial() { return 0; }
  static Acc add(Acc acc, Acc value) { return acc + value; }
  static Acc join(Acc a, Acc b) { return a + b; }
};
template <typename Acc>
struct SumSquare {
  static Acc initial() { return 0; }
  static Acc add(Acc acc, Acc value) { return acc + value * value; }
  static Acc join(Acc a, Acc b) { return a + b; }
};
template <typename Acc>
struct Prod {
  static Acc initial() { return 1; }
  static Acc add(Acc acc, Acc value) { return acc * value; }
  static Acc join(Acc a, Acc b) { return a * b; }
};
template <typename Acc>
struct Max {
  static Acc initial() {
    return std::is_floating_point_v<Acc> ? -std::numeric_limits<Acc>::infinity()
                                         : std::numeric_limits<Acc>::lowest();
  }
  static Acc add(Acc acc, Acc value) {
    return value > acc || value != value ? value : acc;
  }
  static Acc join(Acc a, Acc b) { return add(a, b); }
};
template <typename Acc>
struct Min {
  static Acc initial() {
    return std::is_floating_point_v<Acc> ? std::numeric_limits<Acc>::infinity()
                                         : std::numeric_limits<Acc>::max();
  }
  static Acc add(Acc acc, Acc value) {
    return value < acc || value != value ? value : acc;
  }
  static Acc join(Acc a, Acc b) { return add(a, b); }
};

} // namespace

template <typename Op, typename T, typename Acc>
VDNN_MULTIVERSION static void addRow(Acc *acc, const T *x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    acc[i] = Op::add(acc[i], static_cast<Acc>(x[i]));
  }
}

/// Reduces a row in eight interleaved lanes, whose order does not depend on the
/// address.
template <typename Op, typename T, typename Acc>
VDNN_MULTIVERSION static void reduceRow(Acc *acc, const T *x, int64_t count) {
  constexpr int64_t kLanes = 8;
  Acc lanes[kLanes];
  std::fill_n(lanes, kLanes, Op::initial());
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = Op::add(lanes[lane], static_cast<Acc>(x[i + lane]));
    }
  }
  Acc total = *acc;
  for (Acc lane : lanes) {
    total = Op::join(total, lane);
  }
  for (; i < count; ++i) {
    total = Op::add(total, static_cast<Acc>(x[i]));
  }
  *acc = total;
}

/// Adds the elements of dimensions `first` and inwards to their accumulators.
/// Returns the elements walked over.
template <typename Op, typename T, typename Acc>
static int64_t accumulate(const ReduceShape &shape, size_t first, Acc *acc,
                          const T *x) {
  if (first == shape.dims.size()) {
    *acc = Op::add(*acc, static_cast<Acc>(*x));
    return 1;
  }
  const Dim &dim = shape.dims[first];
  if (first + 1 == shape.dims.size()) {
    if (dim.reduced) {
      reduceRow<Op, T, Acc>(acc, x, dim.size);
    } else {
      addRow<Op, T, Acc>(acc, x, dim.size);
    }
    return dim.size;
  }
  int64_t step = dim.reduced ? 0 : shape.kept(first + 1), walked = 0;
  for (int64_t i = 0; i < dim.size; ++i) {
    walked +=
        accumulate<Op, T, Acc>(shape, first + 1, acc + i * step, x + walked);
  }
  return walked;
}

template <typename T, typename Acc>
static T finish(const ReduceShape &shape, Acc acc) {
  return static_cast<T>(
      shape.mean ? acc / static_cast<Acc>(shape.reducedElements) : acc);
}

template <typename Op, typename T, typename Acc>
static Kernel makeKernel(const ReduceShape &shape, unsigned threads) {
  int64_t outer = shape.dims.empty() ? 1 : shape.dims[0].size;
  int64_t accumulators = shape.kept(shape.dims.empty() ? 0 : 1);
  int64_t elementsPerIndex = 1;
  for (size_t i = 1; i < shape.dims.size(); ++i) {
    elementsPerIndex *= shape.dims[i].size;
  }
  size_t inner = shape.dims.empty() ? 0 : 1;
  Kernel kernel;
  if (!shape.outerReduced()) {
    // One item per index of the outermost dimension, with accumulators per
    // thread.
    kernel.workspaceBytes =
        static_cast<uint64_t>(threads * accumulators) * sizeof(Acc);
    kernel.run = [=](const Operands &operands) {
      const T *x = operands.read<T>(0);
      T *y = operands.write<T>(0);
      parallelRanges(threads, outer,
                     [&](unsigned thread, int64_t begin, int64_t end) {
                       Acc *acc = reinterpret_cast<Acc *>(operands.workspace) +
                                  thread * accumulators;
                       for (int64_t i = begin; i < end; ++i) {
                         std::fill_n(acc, accumulators, Op::initial());
                         accumulate<Op, T, Acc>(shape, inner, acc,
                                                x + i * elementsPerIndex);
                         for (int64_t k = 0; k < accumulators; ++k) {
                           y[i * accumulators + k] = finish<T>(shape, acc[k]);
                         }
                       }
                     });
      return Status();
    };
    return kernel;
  }
  kernel.workspaceBytes =
      static_cast<uint64_t>(shape.chunks() * accumulators) * sizeof(Acc);
  kernel.run = [=](const Operands &operands) {
    const T *x = operands.read<T>(0);
    T *y = operands.write<T>(0);
    Acc *partial = reinterpret_cast<Acc *>(operands.workspace);
    parallelFor(threads, shape.chunks(), [&](int64_t chunk) {
      Acc *acc = partial + chunk * accumulators;
      std::fill_n(acc, accumulators, Op::initial());
      int64_t begin = chunk * shape.chunkSize(),
              end = std::min(begin + shape.chunkSize(), outer);
      if (shape.dims.size() == 1) {
        reduceRow<Op, T, Acc>(acc, x + begin, end - begin);
        return;
      }
      for (int64_t i = begin; i < end; ++i) {
        accumulate<Op, T, Acc>(shape, inner, acc, x + i * elementsPerIndex);
      }
    });
    parallelFor(threads, accumulators, [&](int64_t k) {
      Acc total = Op::initial();
      for (int64_t chunk = 0; chunk < shape.chunks(); ++chunk) {
        total = Op::join(total, partial[chunk * accumulators + k]);
      }
      y[k] = finish<T>(shape, total);
    });
    return Status();
  };
  return kernel;
}

template <typename T>
static Result<Kernel> makeKernelOf(const std::string &kind,
                                   const ReduceShape &shape, unsigned threads) {
  using Acc = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;
  if (kind == "sum" || kind == "mean") {
    return makeKernel<Sum<Acc>, T, Acc>(shape, threads);
  }
  if (kind == "max") {
    return makeKernel<Max<Acc>, T, Acc>(shape, threads);
  }
  if (kind == "min") {
    return makeKernel<Min<Acc>, T, Acc>(shape, threads);
  }
  if (kind == "prod") {
    return makeKernel<Prod<Acc>, T, Acc>(shape, threads);
  }
  if (kind == "sum_square") {
    return makeKernel<SumSquare<Acc>, T, Acc>(shape, threads);
  }
  return Error{
      "unknown reduction '" + kind +
      "', expected 'sum', 'mean', 'max', 'min', 'prod' or 'sum_square'"};
}

Result<Kernel> createReduce(const Request &request) {
  VDNN_TRY(expectArity(request, {1, 1, 1, 1}));
  const TypeT &x = *request.types.reads[0], &y = *request.types.writes[0];
  VDNN_TRY(expectElement(y, x.element, "the result"));
  VDNN_TRY(expectLayout(y, x.layout, "the result"));
  std::vector<bool> reduced(x.shape.size());
  std::vector<int64_t> expected = x.shape;
  for (int64_t axis : schedule::getInts(request.kernel, "axes")) {
    if (axis < 0 || axis >= static_cast<int64_t>(x.shape.size())) {
      return Error{"axis " + std::to_string(axis) +
                   " is outside the rank of shape " + toString(x.shape)};
    }
    reduced[axis] = true;
    expected[axis] = 1;
  }
  VDNN_TRY(expectShape(y, expected, "the result"));
  if (countElements(x.shape) == 0) {
    return Error{"shape " + toString(x.shape) + " has no elements"};
  }
  ReduceShape shape;
  std::string kind = schedule::getText(request.kernel, "kind");
  shape.mean = kind == "mean";
  for (size_t dim : memoryOrder(x)) {
    if (x.shape[dim] == 1) {
      continue;
    }
    shape.reducedElements *= reduced[dim] ? x.shape[dim] : 1;
    if (!shape.dims.empty() && shape.dims.back().reduced == reduced[dim]) {
      shape.dims.back().size *= x.shape[dim];
    } else {
      shape.dims.push_back({x.shape[dim], reduced[dim]});
    }
  }
  switch (x.element) {
  case ElementType::F32:
    return makeKernelOf<float>(kind, shape, request.threads);
  case ElementType::F64:
    return makeKernelOf<double>(kind, shape, request.threads);
  case ElementType::I64:
    return makeKernelOf<int64_t>(kind, shape, request.threads);
  case ElementType::I32:
    return makeKernelOf<int32_t>(kind, shape, request.threads);
  default:
    return Error{std::string("element type '") +
                 schedule::EnumNameElementType(x.element) +
                 "' cannot be reduced, expected 'F32', 'F64', 'I64' or 'I32'"};
  }
}

} // namespace vdnn::rt::cpu
