//===- Node.cpp - a node of the graph, as handlers see it -----------------===//

#include "Node.h"

#include <charconv>

using namespace mlir;
using namespace vdnn;
using namespace vdnn::onnx;

Node::Node(Importer &importer, const vdnn_onnx::NodeProto &proto, int64_t opset,
           int64_t index)
    : importer(importer), proto(proto), version(opset), position(index),
      nodeName(proto.name()), location(importer.getLocation()) {
  if (nodeName.empty()) {
    nodeName = proto.op_type() + "_" + std::to_string(index);
  }
  location = NameLoc::get(importer.getBuilder().getStringAttr(nodeName));
}

LogicalResult Node::resolve() {
  for (const std::string &name : proto.input()) {
    const Tensor *tensor = name.empty() ? nullptr : importer.find(name);
    if (!name.empty() && !tensor) {
      return error() << "input '" << name
                     << "' is not defined by an earlier node, an input or an "
                        "initializer; nodes must stand in topological order";
    }
    operands.push_back(tensor);
  }
  while (!operands.empty() && !operands.back()) {
    operands.pop_back();
  }
  return success();
}

InFlightDiagnostic Node::error() const {
  return std::move(emitError(importer.getLocation())
                   << "node '" << nodeName << "' (" << op() << ", opset "
                   << version << "): ");
}

