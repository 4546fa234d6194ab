//===- Importer.cpp - one model being imported ----------------------------===//

#include "Importer.h"
#include "Table.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace vdnn;
using namespace vdnn::onnx;

ImportedModel vdnn::importOnnx(MLIRContext &context, const std::string &path,
                               const ImportOptions &options) {
  context.loadDialect<VDNNDialect, arith::ArithDialect, func::FuncDialect,
                      math::MathDialect>();
  return Importer(context, path, options).run();
}

Importer::Importer(MLIRContext &context, std::string path,
                   const ImportOptions &options)
    : context(context), path(std::move(path)), options(options),
      location(FileLineColLoc::get(&context, this->path, 0, 0)),
      builder(&context), external(this->path), dims(options.dims) {}

ImportedModel Importer::run() {
  if (failed(readModel()) || failed(readOpsets())) {
    return {};
  }
  module = ModuleOp::create(location);
  builder.setInsertionPointToEnd(module->getBody());
  function = builder.create<func::FuncOp>(location, "main",
                                          builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function.addEntryBlock());
  for (const auto &node : model.graph().node()) {
    for (const std::string &name : node.input()) {
      used.insert(name);
    }
  }
  for (const auto &output : model.graph().output()) {
    used.insert(output.name());
  }
  if (failed(addInitializers()) || failed(bindDimensions()) ||
      failed(addInputs()) || failed(addNodes()) || failed(addOutputs())) {
    return {};
  }
  eraseUnused();
  finishFunction();
  if (failed(verify(*module))) {
    return {};
  }
  collectWeights();
  report();
  return {std::move(module), std::move(stored)};
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

LogicalResult Importer::readModel() {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer) {
    return emitError(location)
           << "cannot read '" << path << "': " << buffer.getError().message();
  }
  size_t size = (*buffer)->getBufferSize();
  if (size > size_t(std::numeric_limits<int>::max())) {
    return emitError(location)
           << "'" << path << "' has " << size
           << " bytes; an ONNX file has less than 2 GiB, and keeps larger "
              "tensors as external data";
  }
  if (!model.ParseFromArray((*buffer)->getBufferStart(), int(size)) ||
      !model.has_graph()) {
    return emitError(location)
           << "'" << path
           << "' is no ONNX model: it is truncated, damaged or another format";
  }
  return success();
}

