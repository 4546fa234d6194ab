//===- Kernel.cpp - compute ops and types in the terms of the schedule ----===//

#include "vdnn/Target/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

#include <memory>

using namespace mlir;
using namespace vdnn;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

schedule::ElementType vdnn::toElementType(Type type) {
  using schedule::ElementType;
  Type element = getElementTypeOrSelf(type);
  if (element.isF32()) {
    return ElementType::F32;
  }
  if (element.isF16()) {
    return ElementType::F16;
  }
  if (element.isBF16()) {
    return ElementType::BF16;
  }
  if (element.isF64()) {
    return ElementType::F64;
  }
  bool isUnsigned = element.isUnsignedInteger();
  switch (element.getIntOrFloatBitWidth()) {
  case 1:
    return ElementType::Bool;
  case 8:
    return isUnsigned ? ElementType::U8 : ElementType::I8;
  case 16:
    return isUnsigned ? ElementType::U16 : ElementType::I16;
  case 32:
    return isUnsigned ? ElementType::U32 : ElementType::I32;
  default:
    return isUnsigned ? ElementType::U64 : ElementType::I64;
  }
}

schedule::TypeT vdnn::toType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  schedule::TypeT result;
  result.element = toElementType(tensor);
  result.shape.assign(tensor.getShape().begin(), tensor.getShape().end());
  auto layout = dyn_cast_or_null<LayoutAttr>(tensor.getEncoding());
  result.layout = layout && layout.getValue() == Layout::ChannelsLast
                      ? schedule::Layout::ChannelsLast
                      : schedule::Layout::RowMajor;
  return result;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

DictionaryAttr vdnn::getKernelAttributes(Operation *op) {
  NamedAttrList attributes;
  for (StringAttr name : op->getName().getAttributeNames()) {
    if (Attribute value = op->getAttr(name);
        value && name != "operandSegmentSizes") {
      attributes.set(name, value);
    }
  }
  if (auto pool = dyn_cast<MaxPoolBackwardOp>(op)) {
    attributes.set("operands",
                   StringAttr::get(op->getContext(),
                                   pool.getIndex() ? "dy,index" : "dy,x,y"));
  }
  return attributes.getDictionary(op->getContext());
}

static std::unique_ptr<schedule::AttributeT> toAttribute(NamedAttribute named) {
  auto attribute = std::make_unique<schedule::AttributeT>();
  attribute->name = named.getName().str();
  llvm::TypeSwitch<Attribute>(named.getValue())
      .Case([&](DenseI64ArrayAttr array) {
        attribute->ints.assign(array.asArrayRef().begin(),
                               array.asArrayRef().end());
      })
      .Case([&](IntegerAttr integer) {
        bool isBool = integer.getType().isInteger(1);
        attribute->ints = {isBool ? int64_t(integer.getValue().getBoolValue())
                                  : integer.getValue().getSExtValue()};
      })
      .Case([&](UnitAttr) { attribute->ints = {1}; })
      .Case([&](FloatAttr number) {
        attribute->number = number.getValueAsDouble();
      })
      .Case([&](StringAttr text) { attribute->text = text.str(); })
      .Case([&](ReductionAttr reduction) {
        attribute->text = stringifyReduction(reduction.getValue()).str();
      });
  return attribute;
}

//===----------------------------------------------------------------------===//
// The region of a pointwise op
//===----------------------------------------------------------------------===//

static double toDouble(TypedAttr value) {
  if (auto number = dyn_cast<FloatAttr>(value)) {
    return number.getValueAsDouble();
  }
  const APInt &integer = cast<IntegerAttr>(value).getValue();
  return integer.getBitWidth() == 1 ? double(integer.getBoolValue())
                                    : double(integer.getSExtValue());
}

static std::unique_ptr<schedule::ScalarOpT>
toScalarOp(Operation &op, const llvm::DenseMap<Value, uint32_t> &numbers) {
  auto scalar = std::make_unique<schedule::ScalarOpT>();
  scalar->code = op.getName().stripDialect().str();
  scalar->element = toElementType(op.getResult(0).getType());
  for (Value operand : op.getOperands()) {
    scalar->operands.push_back(numbers.lookup(operand));
  }
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](arith::ConstantOp constant) {
        scalar->constant = toDouble(constant.getValue());
      })
      .Case([&](arith::CmpFOp compare) {
        scalar->predicate =
            arith::stringifyCmpFPredicate(compare.getPredicate()).str();
      })
      .Case([&](arith::CmpIOp compare) {
        scalar->predicate =
            arith::stringifyCmpIPredicate(compare.getPredicate()).str();
      });
  return scalar;
}

static void addProgram(Block &body, schedule::KernelT &kernel) {
  llvm::DenseMap<Value, uint32_t> numbers;
  for (BlockArgument argument : body.getArguments()) {
    numbers[argument] = argument.getArgNumber();
  }
  for (Operation &op : body.without_terminator()) {
    kernel.program.push_back(toScalarOp(op, numbers));
    numbers.insert({op.getResult(0), uint32_t(numbers.size())});
  }
  for (Value result : body.getTerminator()->getOperands()) {
    kernel.program_results.push_back(numbers.lookup(result));
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

schedule::KernelT vdnn::toKernel(Operation *op) {
  schedule::KernelT kernel;
  DictionaryAttr attributes;
  StringAttr algorithm;
  if (auto launch = dyn_cast<LaunchOp>(op)) {
    kernel.kind = launch.getKernel().str();
    attributes = launch.getKernelAttributes();
    algorithm = launch.getAlgorithmAttr();
    kernel.nondeterministic = launch.getNondeterministic();
  } else {
    kernel.kind = op->getName().stripDialect().str();
    attributes = getKernelAttributes(op);
    algorithm = op->getAttrOfType<StringAttr>("vdnn.algorithm");
    kernel.nondeterministic = op->hasAttr("vdnn.nondeterministic");
  }
  if (algorithm) {
    kernel.algorithm = algorithm.str();
  }
  for (NamedAttribute attribute : attributes) {
    kernel.attributes.push_back(toAttribute(attribute));
  }
  if (op->getNumRegions() == 1 && !op->getRegion(0).empty()) {
    addProgram(op->getRegion(0).front(), kernel);
  }
  return kernel;
}
