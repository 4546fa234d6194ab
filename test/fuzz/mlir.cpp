//===- mlir.cpp - fuzzes parser and verifiers of the dialect --------------===//

#include "vdnn/Dialect/TextLimits.h"
#include "vdnn/Dialect/VDNN.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // MLIR's lexer looks for the zero that ends a string.
  std::string text(reinterpret_cast<const char *>(data), size);
  if (vdnn::whyNotParse(text)) {
    return 0;
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<vdnn::VDNNDialect, mlir::arith::ArithDialect,
                      mlir::func::FuncDialect, mlir::math::MathDialect>();
  mlir::ScopedDiagnosticHandler handler(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  // Verified too.
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (module) {
    std::string printed;
    llvm::raw_string_ostream stream(printed);
    module->print(stream);
    if (!mlir::parseSourceString<mlir::ModuleOp>(printed, &context)) {
      std::abort(); // what is printed can't be read again
    }
  }
  return 0;
}
