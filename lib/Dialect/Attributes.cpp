//===- Attributes.cpp - assembly of attributes ----------------------------===//

#include "vdnn/Dialect/VDNN.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace vdnn;

// `#vdnn.initial<constant, 1.0>`, `<normal, 0.0, 0.04>`, `<uniform, -0.1,
// 0.1>`, `<stored>`, `<converted, "w">`: as many numbers as the kind has.
static unsigned numberCount(InitialKind kind) {
  switch (kind) {
  case InitialKind::Stored:
  case InitialKind::Converted:
    return 0;
  case InitialKind::Constant:
    return 1;
  case InitialKind::Normal:
  case InitialKind::Uniform:
    return 2;
  }
  return 0;
}

Attribute InitialAttr::parse(AsmParser &parser, Type) {
  StringRef keyword;
  SMLoc where;
  if (parser.parseLess() || parser.getCurrentLocation(&where) ||
      parser.parseKeyword(&keyword)) {
    return {};
  }
  std::optional<InitialKind> kind = symbolizeInitialKind(keyword);
  if (!kind) {
    parser.emitError(where) << "unknown kind '" << keyword
                            << "' of initial value, expected 'constant', "
                               "'normal', 'uniform', 'stored' or 'converted'";
    return {};
  }
  double numbers[2] = {0, 0};
  for (unsigned i = 0; i < numberCount(*kind); ++i) {
    if (parser.parseComma() || parser.parseFloat(numbers[i])) {
      return {};
    }
  }
  std::string source;
  bool converted = *kind == InitialKind::Converted;
  if ((converted && (parser.parseComma() || parser.parseString(&source))) ||
      parser.parseGreater()) {
    return {};
  }
  MLIRContext *context = parser.getContext();
  return converted ? InitialAttr::get(StringAttr::get(context, source))
                   : InitialAttr::get(context, *kind, numbers[0], numbers[1]);
}

void InitialAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyInitialKind(getKind());
  const double numbers[2] = {getA(), getB()};
  for (unsigned i = 0; i < numberCount(getKind()); ++i) {
    printer << ", ";
    printer.printFloat(APFloat(numbers[i]));
  }
  if (getKind() == InitialKind::Converted) {
    printer << ", ";
    printer.printString(getSource().getValue());
  }
  printer << '>';
}

LogicalResult
LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                           function_ref<InFlightDiagnostic()> emitError) const {
  if (getValue() == Layout::ChannelsLast && shape.size() < 3) {
    return emitError()
           << "expected a rank of at least 3 with channels last, found "
           << shape.size();
  }
  return success();
}
