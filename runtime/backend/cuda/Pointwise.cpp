//===- Pointwise.cpp - a scalar program over every element ----------------===//

#include "runtime/backend/cuda/Compile.h"
#include "runtime/backend/cuda/Factories.h"
#include "runtime/backend/cuda/PointwiseSource.h"

namespace vdnn::rt::cuda {

namespace {

struct Pointwise {
  PointwiseSource source;
  int computeCapability;
  std::shared_ptr<LoadedCode> code = {};

  Status build();
  Status run(const Operands &operands) const;
};

} // namespace

Status Pointwise::build() {
  Result<std::shared_ptr<LoadedCode>> loaded =
      LoadedCode::load(source.text, PointwiseSource::kName, computeCapability);
  VDNN_TRY(loaded.status());
  code = std::move(*loaded);
  return {};
}

Status Pointwise::run(const Operands &operands) const {
  std::vector<void *> pointers(operands.reads.begin(), operands.reads.end());
  pointers.insert(pointers.end(), operands.writes.begin(),
                  operands.writes.end());
  std::vector<void *> arguments;
  for (void *&pointer : pointers) {
    arguments.push_back(&pointer);
  }
  // Little endian: its low half is the 32-bit number.
  int64_t elements = source.elements;
  arguments.push_back(&elements);
  VDNN_CUDA(code->launch(dim3(static_cast<unsigned>(source.blocks())),
                         dim3(PointwiseSource::kBlockSize), arguments.data(),
                         operands.stream));
  return {};
}

Result<Kernel> createPointwise(const Request &request) {
  Result<PointwiseSource> source = generatePointwise(
      request.kernel, request.types, request.device.multiprocessors);
  VDNN_TRY(source.status());
  Kernel kernel;
  kernel.inPlace = source->inPlace;
  if (source->elements == 0) {
    kernel.run = [](Context &, const Operands &) { return Status(); };
    return kernel;
  }
  auto pointwise = std::make_shared<Pointwise>(
      Pointwise{std::move(*source), request.device.computeCapability});
  kernel.build = [pointwise](Context &) -> Result<uint64_t> {
    VDNN_TRY(pointwise->build());
    return uint64_t{0};
  };
  kernel.run = [pointwise](Context &, const Operands &operands) {
    return pointwise->run(operands);
  };
  return kernel;
}

} // namespace vdnn::rt::cuda