LogicalResult Node::unsupported(const Twine &what,
                                const Twine &accepted) const {
  return error() << what << " is not supported; accepted: " << accepted;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

LogicalResult Node::checkInputs(size_t least, size_t most) const {
  if (operands.size() < least || operands.size() > most) {
    auto diagnostic = error()
                      << "has " << operands.size() << " inputs; " << least;
    if (most != least) {
      diagnostic << " to " << most;
    }
    return diagnostic << " are expected";
  }
  for (size_t i = 0; i < least; ++i) {
    if (!operands[i]) {
      return error() << "input " << i << " is left out, but is required";
    }
  }
  if (outputs() == 0 || proto.output(0).empty()) {
    return error() << "has no first output";
  }
  return success();
}

FailureOr<Value> Node::value(size_t i) const {
  const Tensor &tensor = in(i);
  if (tensor.value) {
    return tensor.value;
  }
  // An initializer is trained; but a scalar is a number of the formula, and
  // integers have no gradient.
  if (tensor.weight && tensor.weight->proto && tensor.isFloat() &&
      !tensor.shape.empty()) {
    return importer.materialize(*this, *tensor.weight, Role::Parameter,
                                Start::guess());
  }
  std::shared_ptr<const HostTensor> known = constant(i);
  if (!known) {
    return error() << "the values of '" << inputName(i)
                   << "' are needed, but are absent or too many";
  }
  return constantOp(*known);
}

FailureOr<Value> Node::parameter(size_t i, Start start) const {
  const Tensor &tensor = in(i);
  if (!tensor.value && tensor.weight && tensor.isFloat()) {
    return importer.materialize(*this, *tensor.weight, Role::Parameter, start);
  }
  FailureOr<Value> result = value(i);
  if (succeeded(result)) {
    importer.refineStart(*result, start);
  }
  return result;
}

FailureOr<Value> Node::state(size_t i, Start start) const {
  const Tensor &tensor = in(i);
  if (!tensor.value && tensor.weight && tensor.isFloat()) {
    return importer.materialize(*this, *tensor.weight, Role::State, start);
  }
  return value(i);
}

std::shared_ptr<const HostTensor> Node::constant(size_t i) const {
  if (!has(i)) {
    return nullptr;
  }
  const Tensor &tensor = in(i);
  if (tensor.constant) {
    return tensor.constant;
  }
  return tensor.weight ? importer.valuesOf(*tensor.weight) : nullptr;
}

bool Node::isConstant() const {
  return llvm::all_of(operands, [](const Tensor *tensor) {
    return !tensor || tensor->constant;
  });
}

FailureOr<Shape> Node::integers(size_t i, StringRef what) const {
  std::shared_ptr<const HostTensor> tensor = constant(i);
  if (!tensor || tensor->isFloat()) {
    return error() << "'" << inputName(i) << "' (" << what
                   << ") must be integers that are known at import";
  }
  if (tensor->size() > maxFoldedElements) {
    return error() << "'" << inputName(i) << "' (" << what << ") has "
                   << tensor->size() << " elements; at most "
                   << maxFoldedElements << " are accepted";
  }
  if (failed(importer.chargeFolding(*this, tensor->size()))) {
    return failure();
  }
  Shape values;
  for (int64_t j = 0; j < tensor->size(); ++j) {
    values.push_back(tensor->integer(j));
  }
  return values;
}

FailureOr<int64_t> Node::normalizeAxis(int64_t axis, int64_t rank) const {
  if (axis < -rank || axis >= rank) {
    return error() << "axis " << axis << " lies outside of a tensor of rank "
                   << rank;
  }
  return axis < 0 ? axis + rank : axis;
}

FailureOr<Shape> Node::normalizeAxes(Shape axes, int64_t rank) const {
  for (int64_t &axis : axes) {
    FailureOr<int64_t> normal = normalizeAxis(axis, rank);
    if (failed(normal)) {
      return failure();
    }
    axis = *normal;
  }
  llvm::sort(axes);
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
    return error() << "an axis is given twice";
  }
  return axes;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const vdnn_onnx::AttributeProto *Node::attribute(StringRef name) const {
  for (const auto &attribute : proto.attribute()) {
    if (StringRef(attribute.name()) == name) {
      return &attribute;
    }
  }
  return nullptr;
}

int64_t Node::integer(StringRef name, int64_t absent) const {
  const auto *found = attribute(name);
  return found && found->has_i() ? found->i() : absent;
}

double vdnn::onnx::shortestDecimal(float number) {
  char text[32];
  char *end = std::to_chars(text, text + sizeof(text), number).ptr;
  double value = number;
  std::from_chars(text, end, value);
  return value;
}

double Node::number(StringRef name, double absent) const {
  const auto *found = attribute(name);
  return found && found->has_f() ? shortestDecimal(found->f()) : absent;
}

std::string Node::text(StringRef name, StringRef absent) const {
  const auto *found = attribute(name);
  return found && found->has_s() ? found->s() : absent.str();
}

std::optional<Shape> Node::list(StringRef name) const {
  const auto *found = attribute(name);
  if (!found) {
    return std::nullopt;
  }
  return Shape(found->ints().begin(), found->ints().end());
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

StringRef Node::outputName(size_t i) const {
  return i < outputs() ? StringRef(proto.output(int(i))) : StringRef();
}

bool Node::isUsed(size_t i) const {
  return !outputName(i).empty() && importer.isUsed(outputName(i));
}

LogicalResult Node::set(size_t i, Value value) const {
  if (outputName(i).empty()) {
    return success();
  }
  if (!countElements(shapeOf(value))) {
    return error() << "its result has too many elements or dimensions";
  }
  Tensor tensor;
  tensor.element = elementOf(value);
  tensor.shape = Shape(shapeOf(value));
  tensor.value = value;
  if (Operation *op = value.getDefiningOp();
      op && op->getNumResults() == 1 && !op->hasAttr("vdnn.names")) {
    nameResults(op, outputName(i));
  }
  return importer.define(*this, outputName(i), std::move(tensor));
}

LogicalResult Node::set(size_t i, HostTensor constant) const {
  if (outputName(i).empty()) {
    return success();
  }
  if (!countElements(constant.shape)) {
    return error() << "its result has no elements or too many";
  }
  if (failed(importer.chargeFolding(*this,
                                    constant.splat ? 1 : constant.size()))) {
    return failure();
  }
  Tensor tensor;
  tensor.element = constant.element;
  tensor.shape = constant.shape;
  tensor.constant = std::make_shared<HostTensor>(std::move(constant));
  return importer.define(*this, outputName(i), std::move(tensor));
}

LogicalResult Node::setConstant(HostTensor constant) const {
  Tensor tensor;
  tensor.element = constant.element;
  tensor.shape = constant.shape;
  tensor.constant = std::make_shared<HostTensor>(std::move(constant));
  if (tensor.isFloat() && tensor.constant->size() > 1) {
    tensor.weight = importer.addConstantWeight(outputName(0), tensor.constant);
  }
  return importer.define(*this, outputName(0), std::move(tensor));
}

LogicalResult Node::forward(size_t i, size_t input) const {
  if (outputName(i).empty()) {
    return success();
  }
  return importer.define(*this, outputName(i), in(input));
}

void Node::nameResults(Operation *op, StringRef name,
                       ArrayRef<StringRef> suffixes) const {
  SmallVector<Attribute> names = {builder().getStringAttr(name)};
  for (StringRef suffix : suffixes) {
    names.push_back(builder().getStringAttr(
        importer.uniqueName((name + "." + suffix).str())));
  }
  op->setAttr("vdnn.names", builder().getArrayAttr(names));
}

Value Node::reshape(Value value, ArrayRef<int64_t> shape) const {
  if (shapeOf(value) == shape) {
    return value;
  }
  auto type = RankedTensorType::get(shape, elementOf(value));
  return builder().create<ReshapeOp>(location, type, value);
}

Value Node::constantOp(const HostTensor &tensor) const {
  return builder().create<ConstantOp>(location, tensor.toAttribute());
}
