//===- BatchNorm.cpp - batch normalisation, training, inference, gradient -===//

#include "runtime/backend/cuda/kernels/BatchNorm.h"
#include "runtime/backend/cuda/Factories.h"

#include <algorithm>

namespace vdnn::rt::cuda {

using schedule::Layout;
using schedule::TypeT;

/// Checks the activations (result 0 and the listed reads) and the vectors of C
/// elements, which all others are.
static Result<NormGrid> describe(const Request &request,
                                 std::initializer_list<size_t> activations) {
  VDNN_TRY(expectAllF32(request));
  const TypeT &y = *request.types.writes[0];
  if (y.shape.size() < 2) {
    return Error{"expected a batch and channels, found shape " +
                 toString(y.shape)};
  }
  VDNN_TRY(expectLayout(y, Layout::ChannelsLast, "result 0"));
  int64_t channels = y.shape[1];
  for (size_t i = 0; i < request.types.reads.size(); ++i) {
    std::string what = "operand " + std::to_string(i);
    bool activation = std::find(activations.begin(), activations.end(), i) !=
                      activations.end();
    if (activation) {
      VDNN_TRY(expectSameType(*request.types.reads[i], y, what.c_str()));
    } else {
      VDNN_TRY(expectShape(*request.types.reads[i], {channels}, what.c_str()));
    }
  }
  for (size_t i = 1; i < request.types.writes.size(); ++i) {
    VDNN_TRY(expectShape(*request.types.writes[i], {channels},
                         ("result " + std::to_string(i)).c_str()));
  }
  int64_t elements = countElements(y.shape);
  if (elements == 0) {
    return Error{"shape " + toString(y.shape) + " has no elements"};
  }
  if (channels > (1 << 28)) {
    return Error{"shape " + toString(y.shape) +
                 " has too many channels, expected at most 2^28"};
  }
  return NormGrid::of(elements / channels, channels);
}

/// Where the sums and the vectors lie in the workspace.
namespace {
struct NormWorkspace {
  uint64_t sums, vectors, bytes;

  NormWorkspace(const NormGrid &grid, int sumCount, int vectorCount) {
    WorkspacePlan plan;
    uint64_t channels = static_cast<uint64_t>(grid.channels);
    sums = plan.add(static_cast<uint64_t>(sumCount * grid.chunks) * channels *
                    sizeof(double));
    vectors =
        plan.add(static_cast<uint64_t>(vectorCount) * channels * sizeof(float));
    bytes = plan.bytes();
  }
  double *sumsOf(const Operands &operands) const {
    return reinterpret_cast<double *>(
        static_cast<std::byte *>(operands.workspace) + sums);
  }
  float *vectorsOf(const Operands &operands) const {
    return reinterpret_cast<float *>(
        static_cast<std::byte *>(operands.workspace) + vectors);
  }
};
} // namespace

Result<Kernel> createBatchNorm(const Request &request) {
  VDNN_TRY(expectArity(request, {5, 6, 5, 5}));
  Result<NormGrid> grid = describe(request, {0, 5});
  VDNN_TRY(grid.status());
  NormTraining training{};
  training.epsilon = schedule::getNumber(request.kernel, "epsilon");
  training.momentum = schedule::getNumber(request.kernel, "momentum");
  training.unbiased =
      schedule::getInt(request.kernel, "unbiased_running_var") != 0;
  training.relu = schedule::getInt(request.kernel, "relu") != 0;
  bool residual = request.types.reads.size() == 6;
  NormWorkspace workspace(*grid, kNormSums, kNormVectors);
  Kernel kernel;
  kernel.workspaceBytes = workspace.bytes;
  kernel.inPlace = {{3, 3}, {4, 4}};
  if (residual) {
    kernel.inPlace.push_back({5, 0});
  }
  kernel.run = [=, grid = *grid](Context &,
                                 const Operands &operands) -> Status {
    NormTraining launch = training;
    launch.x = operands.reads[0];
    launch.scale = operands.read<float>(1);
    launch.bias = operands.read<float>(2);
    launch.runningMean = operands.read<float>(3);
    launch.runningVar = operands.read<float>(4);
    launch.residual = residual ? operands.reads[5] : nullptr;
    launch.y = operands.writes[0];
    launch.mean = operands.write<float>(1);
    launch.inverse = operands.write<float>(2);
    launch.newMean = operands.write<float>(3);
    launch.newVar = operands.write<float>(4);
    launch.sums = workspace.sumsOf(operands);
    launch.vectors = workspace.vectorsOf(operands);
    VDNN_CUDA(launchBatchNorm(grid, Storage::F32, launch, operands.stream));
    return {};
  };
  return kernel;
}

Result<Kernel> createBatchNormInference(const Request &request) {
  VDNN_TRY(expectArity(request, {5, 5, 1, 1}));
  Result<NormGrid> grid = describe(request, {0});
  VDNN_TRY(grid.status());
  double epsilon = schedule::getNumber(request.kernel, "epsilon");
  Kernel kernel;
  kernel.inPlace = {{0, 0}};
  kernel.run = [=, grid = *grid](Context &,
                                 const Operands &operands) -> Status {
    VDNN_CUDA(launchBatchNormInference(
        grid, Storage::F32,
        {epsilon, operands.reads[0], operands.read<float>(1),
         operands.read<float>(2), operands.read<float>(3),
         operands.read<float>(4), operands.writes[0]},
        operands.stream));
    return {};
  };
  return kernel;
}

Result<Kernel> createBatchNormBackward(const Request &request) {
  bool relu = schedule::getInt(request.kernel, "relu") != 0;
  size_t reads = relu ? 6 : 5; // with a ReLU the bias too
  VDNN_TRY(expectArity(request, {reads, reads, 3, 3}));
  Result<NormGrid> grid = describe(request, {0, 1});
  VDNN_TRY(grid.status());
  NormWorkspace workspace(*grid, kNormGradientSums, kNormGradientVectors);
  Kernel kernel;
  kernel.workspaceBytes = workspace.bytes;
  kernel.inPlace = {{0, 0}, {1, 0}};
  kernel.run = [=, grid = *grid](Context &,
                                 const Operands &operands) -> Status {
    VDNN_CUDA(launchBatchNormBackward(
        grid, Storage::F32,
        {operands.reads[0], operands.reads[1], operands.read<float>(2),
         operands.read<float>(3), operands.read<float>(4),
         relu ? operands.read<float>(5) : nullptr, operands.writes[0],
         operands.write<float>(1), operands.write<float>(2),
         workspace.sumsOf(operands), workspace.vectorsOf(operands)},
        operands.stream));
    return {};
  };
  return kernel;
}

} // namespace vdnn::rt::cuda