LogicalResult Importer::readOpsets() {
  for (const auto &opset : model.opset_import()) {
    StringRef domain = opset.domain();
    opsets[domain == "ai.onnx" ? "" : domain.str()] = opset.version();
  }
  auto main = opsets.find("");
  if (main == opsets.end()) {
    return emitError(location) << "the model does not say which opset it uses";
  }
  if (main->second < oldestOpset || main->second > newestOpset) {
    return emitError(location) << "opset " << main->second
                               << " is not supported; accepted: " << oldestOpset
                               << " to " << newestOpset
                               << " (export again, or convert the model with "
                                  "onnx.version_converter)";
  }
  if (model.graph().sparse_initializer_size() != 0) {
    return emitError(location)
           << "sparse initializers are not supported; accepted: dense ones";
  }
  if (model.training_info_size() != 0) {
    emitWarning(location) << "the model's own training step (training_info) is "
                             "not used: only its inference graph is imported";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// Name of a symbolic dimension of an input.
static std::string
dimensionName(const vdnn_onnx::TensorShapeProto::Dimension &dimension,
              StringRef input, int position) {
  return dimension.dim_param().empty() ? (input + "." + Twine(position)).str()
                                       : dimension.dim_param();
}

LogicalResult Importer::bindDimensions() {
  SmallVector<std::pair<std::string, bool>> symbolic; ///< and is it a batch
  for (const auto &input : model.graph().input()) {
    if (tensors.contains(input.name())) {
      continue;
    }
    const auto &shape = input.type().tensor_type().shape();
    for (int i = 0; i < shape.dim_size(); ++i) {
      if (!shape.dim(i).has_dim_value()) {
        symbolic.push_back(
            {dimensionName(shape.dim(i), input.name(), i), i == 0});
      }
    }
  }
  bool batchBound = false;
  for (const auto &[name, isBatch] : symbolic) {
    if (isBatch && options.batch) {
      dims.try_emplace(name, *options.batch);
      batchBound = true;
    }
  }
  if (options.batch && !batchBound) {
    emitWarning(location) << "--batch=" << *options.batch
                          << " has no effect: no input has a symbolic first "
                             "dimension";
  }
  for (const auto &[name, size] : dims) {
    bool known = llvm::any_of(
        symbolic, [&](const auto &entry) { return entry.first == name; });
    if (!known) {
      return emitError(location)
             << "no input has a symbolic dimension '" << name << "'";
    }
    if (size < 1) {
      return emitError(location) << "dimension '" << name << "' is bound to "
                                 << size << "; at least 1 is expected";
    }
  }
  SmallVector<std::string> open;
  for (const auto &[name, isBatch] : symbolic) {
    if (!dims.contains(name) && !llvm::is_contained(open, name)) {
      open.push_back(name);
    }
  }
  if (open.empty()) {
    return success();
  }
  bool batchOpen = llvm::any_of(symbolic, [&](const auto &entry) {
    return entry.second && entry.first == open.front();
  });
  auto diagnostic = emitError(location) << "the size of ";
  llvm::interleaveComma(open, diagnostic, [&](StringRef name) {
    diagnostic << "'" << name << "'";
  });
  diagnostic << " is not known; give it with ";
  if (batchOpen) {
    diagnostic << "--batch=N or ";
  }
  return diagnostic << "--dim " << open.front() << "=N";
}

LogicalResult Importer::addInputs() {
  for (const auto &input : model.graph().input()) {
    // Old models list their initializers among the inputs.
    auto found = tensors.find(input.name());
    if (found != tensors.end() && found->second.value) {
      return emitError(location)
             << "input '" << input.name() << "' is defined twice";
    }
    if (found == tensors.end() && failed(addInput(input))) {
      return failure();
    }
  }
  return success();
}

LogicalResult Importer::addInput(const vdnn_onnx::ValueInfoProto &input) {
  const vdnn_onnx::TypeProto::Tensor &type = input.type().tensor_type();
  if (input.name().empty()) {
    return emitError(location) << "an input has no name";
  }
  if (!input.type().has_tensor_type() || !type.has_shape()) {
    return emitError(location)
           << "input '" << input.name()
           << "' has no tensor type with a shape; one is expected";
  }
  Tensor tensor;
  tensor.element = elementType(&context, type.elem_type());
  if (!tensor.element) {
    return emitError(location)
           << "input '" << input.name() << "' has elements of type "
           << dataTypeName(type.elem_type())
           << ", which is not supported; accepted: FLOAT, DOUBLE, FLOAT16, "
              "BFLOAT16, INT64, INT32, INT16, INT8, UINT64, UINT32, UINT16, "
              "UINT8, "
              "BOOL";
  }
  for (int i = 0; i < type.shape().dim_size(); ++i) {
    const auto &dimension = type.shape().dim(i);
    tensor.shape.push_back(
        dimension.has_dim_value()
            ? dimension.dim_value()
            : dims.at(dimensionName(dimension, input.name(), i)));
  }
  if (!countElements(tensor.shape)) {
    auto diagnostic = emitError(location)
                      << "input '" << input.name() << "' has the shape (";
    llvm::interleaveComma(tensor.shape, diagnostic);
    return diagnostic << "); sizes of at least 1 and at most 2^40 elements are "
                         "expected";
  }
  tensor.value = addArgument(tensor.type(), input.name(), "input");
  tensors[input.name()] = std::move(tensor);
  return success();
}

BlockArgument Importer::addArgument(Type type, StringRef name, StringRef role) {
  NamedAttrList attributes;
  attributes.set("vdnn.name", builder.getStringAttr(name));
  attributes.set("vdnn.role", builder.getStringAttr(role));
  argumentAttributes.push_back(attributes);
  names.insert(name);
  return function.front().addArgument(
      type, NameLoc::get(builder.getStringAttr(name)));
}

Value Importer::scalarInput(StringRef name) {
  Tensor &tensor = tensors[name];
  if (!tensor.value) {
    tensor.element = builder.getI64Type();
    tensor.value = addArgument(tensor.type(), name, "input");
  }
  return tensor.value;
}

//===----------------------------------------------------------------------===//
// Nodes and outputs
//===----------------------------------------------------------------------===//

const Tensor *Importer::find(StringRef name) const {
  auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second;
}

LogicalResult Importer::define(const Node &node, StringRef name,
                               Tensor tensor) {
  if (!tensors.try_emplace(name, std::move(tensor)).second) {
    return node.error() << "its output '" << name << "' is defined twice";
  }
  names.insert(name);
  return success();
}

std::string Importer::uniqueName(StringRef name) {
  std::string result = name.str();
  for (int64_t i = 1; !names.insert(result).second || used.contains(result);
       ++i) {
    result = (name + "_" + Twine(i)).str();
  }
  return result;
}

LogicalResult Importer::chargeFolding(const Node &node, int64_t elements) {
  constexpr int64_t most = int64_t(1) << 24;
  foldedElements += elements;
  if (foldedElements > most) {
    return node.error() << "the model computes more than " << most
                        << " elements from constants; export it with constant "
                           "folding";
  }
  return success();
}

LogicalResult Importer::addNodes() {
  int64_t index = 0;
  for (const auto &proto : model.graph().node()) {
    StringRef domain = proto.domain();
    auto opset = opsets.find(domain == "ai.onnx" ? "" : domain.str());
    Node node(*this, proto, opset == opsets.end() ? 0 : opset->second, index++);
    if (failed(node.resolve()) || failed(importNode(node, domain))) {
      return failure();
    }
  }
  return success();
}

/// A value of its own for a result that is an argument or is returned twice.
static Value copy(OpBuilder &builder, Location location, Value value) {
  auto op = builder.create<PointwiseOp>(location, TypeRange(value.getType()),
                                        ValueRange(value));
  Block &block = op.getBody().emplaceBlock();
  block.addArgument(toScalarType(getElementTypeOrSelf(value)), location);
  OpBuilder::atBlockEnd(&block).create<YieldOp>(location, block.getArguments());
  return op.getResult(0);
}

LogicalResult Importer::addOutputs() {
  if (model.graph().output_size() == 0) {
    return emitError(location) << "the model has no outputs";
  }
  for (const auto &output : model.graph().output()) {
    const Tensor *tensor = find(output.name());
    if (!tensor) {
      return emitError(location)
             << "output '" << output.name() << "' is not defined by any node";
    }
    Value value = tensor->value;
    if (!value) {
      std::shared_ptr<const HostTensor> known =
          tensor->constant ? tensor->constant : valuesOf(*tensor->weight);
      if (!known) {
        return emitError(location) << "output '" << output.name()
                                   << "' is an initializer whose values are "
                                      "absent or too many";
      }
      value = builder.create<ConstantOp>(location, known->toAttribute());
    } else if (isa<BlockArgument>(value) ||
               llvm::is_contained(results, value)) {
      value = copy(builder, location, value);
    }
    results.push_back(value);
    NamedAttrList attributes;
    attributes.set("vdnn.name", builder.getStringAttr(output.name()));
    attributes.set("vdnn.role", builder.getStringAttr("output"));
    resultAttributes.push_back(attributes.getDictionary(&context));
  }
  return success();
}

void Importer::addUpdate(Value argument, Value value) {
  auto [weight, number] = argumentOf.lookup(argument);
  NamedAttrList attributes;
  attributes.set("vdnn.name",
                 builder.getStringAttr(weight->arguments[number].name));
  attributes.set("vdnn.role", builder.getStringAttr("update"));
  updates.push_back({value, attributes.getDictionary(&context)});
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

void Importer::eraseUnused() {
  for (auto &[value, attributes] : updates) {
    results.push_back(value);
    resultAttributes.push_back(attributes);
  }
  builder.create<func::ReturnOp>(location, results);
  Block &body = function.front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body))) {
    if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>()) {
      op.erase();
    }
  }
  // Weights of ops that are gone.
  setArgumentAttributes();
  llvm::BitVector unused(body.getNumArguments());
  SmallVector<NamedAttrList> kept;
  for (BlockArgument argument : body.getArguments()) {
    if (argument.use_empty() && argumentOf.contains(argument)) {
      unused.set(argument.getArgNumber());
    } else {
      kept.push_back(argumentAttributes[argument.getArgNumber()]);
    }
  }
  for (Weight &weight : weights) {
    llvm::erase_if(weight.arguments, [](const Weight::Argument &argument) {
      return argument.value.use_empty();
    });
  }
  argumentOf.clear();
  argumentAttributes = std::move(kept);
  body.eraseArguments(unused);
}

