//===- CommandOps.cpp - assembly and verification of the command ops ------===//

#include "Checks.h"

#include "vdnn/Dialect/VDNN.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVectorExtras.h"

#include <limits>

#pragma GCC diagnostic ignored "-Wunused-parameter" // generated code

#define GET_OP_CLASSES
#include "vdnn/Dialect/CommandOps.cpp.inc"

using namespace mlir;
using namespace vdnn;

//===----------------------------------------------------------------------===//
// Assembly of cmd.launch
//
//   vdnn.cmd.launch "conv" algorithm "direct" nondeterministic on compute
//     (@b1 : tensor<...>, @b2 : tensor<...>) -> (@b3 : tensor<...>)
//     workspace @b4 in_place [0 -> 0] ns 1200 from "layer1.0.conv1" {strides =
//     array<i64: 1, 1>} program { ... }
//
// all on one line but for the program of a pointwise kernel.
//===----------------------------------------------------------------------===//

/// Reads `(@b1 : type, @b2 : type)`.
static ParseResult parseBuffers(OpAsmParser &parser, ArrayAttr &buffers,
                                ArrayAttr &types) {
  SmallVector<Attribute> symbols;
  SmallVector<Type> views;
  if (parser.parseCommaSeparatedList(
          OpAsmParser::Delimiter::Paren, [&]() -> ParseResult {
            StringAttr name;
            Type type;
            if (parser.parseSymbolName(name) || parser.parseColonType(type)) {
              return failure();
            }
            symbols.push_back(FlatSymbolRefAttr::get(name));
            views.push_back(type);
            return success();
          })) {
    return failure();
  }
  buffers = parser.getBuilder().getArrayAttr(symbols);
  types = parser.getBuilder().getTypeArrayAttr(views);
  return success();
}

static void printBuffers(OpAsmPrinter &printer, ArrayAttr buffers,
                         ArrayAttr types) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(buffers, types), printer, [&](auto pair) {
    printer.printAttributeWithoutType(std::get<0>(pair));
    printer << " : " << cast<TypeAttr>(std::get<1>(pair)).getValue();
  });
  printer << ')';
}

/// Reads `[0 -> 0, 2 -> 1]`: the positions one after the other.
static ParseResult parsePairs(OpAsmParser &parser, DenseI64ArrayAttr &pairs) {
  SmallVector<int64_t> positions;
  if (parser.parseCommaSeparatedList(
          OpAsmParser::Delimiter::Square, [&]() -> ParseResult {
            return failure(parser.parseInteger(positions.emplace_back()) ||
                           parser.parseArrow() ||
                           parser.parseInteger(positions.emplace_back()));
          })) {
    return failure();
  }
  pairs = parser.getBuilder().getDenseI64ArrayAttr(positions);
  return success();
}

ParseResult LaunchOp::parse(OpAsmParser &parser, OperationState &result) {
  Properties &properties = result.getOrAddProperties<Properties>();
  StringAttr kernel;
  if (parser.parseAttribute(kernel)) {
    return failure();
  }
  properties.kernel = kernel;
  if (succeeded(parser.parseOptionalKeyword("algorithm"))) {
    StringAttr algorithm;
    if (parser.parseAttribute(algorithm)) {
      return failure();
    }
    properties.algorithm = algorithm;
  }
  if (succeeded(parser.parseOptionalKeyword("nondeterministic"))) {
    properties.nondeterministic = parser.getBuilder().getUnitAttr();
  }

  StringRef stream;
  SMLoc where;
  if (parser.parseKeyword("on") || parser.getCurrentLocation(&where) ||
      parser.parseKeyword(&stream)) {
    return failure();
  }
  std::optional<StreamKind> kind = symbolizeStreamKind(stream);
  if (!kind) {
    return parser.emitError(where) << "unknown stream '" << stream
                                   << "', expected 'compute', 'd2h' or 'h2d'";
  }
  properties.stream = StreamKindAttr::get(parser.getContext(), *kind);

  if (parseBuffers(parser, properties.reads, properties.read_types) ||
      parser.parseArrow() ||
      parseBuffers(parser, properties.writes, properties.write_types)) {
    return failure();
  }
  if (succeeded(parser.parseOptionalKeyword("workspace"))) {
    StringAttr name;
    if (parser.parseSymbolName(name)) {
      return failure();
    }
    properties.workspace = FlatSymbolRefAttr::get(name);
  }
  if (succeeded(parser.parseOptionalKeyword("in_place")) &&
      parsePairs(parser, properties.in_place)) {
    return failure();
  }

  int64_t nanoseconds = 0;
  StringAttr location;
  NamedAttrList attributes;
  if (parser.parseKeyword("ns") || parser.parseInteger(nanoseconds) ||
      parser.parseKeyword("from") || parser.parseAttribute(location) ||
      parser.parseOptionalAttrDict(attributes)) {
    return failure();
  }
  properties.predicted_ns = parser.getBuilder().getI64IntegerAttr(nanoseconds);
  properties.location = location;
  properties.kernel_attributes = attributes.getDictionary(parser.getContext());

  Region *body = result.addRegion();
  if (succeeded(parser.parseOptionalKeyword("program")) &&
      parser.parseRegion(*body)) {
    return failure();
  }
  return parser.parseOptionalAttrDictWithKeyword(result.attributes);
}

void LaunchOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getKernelAttr();
  if (getAlgorithmAttr()) {
    printer << " algorithm " << getAlgorithmAttr();
  }
  if (getNondeterministic()) {
    printer << " nondeterministic";
  }
  printer << " on " << stringifyStreamKind(getStream()) << ' ';
  printBuffers(printer, getReads(), getReadTypes());
  printer << " -> ";
  printBuffers(printer, getWrites(), getWriteTypes());
  if (getWorkspaceAttr()) {
    printer << " workspace ";
    printer.printAttributeWithoutType(getWorkspaceAttr());
  }
  if (std::optional<ArrayRef<int64_t>> pairs = getInPlace()) {
    printer << " in_place [";
    for (size_t i = 0; i + 1 < pairs->size(); i += 2) {
      printer << (i == 0 ? "" : ", ") << (*pairs)[i] << " -> "
              << (*pairs)[i + 1];
    }
    printer << ']';
  }
  printer << " ns " << static_cast<int64_t>(getPredictedNs()) << " from "
          << getLocationAttr();
  printer.printOptionalAttrDict(getKernelAttributes().getValue());
  if (!getBody().empty()) {
    printer << " program ";
    printer.printRegion(getBody());
  }
  SmallVector<StringRef> inherent(getAttributeNames().begin(),
                                  getAttributeNames().end());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), inherent);
}

//===----------------------------------------------------------------------===//
// Verification: each op in itself, then its symbols
//===----------------------------------------------------------------------===//

/// The views of buffers: as many as buffers, and each a type that tensors of
/// the dialect have.
static LogicalResult verifyViews(LaunchOp launch, StringRef what,
                                 ArrayAttr buffers, ArrayAttr types) {
  if (buffers.size() != types.size()) {
    return launch.emitOpError()
           << "expected as many types as buffers " << what << ", found "
           << types.size() << " for " << buffers.size();
  }
  for (Type type : types.getAsValueRange<TypeAttr>()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape() ||
        !isElementType(tensor.getElementType())) {
      return launch.emitOpError()
             << "expected buffers " << what
             << " as tensors of static shape with elements of the "
             << "dialect, found " << type;
    }
  }
  return success();
}

static LogicalResult verifyInPlace(LaunchOp launch,
                                   ArrayRef<int64_t> positions) {
  if (positions.size() % 2 != 0) {
    return launch.emitOpError()
           << "expected pairs of positions in 'in_place', found "
           << positions.size() << " numbers";
  }
  for (size_t i = 0; i < positions.size(); i += 2) {
    int64_t reads = launch.getReads().size();
    int64_t writes = launch.getWrites().size();
    if (positions[i] < 0 || positions[i] >= reads || positions[i + 1] < 0 ||
        positions[i + 1] >= writes) {
      return launch.emitOpError()
             << "expected 'in_place' to pair one of " << reads
             << " reads with one of " << writes << " writes, found "
             << positions[i] << " -> " << positions[i + 1];
    }
  }
  return success();
}

LogicalResult LaunchOp::verify() {
  VDNN_CHECK(verifyViews(*this, "read", getReads(), getReadTypes()));
  VDNN_CHECK(verifyViews(*this, "written", getWrites(), getWriteTypes()));
  VDNN_CHECK(verifyInPlace(*this, getInPlace().value_or(ArrayRef<int64_t>())));
  if (static_cast<int64_t>(getPredictedNs()) < 0) {
    return emitOpError() << "expected a duration of at least 0 ns, found "
                         << static_cast<int64_t>(getPredictedNs());
  }
  for (NamedAttribute attribute : getKernelAttributes()) {
    auto integer = dyn_cast<IntegerAttr>(attribute.getValue());
    bool fits = integer && (integer.getType().isInteger(1) ||
                            integer.getType().isSignlessInteger(64));
    auto number = dyn_cast<FloatAttr>(attribute.getValue());
    bool isDouble = number && number.getType().isF64();
    if (!fits && !isDouble &&
        !isa<UnitAttr, StringAttr, DenseI64ArrayAttr, ReductionAttr>(
            attribute.getValue())) {
      return emitOpError() << "expected kernel attribute '"
                           << attribute.getName().getValue()
                           << "' to be an integer, an array of integers, a "
                              "number, a text, a reduction or a unit, found "
                           << attribute.getValue();
    }
  }
  if ((getKernel() == "pointwise") != !getBody().empty()) {
    return emitOpError() << "expected a program if and only if the kernel is "
                            "'pointwise', found kernel '"
                         << getKernel() << "' with "
                         << (getBody().empty() ? "none" : "one");
  }
  if (getBody().empty()) {
    return success();
  }
  auto elements = [](ArrayAttr types) {
    return llvm::map_to_vector(
        types.getAsValueRange<TypeAttr>(), [](Type type) {
          return cast<RankedTensorType>(type).getElementType();
        });
  };
  return verifyProgram(*this, getBody(), elements(getReadTypes()),
                       elements(getWriteTypes()));
}

