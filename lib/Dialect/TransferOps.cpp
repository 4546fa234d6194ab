//===- TransferOps.cpp - assembly of the transfer ops ---------------------===//

#include "vdnn/Dialect/VDNN.h"

#pragma GCC diagnostic ignored "-Wunused-parameter" // generated code

#define GET_OP_CLASSES
#include "vdnn/Dialect/TransferOps.cpp.inc"

using namespace mlir;
using namespace vdnn;

// Both copies name the tensor's type once: the type on the host follows from
// it.

/// Reads `%operand attr-dict : tensor<...>`.
static ParseResult parseCopy(OpAsmParser &parser, OperationState &result,
                             OpAsmParser::UnresolvedOperand &operand,
                             RankedTensorType &type) {
  SMLoc where;
  Type parsed;
  if (parser.parseOperand(operand) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() ||
      parser.getCurrentLocation(&where) || parser.parseType(parsed)) {
    return failure();
  }
  type = dyn_cast<RankedTensorType>(parsed);
  if (!type) {
    return parser.emitError(where)
           << "expected the type of a ranked tensor, found " << parsed;
  }
  return success();
}

static void printCopy(OpAsmPrinter &printer, Operation *op,
                      RankedTensorType type) {
  printer << ' ' << op->getOperand(0);
  printer.printOptionalAttrDict(op->getAttrs());
  printer << " : " << type;
}

ParseResult OffloadOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand operand;
  RankedTensorType type;
  if (parseCopy(parser, result, operand, type) ||
      parser.resolveOperand(operand, type, result.operands)) {
    return failure();
  }
  result.addTypes({HostType::get(parser.getContext(), type),
                   TokenType::get(parser.getContext())});
  return success();
}

void OffloadOp::print(OpAsmPrinter &printer) {
  printCopy(printer, *this, cast<RankedTensorType>(getX().getType()));
}

LogicalResult OffloadOp::verify() {
  if (getHost().getType().getTensor() != getX().getType()) {
    return emitOpError()
           << "expected a result on the host of the operand's type "
           << getX().getType() << ", found " << getHost().getType().getTensor();
  }
  return success();
}

ParseResult PrefetchOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand operand;
  RankedTensorType type;
  if (parseCopy(parser, result, operand, type) ||
      parser.resolveOperand(operand, HostType::get(parser.getContext(), type),
                            result.operands)) {
    return failure();
  }
  result.addTypes(type);
  return success();
}

void PrefetchOp::print(OpAsmPrinter &printer) {
  printCopy(printer, *this, cast<RankedTensorType>(getX().getType()));
}

LogicalResult PrefetchOp::verify() {
  if (getHost().getType().getTensor() != getX().getType()) {
    return emitOpError() << "expected a result of the type "
                         << getHost().getType().getTensor()
                         << " that lies on the host, found "
                         << getX().getType();
  }
  return success();
}