void Importer::finishFunction() {
  Block &body = function.front();
  for (Operation &op : body.without_terminator()) {
    if (op.hasAttr("vdnn.names")) {
      continue;
    }
    std::string base = op.getName().stripDialect().str();
    // A result of the model that is known before the run comes from no node.
    if (auto node = dyn_cast<NameLoc>(op.getLoc())) {
      base = (node.getName().getValue() + "." + base).str();
    }
    SmallVector<Attribute> resultNames;
    for (unsigned i = 0; i < op.getNumResults(); ++i) {
      resultNames.push_back(builder.getStringAttr(uniqueName(base)));
    }
    op.setAttr("vdnn.names", builder.getArrayAttr(resultNames));
  }
  function.setFunctionType(builder.getFunctionType(
      body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
  for (auto [i, attributes] : llvm::enumerate(argumentAttributes)) {
    function.setArgAttrs(unsigned(i), attributes);
  }
  for (auto [i, attributes] : llvm::enumerate(resultAttributes)) {
    function.setResultAttrs(unsigned(i), attributes);
  }
}

void Importer::report() {
  if (!options.training) {
    return;
  }
  if (counts.inferenceBatchNorms != 0) {
    emitRemark(location)
        << counts.inferenceBatchNorms
        << " BatchNormalization nodes that were exported in inference mode are "
           "trained; --bn=frozen keeps their statistics";
  }
  if (counts.batchNorms == 0 && counts.foldedConvs != 0) {
    emitRemark(location)
        << counts.foldedConvs << " of " << counts.convs
        << " convolutions look as if BatchNormalization was folded into them "
           "on export, and are trained without it; export in training mode "
           "and without optimisation to keep it";
  }
  if (!untied.empty()) {
    auto diagnostic = emitRemark(location)
                      << untied.size()
                      << " small parameters that several nodes share are "
                         "trained separately: ";
    llvm::interleaveComma(untied, diagnostic, [&](const auto &entry) {
      diagnostic << "'" << entry.first->name << "' (" << entry.second
                 << " nodes)";
    });
  }
}