static LogicalResult expectNotNegative(Operation *op, StringRef name,
                                       uint64_t number) {
  return expectInRange(op, name, static_cast<int64_t>(number), 0,
                       std::numeric_limits<int64_t>::max());
}

LogicalResult TensorOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getType());
  if (!type || !type.hasStaticShape() ||
      !isElementType(type.getElementType())) {
    return emitOpError() << "expected a tensor of static shape with elements "
                            "of the dialect, found "
                         << getType();
  }
  return expectNotNegative(*this, "bytes", getBytes());
}

LogicalResult BufferOp::verify() {
  VDNN_CHECK(expectNotNegative(*this, "offset", getOffset()));
  VDNN_CHECK(expectNotNegative(*this, "bytes", getBytes()));
  if (!llvm::isPowerOf2_64(getAlignment())) {
    return emitOpError()
           << "expected an alignment that is a power of two, found "
           << getAlignment();
  }
  return success();
}

LogicalResult CopyOp::verify() {
  if (getStream() == StreamKind::Compute) {
    return emitOpError()
           << "expected a copy on the stream 'd2h' or 'h2d', found 'compute'";
  }
  return expectNotNegative(*this, "ns", getPredictedNs());
}

LogicalResult RecordOp::verify() {
  return expectNotNegative(*this, "event", getEvent());
}

LogicalResult WaitOp::verify() {
  return expectNotNegative(*this, "event", getEvent());
}

/// Symbol `name` of the plan around `op` must be a `Target`.
template <typename Target>
static LogicalResult verifySymbol(Operation *op, SymbolTableCollection &symbols,
                                  StringRef what, Attribute name) {
  if (!name) {
    return success();
  }
  auto reference = dyn_cast<FlatSymbolRefAttr>(name);
  if (!reference) {
    return op->emitOpError()
           << "expected the name of a " << Target::getOperationName() << " as "
           << what << ", found '" << name << "'";
  }
  if (!symbols.lookupNearestSymbolFrom<Target>(op, reference)) {
    return op->emitOpError() << what << " '" << name << "' is no "
                             << Target::getOperationName() << " of this plan";
  }
  return success();
}

LogicalResult TensorOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  InitialAttr initial = getInitialAttr();
  StringAttr source = initial ? initial.getSource() : StringAttr();
  if (source &&
      failed(verifySymbol<TensorOp>(*this, symbolTable, "initial",
                                    FlatSymbolRefAttr::get(source)))) {
    return failure();
  }
  return success(succeeded(verifySymbol<BufferOp>(*this, symbolTable, "entry",
                                                  getEntryAttr())) &&
                 succeeded(verifySymbol<BufferOp>(*this, symbolTable, "exit",
                                                  getExitAttr())) &&
                 succeeded(verifySymbol<BufferOp>(*this, symbolTable, "staging",
                                                  getStagingAttr())) &&
                 succeeded(verifySymbol<TensorOp>(
                     *this, symbolTable, "gradient_of", getGradientOfAttr())));
}

LogicalResult BufferOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return verifySymbol<TensorOp>(*this, symbolTable, "tensor", getTensorAttr());
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  for (Attribute read : getReads()) {
    if (failed(verifySymbol<BufferOp>(*this, symbolTable, "read", read))) {
      return failure();
    }
  }
  for (Attribute write : getWrites()) {
    if (failed(verifySymbol<BufferOp>(*this, symbolTable, "write", write))) {
      return failure();
    }
  }
  return verifySymbol<BufferOp>(*this, symbolTable, "workspace",
                                getWorkspaceAttr());
}

LogicalResult CopyOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return success(succeeded(verifySymbol<BufferOp>(*this, symbolTable, "source",
                                                  getSourceAttr())) &&
                 succeeded(verifySymbol<BufferOp>(
                     *this, symbolTable, "destination", getDestinationAttr())));
}
