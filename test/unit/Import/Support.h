//===- Support.h - importing in tests -------------------------------------===//

#ifndef VDNN_TEST_UNIT_IMPORT_SUPPORT_H
#define VDNN_TEST_UNIT_IMPORT_SUPPORT_H

#include "onnx.pb.h"
#include "vdnn/Dialect/VDNN.h"
#include "vdnn/Import/Import.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <fstream>
#include <iterator>
#include <string>

namespace vdnn::test {

/// One import and what it said.
struct Import {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::string messages;
  ImportedModel model;

  Import(const std::string &path, const ImportOptions &options) {
    mlir::ScopedDiagnosticHandler handler(&context,
                                          [&](mlir::Diagnostic &diagnostic) {
                                            messages += diagnostic.str() + "\n";
                                            return mlir::success();
                                          });
    model = importOnnx(context, path, options);
  }
  bool succeeded() { return bool(model.module); }
};

inline std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

} // namespace vdnn::test

#endif
