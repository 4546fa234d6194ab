//===- HostTensor.h - a tensor whose values are known at import -----------===//

#ifndef VDNN_LIB_IMPORT_ONNX_HOSTTENSOR_H
#define VDNN_LIB_IMPORT_ONNX_HOSTTENSOR_H

#include "Proto.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <string>
#include <vector>

namespace vdnn::onnx {

using Shape = llvm::SmallVector<int64_t, 6>;

/// Most elements of a tensor that is computed at import. Larger ones are only
/// held where all their elements are equal.
inline constexpr int64_t maxFoldedElements = 65536;

/// Number of elements; none where it is no shape of a tensor that could exist
/// (a size below 1, more than 2^40 elements, or more than 64 dimensions).
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> shape);

/// Values of a tensor. Integers of every width and booleans are held as
/// int64_t, floating-point numbers as double, rounded to their type.
class HostTensor {
public:
  mlir::Type element;
  Shape shape;
  std::vector<int64_t> integers; ///< of an integer type
  std::vector<double> numbers;   ///< of a floating-point type
  /// All elements are equal and held once.
  bool splat = false;

  static HostTensor ofIntegers(mlir::Type element, Shape shape,
                               std::vector<int64_t> values);
  static HostTensor ofNumbers(mlir::Type element, Shape shape,
                              std::vector<double> values);

  bool isFloat() const { return llvm::isa<mlir::FloatType>(element); }
  int64_t size() const;
  int64_t integer(int64_t i) const { return integers[splat ? 0 : i]; }
  double number(int64_t i) const {
    return isFloat() ? numbers[splat ? 0 : i] : double(integer(i));
  }
  /// All elements have this value.
  bool isAll(double value) const;
  /// All elements are equal (whether held once or not).
  bool isUniform() const;

  /// The same values under another shape of as many elements.
  HostTensor reshaped(Shape to) const;
  /// A tensor of `to` whose element i is element `source[i]` of this one.
  HostTensor gathered(Shape to, llvm::ArrayRef<int64_t> source) const;
  /// This tensor under numpy's broadcasting; none where it cannot be or would
  /// be too large to hold.
  std::optional<HostTensor> broadcast(llvm::ArrayRef<int64_t> to) const;
  /// The values under another type, converted as ONNX's Cast does.
  HostTensor cast(mlir::Type to) const;

  mlir::DenseElementsAttr toAttribute() const;
};

/// `value` rounded to `type`.
double roundTo(mlir::Type type, double value);

/// The result of numpy's broadcasting of two shapes; none where they do not
/// fit.
std::optional<Shape> broadcastShapes(llvm::ArrayRef<int64_t> a,
                                     llvm::ArrayRef<int64_t> b);

/// The element type of a TensorProto.DataType; null where the dialect has none.
mlir::Type elementType(mlir::MLIRContext *context, int32_t dataType);

/// Name of a TensorProto.DataType for messages.
std::string dataTypeName(int32_t dataType);

/// Bytes of one element in memory.
int64_t elementBytes(mlir::Type element);

/// Safetensors' name of an element type.
std::string storedTypeName(mlir::Type element);

/// Number of bytes that the model itself holds of a tensor.
int64_t inlineSize(const vdnn_onnx::TensorProto &tensor, mlir::Type element);

/// Those bytes, little-endian and row major.
std::vector<char> inlineBytes(const vdnn_onnx::TensorProto &tensor,
                              mlir::Type element);

/// Values from as many bytes as the shape needs.
HostTensor decode(mlir::Type element, Shape shape, llvm::ArrayRef<char> bytes);

} // namespace vdnn::onnx

#endif
