//===- Weights.cpp - initializers and the parameters made of them ---------===//

#include "Importer.h"
#include "Node.h"

using namespace mlir;
using namespace vdnn;
using namespace vdnn::onnx;

/// Vectors up to this size are untied: biases and scales that an exporter
/// merged because they start with equal values.
static constexpr int64_t maxUntiedElements = 65536;

Start Start::he(double fanIn) {
  return {InitialKind::Normal, 0, std::sqrt(2 / fanIn)};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

LogicalResult Importer::checkInitializer(const vdnn_onnx::TensorProto &proto,
                                         Type element,
                                         ArrayRef<int64_t> shape) {
  auto fail = [&] {
    return std::move(emitError(location)
                     << "initializer '" << proto.name() << "' ");
  };
  if (!element) {
    return fail() << "has elements of type " << dataTypeName(proto.data_type())
                  << ", which is not supported; accepted: FLOAT, DOUBLE, "
                     "FLOAT16, BFLOAT16, INT64, INT32, INT16, INT8, UINT8, "
                     "BOOL";
  }
  std::optional<int64_t> count = countElements(shape);
  if (!count) {
    auto diagnostic = fail() << "has the shape (";
    llvm::interleaveComma(shape, diagnostic);
    return diagnostic << "); sizes of at least 1 and at most 2^40 elements are "
                         "expected";
  }
  int64_t expected = *count * elementBytes(element);
  if (proto.data_location() == vdnn_onnx::TensorProto::EXTERNAL) {
    ArrayRef<char> bytes;
    std::string error;
    if (external.find(proto, expected, bytes, error) ==
        ExternalData::Status::Invalid) {
      return fail() << error;
    }
    return success();
  }
  if (int64_t held = inlineSize(proto, element); held != expected) {
    return fail() << "holds " << held << " bytes; its shape and type need "
                  << expected;
  }
  return success();
}

LogicalResult Importer::addInitializers() {
  for (const auto &proto : model.graph().initializer()) {
    Tensor tensor;
    tensor.element = elementType(&context, proto.data_type());
    tensor.shape = Shape(proto.dims().begin(), proto.dims().end());
    if (proto.name().empty()) {
      return emitError(location) << "an initializer has no name";
    }
    if (failed(checkInitializer(proto, tensor.element, tensor.shape))) {
      return failure();
    }
    weights.push_back(
        {proto.name(), tensor.element, tensor.shape, &proto, nullptr, {}});
    tensor.weight = &weights.back();
    // Integers and scalars are no parameters but numbers of the formula.
    if (!tensor.isFloat() || tensor.shape.empty()) {
      tensor.constant = valuesOf(*tensor.weight);
    }
    names.insert(proto.name());
    if (!tensors.try_emplace(proto.name(), std::move(tensor)).second) {
      return emitError(location)
             << "initializer '" << proto.name() << "' is defined twice";
    }
  }
  return success();
}

std::optional<std::vector<char>> Importer::bytesOf(const Weight &weight) {
  if (weight.proto->data_location() != vdnn_onnx::TensorProto::EXTERNAL) {
    return inlineBytes(*weight.proto, weight.element);
  }
  int64_t expected =
      *countElements(weight.shape) * elementBytes(weight.element);
  ArrayRef<char> bytes;
  std::string error;
  if (external.find(*weight.proto, expected, bytes, error) !=
      ExternalData::Status::Found) {
    return std::nullopt;
  }
  return std::vector<char>(bytes.begin(), bytes.end());
}

std::shared_ptr<const HostTensor> Importer::valuesOf(Weight &weight) {
  if (!weight.values && *countElements(weight.shape) <= maxFoldedElements) {
    if (std::optional<std::vector<char>> bytes = bytesOf(weight)) {
      weight.values = std::make_shared<HostTensor>(
          decode(weight.element, weight.shape, *bytes));
    }
  }
  return weight.values;
}

Weight *Importer::addConstantWeight(StringRef name,
                                    std::shared_ptr<const HostTensor> values) {
  weights.push_back({name.str(),
                     values->element,
                     values->shape,
                     nullptr,
                     std::move(values),
                     {}});
  return &weights.back();
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

FailureOr<Value> Importer::materialize(const Node &node, Weight &weight,
                                       Role role, Start start) {
  // A state is updated by its node, so that no two may share it.
  bool shared = role == Role::Parameter &&
                (!options.untie || weight.shape.size() > 1 ||
                 *countElements(weight.shape) > maxUntiedElements);
  for (Weight::Argument &argument : weight.arguments) {
    if (argument.role == role && (shared || argument.user == node.index())) {
      if (argument.start.guessed) {
        argument.start = start;
      }
      return Value(argument.value);
    }
  }
  std::string name = weight.name;
  if (!weight.arguments.empty()) {
    name = uniqueName(weight.name + "." + node.name().str());
    ++untied.insert({&weight, 1}).first->second;
  }
  auto type = RankedTensorType::get(weight.shape, weight.element);
  BlockArgument value =
      addArgument(type, name, role == Role::Parameter ? "parameter" : "state");
  weight.arguments.push_back({value, name, role, start, node.index()});
  argumentOf[value] = {&weight, weight.arguments.size() - 1};
  return Value(value);
}

void Importer::refineStart(Value value, Start start) {
  auto found = argumentOf.find(value);
  if (found == argumentOf.end()) {
    return;
  }
  auto [weight, number] = found->second;
  if (weight->arguments[number].start.guessed) {
    weight->arguments[number].start = start;
  }
}

void Importer::setArgumentAttributes() {
  for (Weight &weight : weights) {
    // A tensor that the graph itself fills with one number starts with it.
    bool uniform = !weight.proto && weight.values->isUniform();
    for (Weight::Argument &argument : weight.arguments) {
      Start start = argument.start;
      if (uniform) {
        start = {InitialKind::Constant, weight.values->number(0), 0};
      }
      argumentAttributes[argument.value.getArgNumber()].set(
          "vdnn.initial",
          InitialAttr::get(&context, start.kind, start.a, start.b));
    }
  }
}

void Importer::collectWeights() {
  for (Weight &weight : weights) {
    for (Weight::Argument &argument : weight.arguments) {
      StoredTensor tensor{argument.name,
                          storedTypeName(weight.element),
                          {weight.shape.begin(), weight.shape.end()},
                          {}};
      std::optional<std::vector<char>> bytes;
      if (weight.proto) {
        bytes = bytesOf(weight);
      } else if (!weight.values->splat) {
        ArrayRef<char> raw = weight.values->toAttribute().getRawData();
        bytes.emplace(raw.begin(), raw.end());
      }
      if (bytes) {
        tensor.bytes = std::move(*bytes);
        stored.push_back(std::move(tensor));
      }
    }
  }
}
