//===- Pool.cpp - maximum and mean over windows, and their gradients ------===//

#include "runtime/backend/cuda/kernels/Pool.h"
#include "runtime/backend/common/PoolShape.h"
#include "runtime/backend/cuda/Factories.h"

#include <algorithm>

namespace vdnn::rt::cuda {

using schedule::TypeT;

namespace {
struct Pool {
  PoolShape shape;
  PoolGeometry geometry;
  Storage storage;
};
} // namespace

static Result<Pool> describe(const Request &request, const TypeT &x,
                             const TypeT &y, bool dilated) {
  Result<PoolShape> shape = PoolShape::parse(request.kernel, x, y, dilated);
  VDNN_TRY(shape.status());
  const PoolShape &s = *shape;
  // The kernels count within an image, and reach a window beyond it.
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  int64_t largest = s.channels;
  bool fits = s.channels >= 1;
  for (size_t d = 0; d < 3; ++d) {
    largest *= std::max(s.in[d], s.out[d]);
    int64_t reach = (s.kernel[d] - 1) * s.dilation[d] + s.padBegin[d] +
                    s.padEnd[d] + s.in[d] + s.kernel[d] + s.stride[d];
    fits = fits && s.in[d] >= 1 && largest <= kMost && reach <= kMost / 2;
  }
  if (!fits) {
    return Error{"an image of shape " + toString(x.shape) +
                 " and its windows need more than 2^31 elements, or none; "
                 "divide the tensor or its windows"};
  }
  PoolGeometry g{};
  g.batch = s.batch;
  g.channels = static_cast<int>(s.channels);
  for (size_t d = 0; d < 3; ++d) {
    g.in[d] = static_cast<int>(s.in[d]);
    g.out[d] = static_cast<int>(s.out[d]);
    g.kernel[d] = static_cast<int>(s.kernel[d]);
    g.stride[d] = static_cast<int>(s.stride[d]);
    g.dilation[d] = static_cast<int>(s.dilation[d]);
    g.padBegin[d] = static_cast<int>(s.padBegin[d]);
    g.padEnd[d] = static_cast<int>(s.padEnd[d]);
  }
  g.includePad = schedule::getInt(request.kernel, "count_include_pad") != 0;
  return Pool{s, g, storageOf(x)};
}

Result<Kernel> createMaxPool(const Request &request) {
  VDNN_TRY(expectArity(request, {1, 1, 1, 2}));
  const TypeT &y = *request.types.writes[0];
  Result<Pool> pool = describe(request, *request.types.reads[0], y, true);
  VDNN_TRY(pool.status());
  bool indexed = request.types.writes.size() == 2;
  if (indexed) {
    VDNN_TRY(pool->shape.expectIndex(*request.types.writes[1], y));
  }
  Kernel kernel;
  kernel.run = [g = pool->geometry, storage = pool->storage,
                indexed](Context &, const Operands &operands) -> Status {
    VDNN_CUDA(launchMaxPool(g, storage, operands.reads[0], operands.writes[0],
                            indexed ? operands.write<int8_t>(1) : nullptr,
                            operands.stream));
    return {};
  };
  return kernel;
}

Result<Kernel> createAvgPool(const Request &request) {
  VDNN_TRY(expectArity(request, {1, 1, 1, 1}));
  Result<Pool> pool = describe(request, *request.types.reads[0],
                               *request.types.writes[0], false);
  VDNN_TRY(pool.status());
  Kernel kernel;
  kernel.run = [g = pool->geometry, storage = pool->storage](
                   Context &, const Operands &operands) -> Status {
    VDNN_CUDA(launchAvgPool(g, storage, operands.reads[0], operands.writes[0],
                            operands.stream));
    return {};
  };
  return kernel;
}

Result<Kernel> createMaxPoolBackward(const Request &request) {
  VDNN_TRY(expectArity(request, {2, 3, 1, 1}));
  const TypeT &dy = *request.types.reads[0], &dx = *request.types.writes[0];
  Result<Pool> pool = describe(request, dx, dy, true);
  VDNN_TRY(pool.status());
  Kernel kernel;
  if (request.types.reads.size() == 2) {
    VDNN_TRY(pool->shape.expectIndex(*request.types.reads[1], dy));
    kernel.run = [g = pool->geometry, storage = pool->storage](
                     Context &, const Operands &operands) -> Status {
      VDNN_CUDA(launchMaxPoolBackwardIndexed(
          g, storage, operands.reads[0], operands.read<int8_t>(1),
          operands.writes[0], operands.stream));
      return {};
    };
    return kernel;
  }
  VDNN_TRY(expectSameType(*request.types.reads[1], dx, "x"));
  VDNN_TRY(expectSameType(*request.types.reads[2], dy, "y"));
  kernel.run = [g = pool->geometry, storage = pool->storage](
                   Context &, const Operands &operands) -> Status {
    VDNN_CUDA(launchMaxPoolBackward(g, storage, operands.reads[0],
                                    operands.reads[1], operands.reads[2],
                                    operands.writes[0], operands.stream));
    return {};
  };
  return kernel;
}

Result<Kernel> createAvgPoolBackward(const Request &request) {
  VDNN_TRY(expectArity(request, {1, 1, 1, 1}));
  Result<Pool> pool = describe(request, *request.types.writes[0],
                               *request.types.reads[0], false);
  VDNN_TRY(pool.status());
  Kernel kernel;
  kernel.run = [g = pool->geometry, storage = pool->storage](
                   Context &, const Operands &operands) -> Status {
    VDNN_CUDA(launchAvgPoolBackward(g, storage, operands.reads[0],
                                    operands.writes[0], operands.stream));
    return {};
  };
  return kernel;
}

} // namespace vdnn::rt::cuda
