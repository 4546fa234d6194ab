//===- Reduce.cpp - reductions over any axes ------------------------------===//
//
// Our own: oneDNN has reductions only as reference code. Sums run in double
// precision (integers in 64 bits). Where the outermost dimension is reduced, it
// is cut into chunks whose number does not depend on the threads, and the
// chunks are joined in order.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/common/ReduceShape.h"
#include "runtime/backend/cpu/Factories.h"
#include "runtime/backend/cpu/Parallel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace vdnn::rt::cpu {

using schedule::ElementType;

namespace {

struct ReducePlan : ReduceShape {
  explicit ReducePlan(ReduceShape shape) : ReduceShape(std::move(shape)) {}

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
bool isNaN(Acc value) {
  if constexpr (std::is_floating_point_v<Acc>) {
    return std::isnan(value);
  } else {
    return false;
  }
}

template <typename Acc>
struct Max {
  static Acc initial() {
    return std::is_floating_point_v<Acc> ? -std::numeric_limits<Acc>::infinity()
                                         : std::numeric_limits<Acc>::lowest();
  }
  static Acc add(Acc acc, Acc value) {
    return value > acc || isNaN(value) ? value : acc;
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
    return value < acc || isNaN(value) ? value : acc;
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
static int64_t accumulate(const ReducePlan &plan, size_t first, Acc *acc,
                          const T *x) {
  if (first == plan.dims.size()) {
    *acc = Op::add(*acc, static_cast<Acc>(*x));
    return 1;
  }
  const ReduceDim &dim = plan.dims[first];
  if (first + 1 == plan.dims.size()) {
    if (dim.reduced) {
      reduceRow<Op, T, Acc>(acc, x, dim.size);
    } else {
      addRow<Op, T, Acc>(acc, x, dim.size);
    }
    return dim.size;
  }
  int64_t step = dim.reduced ? 0 : plan.kept(first + 1), walked = 0;
  for (int64_t i = 0; i < dim.size; ++i) {
    walked +=
        accumulate<Op, T, Acc>(plan, first + 1, acc + i * step, x + walked);
  }
  return walked;
}

template <typename T, typename Acc>
static T finish(const ReducePlan &plan, Acc acc) {
  return static_cast<T>(plan.kind == ReduceKind::Mean
                            ? acc / static_cast<Acc>(plan.reducedElements())
                            : acc);
}

template <typename Op, typename T, typename Acc>
static Kernel makeKernel(const ReducePlan &plan, unsigned threads) {
  int64_t outer = plan.dims.empty() ? 1 : plan.dims[0].size;
  int64_t accumulators = plan.kept(plan.dims.empty() ? 0 : 1);
  int64_t elementsPerIndex = 1;
  for (size_t i = 1; i < plan.dims.size(); ++i) {
    elementsPerIndex *= plan.dims[i].size;
  }
  size_t inner = plan.dims.empty() ? 0 : 1;
  Kernel kernel;
  if (!plan.outerReduced()) {
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
                         accumulate<Op, T, Acc>(plan, inner, acc,
                                                x + i * elementsPerIndex);
                         for (int64_t k = 0; k < accumulators; ++k) {
                           y[i * accumulators + k] = finish<T>(plan, acc[k]);
                         }
                       }
                     });
      return Status();
    };
    return kernel;
  }
  kernel.workspaceBytes =
      static_cast<uint64_t>(plan.chunks() * accumulators) * sizeof(Acc);
  kernel.run = [=](const Operands &operands) {
    const T *x = operands.read<T>(0);
    T *y = operands.write<T>(0);
    Acc *partial = reinterpret_cast<Acc *>(operands.workspace);
    parallelFor(threads, plan.chunks(), [&](int64_t chunk) {
      Acc *acc = partial + chunk * accumulators;
      std::fill_n(acc, accumulators, Op::initial());
      int64_t begin = chunk * plan.chunkSize(),
              end = std::min(begin + plan.chunkSize(), outer);
      if (plan.dims.size() == 1) {
        reduceRow<Op, T, Acc>(acc, x + begin, end - begin);
        return;
      }
      for (int64_t i = begin; i < end; ++i) {
        accumulate<Op, T, Acc>(plan, inner, acc, x + i * elementsPerIndex);
      }
    });
    parallelFor(threads, accumulators, [&](int64_t k) {
      Acc total = Op::initial();
      for (int64_t chunk = 0; chunk < plan.chunks(); ++chunk) {
        total = Op::join(total, partial[chunk * accumulators + k]);
      }
      y[k] = finish<T>(plan, total);
    });
    return Status();
  };
  return kernel;
}

template <typename T>
static Kernel makeKernelOf(const ReducePlan &plan, unsigned threads) {
  using Acc = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;
  switch (plan.kind) {
  case ReduceKind::Max:
    return makeKernel<Max<Acc>, T, Acc>(plan, threads);
  case ReduceKind::Min:
    return makeKernel<Min<Acc>, T, Acc>(plan, threads);
  case ReduceKind::Prod:
    return makeKernel<Prod<Acc>, T, Acc>(plan, threads);
  case ReduceKind::SumSquare:
    return makeKernel<SumSquare<Acc>, T, Acc>(plan, threads);
  default:
    return makeKernel<Sum<Acc>, T, Acc>(plan, threads);
  }
}

Result<Kernel> createReduce(const Request &request) {
  Result<ReduceShape> shape = ReduceShape::parse(request.kernel, request.types);
  VDNN_TRY(shape.status());
  ReducePlan plan(std::move(*shape));
  ElementType element = request.types.reads[0]->element;
  switch (element) {
  case ElementType::F32:
    return makeKernelOf<float>(plan, request.threads);
  case ElementType::F64:
    return makeKernelOf<double>(plan, request.threads);
  case ElementType::I64:
    return makeKernelOf<int64_t>(plan, request.threads);
  case ElementType::I32:
    return makeKernelOf<int32_t>(plan, request.threads);
  default:
    return Error{std::string("element type '") +
                 schedule::EnumNameElementType(element) +
                 "' cannot be reduced, expected 'F32', 'F64', 'I64' or 'I32'"};
  }
}

} // namespace vdnn::rt::cpu
