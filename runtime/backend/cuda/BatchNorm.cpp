//===- BatchNorm.cpp - batch normalisation, training, inference, gradient -===//

#include "runtime/backend/cuda/kernels/BatchNorm.h"
#include "runtime/backend/common/NormShape.h"
#include "runtime/backend/cuda/Factories.h"

#include <algorithm>

namespace vdnn::rt::cuda {

namespace {
struct Norm {
  NormGrid grid;
  Storage storage;
};
} // namespace

static Result<Norm> describe(const Request &request, Result<Rows> rows) {
  VDNN_TRY(rows.status());
  if (rows->channels > (1 << 28)) {
    return Error{"there are " + std::to_string(rows->channels) +
                 " channels, expected at most 2^28"};
  }
  Storage storage = storageOf(*request.types.writes[0]);
  return Norm{NormGrid::of(rows->rows, rows->channels, storage), storage};
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
  Result<Norm> norm = describe(request, Rows::parse(request.types, {0, 5}));
  VDNN_TRY(norm.status());
  NormTraining training{};
  training.epsilon = schedule::getNumber(request.kernel, "epsilon");
  training.momentum = schedule::getNumber(request.kernel, "momentum");
  training.unbiased =
      schedule::getInt(request.kernel, "unbiased_running_var") != 0;
  training.relu = schedule::getInt(request.kernel, "relu") != 0;
  bool residual = request.types.reads.size() == 6;
  NormWorkspace workspace(norm->grid, kNormSums, kNormVectors);
  Kernel kernel;
  kernel.workspaceBytes = workspace.bytes;
  kernel.inPlace = {{3, 3}, {4, 4}};
  if (residual) {
    kernel.inPlace.push_back({5, 0});
  }
  kernel.run = [=, norm = *norm](Context &,
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
    VDNN_CUDA(
        launchBatchNorm(norm.grid, norm.storage, launch, operands.stream));
    return {};
  };
  return kernel;
}

Result<Kernel> createBatchNormInference(const Request &request) {
  VDNN_TRY(expectArity(request, {5, 5, 1, 1}));
  Result<Norm> norm = describe(request, Rows::parse(request.types, {0}));
  VDNN_TRY(norm.status());
  double epsilon = schedule::getNumber(request.kernel, "epsilon");
  Kernel kernel;
  kernel.inPlace = {{0, 0}};
  kernel.run = [=, norm = *norm](Context &,
                                 const Operands &operands) -> Status {
    VDNN_CUDA(launchBatchNormInference(
        norm.grid, norm.storage,
        {epsilon, operands.reads[0], operands.read<float>(1),
         operands.read<float>(2), operands.read<float>(3),
         operands.read<float>(4), operands.writes[0]},
        operands.stream));
    return {};
  };
  return kernel;
}

Result<Kernel> createBatchNormBackward(const Request &request) {
  Result<NormBackwardForm> form =
      NormBackwardForm::parse(request.kernel, request.types);
  VDNN_TRY(form.status());
  Result<Norm> norm = describe(request, form->rows(request.types));
  VDNN_TRY(norm.status());
  NormWorkspace workspace(norm->grid, kNormGradientSums, kNormGradientVectors);
  Kernel kernel;
  kernel.workspaceBytes = workspace.bytes;
  kernel.inPlace = form->inPlace();
  kernel.run = [=, form = *form,
                norm = *norm](Context &, const Operands &operands) -> Status {
    NormGradient launch{};
    launch.dy = operands.reads[0];
    launch.x = operands.reads[1];
    launch.scale = operands.read<float>(2);
    launch.mean = operands.read<float>(3);
    launch.inverse = operands.read<float>(4);
    launch.bias = form.bias ? operands.read<float>(form.bias) : nullptr;
    launch.y = form.y ? operands.reads[form.y] : nullptr;
    launch.addend = form.addend ? operands.reads[form.addend] : nullptr;
    launch.dx = operands.writes[0];
    launch.dscale = operands.write<float>(1);
    launch.dbias = operands.write<float>(2);
    launch.masked = form.y ? operands.writes[3] : nullptr;
    launch.sums = workspace.sumsOf(operands);
    launch.vectors = workspace.vectorsOf(operands);
    VDNN_CUDA(launchBatchNormBackward(norm.grid, norm.storage, launch,
                                      operands.stream));
    return {};
  };
  return kernel;
}

} // namespace vdnn::rt::cuda
