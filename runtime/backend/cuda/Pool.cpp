//===- Pool.cpp - maximum and mean over windows, and their gradients ------===//

#include "runtime/backend/cuda/kernels/Pool.h"
#include "runtime/backend/common/PoolShape.h"
#include "runtime/backend/cuda/Factories.h"

#include <algorithm>

namespace vdnn::rt::cuda {

using schedule::TypeT;

static Result<PoolGeometry> describe(const Request &request, const TypeT &x,
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
  return g;
}

/// The index numbers a window's positions in eight bits.
static Status expectIndex(const TypeT &index, const TypeT &y,
                          const PoolGeometry &g) {
  VDNN_TRY(expectElement(index, schedule::ElementType::I8, "index"));
  VDNN_TRY(expectShape(index, y.shape, "index"));
  VDNN_TRY(expectLayout(index, y.layout, "index"));
  int64_t window = int64_t{g.kernel[0]} * g.kernel[1] * g.kernel[2];
  if (window > 127) {
    return Error{"a window of " + std::to_string(window) +
                 " positions has no index, expected at most 127"};
  }
  return {};
}

Result<Kernel> createMaxPool(const Request &request) {
  VDNN_TRY(expectArity(request, {1, 1, 1, 2}));
  VDNN_TRY(expectAllF32(request, {2}));
  const TypeT &y = *request.types.writes[0];
  Result<PoolGeometry> geometry =
      describe(request, *request.types.reads[0], y, true);
  VDNN_TRY(geometry.status());
  bool indexed = request.types.writes.size() == 2;
  if (indexed) {
    VDNN_TRY(expectIndex(*request.types.writes[1], y, *geometry));
  }
  Kernel kernel;
  kernel.run = [g = *geometry, indexed](Context &,
                                        const Operands &operands) -> Status {
    VDNN_CUDA(launchMaxPool(
        g, Storage::F32, operands.reads[0], operands.writes[0],
        indexed ? operands.write<int8_t>(1) : nullptr, operands.stream));
    return {};
  };
  return kernel;
}

Result<Kernel> createAvgPool(const Request &request) {
  VDNN_TRY(expectArity(request, {1, 1, 1, 1}));
  VDNN_TRY(expectAllF32(request));
  Result<PoolGeometry> geometry = describe(request, *request.types.reads[0],
                                           *request.types.writes[0], false);
  VDNN_TRY(geometry.status());
  Kernel kernel;
  kernel.run = [g = *geometry](Context &, const Operands &operands) -> Status {
    VDNN_CUDA(launchAvgPool(g, Storage::F32, operands.reads[0],
                            operands.writes[0], operands.stream));
    return {};
  };
  return kernel;
}

Result<Kernel> createMaxPoolBackward(const Request &request) {
  VDNN_TRY(expectArity(request, {2, 3, 1, 1}));
  const TypeT &dy = *request.types.reads[0], &dx = *request.types.writes[0];
  Result<PoolGeometry> geometry = describe(request, dx, dy, true);
  VDNN_TRY(geometry.status());
  Kernel kernel;
  if (request.types.reads.size() == 2) {
    VDNN_TRY(expectAllF32(request, {1}));
    VDNN_TRY(expectIndex(*request.types.reads[1], dy, *geometry));
    kernel.run = [g = *geometry](Context &,
                                 const Operands &operands) -> Status {
      VDNN_CUDA(launchMaxPoolBackwardIndexed(
          g, Storage::F32, operands.reads[0], operands.read<int8_t>(1),
          operands.writes[0], operands.stream));
      return {};
    };
    return kernel;
  }
  VDNN_TRY(expectAllF32(request));
  VDNN_TRY(expectSameType(*request.types.reads[1], dx, "x"));
  VDNN_TRY(expectSameType(*request.types.reads[2], dy, "y"));
  kernel.run = [g = *geometry](Context &, const Operands &operands) -> Status {
    VDNN_CUDA(launchMaxPoolBackward(g, Storage::F32, operands.reads[0],
                                    operands.reads[1], operands.reads[2],
                                    operands.writes[0], operands.stream));
    return {};
  };
  return kernel;
}

Result<Kernel> createAvgPoolBackward(const Request &request) {
  VDNN_TRY(expectArity(request, {1, 1, 1, 1}));
  VDNN_TRY(expectAllF32(request));
  Result<PoolGeometry> geometry = describe(request, *request.types.writes[0],
                                           *request.types.reads[0], false);
  VDNN_TRY(geometry.status());
  Kernel kernel;
  kernel.run = [g = *geometry](Context &, const Operands &operands) -> Status {
    VDNN_CUDA(launchAvgPoolBackward(g, Storage::F32, operands.reads[0],
                                    operands.writes[0], operands.stream));
    return {};
  };
  return kernel;
}

} // namespace vdnn::rt::cuda
