//===- Weights.cpp - the values that a plan does not carry ----------------===//

#include "vdnn/Analysis/PlanningProblem.h"
#include "vdnn/Target/Export.h"

#include "runtime/exec/files/Safetensors.h"

#include "llvm/ADT/StringSwitch.h"

#include <filesystem>

using namespace mlir;
using namespace vdnn;

static std::string getDtype(Type element) {
  if (element.isF64()) {
    return "F64";
  }
  if (element.isF32()) {
    return "F32";
  }
  if (element.isF16()) {
    return "F16";
  }
  if (element.isBF16()) {
    return "BF16";
  }
  unsigned width = element.getIntOrFloatBitWidth();
  if (width == 1) {
    return "BOOL";
  }
  return (element.isUnsignedInteger() ? "U" : "I") + std::to_string(width);
}

/// Little-endian bytes in row-major order; booleans as one byte each.
static std::vector<char> getBytes(DenseElementsAttr elements) {
  std::vector<char> bytes;
  auto append = [&](const APInt &bits) {
    unsigned size = (bits.getBitWidth() + 7) / 8;
    const char *first = reinterpret_cast<const char *>(bits.getRawData());
    bytes.insert(bytes.end(), first, first + size);
  };
  if (isa<FloatType>(elements.getElementType())) {
    for (const APFloat &value : elements.getValues<APFloat>()) {
      append(value.bitcastToAPInt());
    }
  } else {
    for (const APInt &value : elements.getValues<APInt>()) {
      append(value);
    }
  }
  return bytes;
}

std::vector<StoredTensor> vdnn::collectConstants(ModuleOp module) {
  std::vector<StoredTensor> stored;
  FailureOr<func::FuncOp> step = getStep(module);
  bool any = succeeded(step) &&
             llvm::any_of(step->getBody().getOps<ConstantOp>(),
                          [](ConstantOp constant) {
                            return getConstantInitial(constant).getKind() ==
                                   InitialKind::Stored;
                          });
  if (!any) {
    return stored;
  }
  // The names are the bridge's to give.
  FailureOr<PlanningProblem> planned =
      buildPlanningProblem(*step, /*allowUnknownCost=*/true);
  if (failed(planned)) {
    return stored;
  }
  for (ConstantOp constant : step->getBody().getOps<ConstantOp>()) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!elements ||
        getConstantInitial(constant).getKind() != InitialKind::Stored) {
      continue;
    }
    StoredTensor tensor;
    tensor.name =
        planned->problem.tensors[planned->tensorOf.lookup(constant.getResult())]
            .name;
    tensor.dtype = getDtype(elements.getElementType());
    ArrayRef<int64_t> shape = elements.getType().getShape();
    tensor.shape.assign(shape.begin(), shape.end());
    tensor.bytes = getBytes(elements);
    stored.push_back(std::move(tensor));
  }
  return stored;
}

static std::optional<schedule::ElementType> getElement(StringRef dtype) {
  using schedule::ElementType;
  return llvm::StringSwitch<std::optional<ElementType>>(dtype)
      .Case("F64", ElementType::F64)
      .Case("F32", ElementType::F32)
      .Case("F16", ElementType::F16)
      .Case("BF16", ElementType::BF16)
      .Case("I64", ElementType::I64)
      .Case("I32", ElementType::I32)
      .Case("I16", ElementType::I16)
      .Case("I8", ElementType::I8)
      .Case("U8", ElementType::U8)
      .Case("U16", ElementType::U16)
      .Case("U32", ElementType::U32)
      .Case("U64", ElementType::U64)
      .Case("BOOL", ElementType::Bool)
      .Default(std::nullopt);
}

rt::Status vdnn::writeWeights(const std::vector<StoredTensor> &weights,
                              const std::string &path) {
  // Trained weights are precious: only a file that an earlier run wrote is
  // replaced.
  std::error_code code;
  if (std::filesystem::exists(path, code)) {
    rt::Result<rt::Safetensors> existing = rt::Safetensors::read(path);
    if (!existing || !existing->metadata().contains("producer") ||
        existing->metadata().at("producer") != "vdnn-opt") {
      return rt::Error{"'" + path +
                       "' exists and is not from vdnn-opt; move it away, or "
                       "give the plan another name with -o"};
    }
  }
  std::vector<rt::HostTensor> tensors;
  for (const StoredTensor &weight : weights) {
    std::optional<schedule::ElementType> element = getElement(weight.dtype);
    if (!element) {
      return rt::Error{"weight '" + weight.name + "' has the element type '" +
                       weight.dtype + "', which plans do not have"};
    }
    rt::HostTensor tensor;
    tensor.name = weight.name;
    tensor.element = *element;
    tensor.shape = weight.shape;
    tensor.data = std::as_bytes(std::span(weight.bytes));
    tensors.push_back(std::move(tensor));
  }
  return rt::writeSafetensors(path, tensors, {{"producer", "vdnn-opt"}});
}
