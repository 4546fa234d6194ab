//===- onnx.cpp - fuzzes the importer -------------------------------------===//

#include "vdnn/Dialect/VDNN.h"
#include "vdnn/Import/Import.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <cstdlib>
#include <fstream>
#include <unistd.h>

using namespace vdnn;

/// Importing must return a module or say why there is none. The importer reads
/// a file, so each input becomes one.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::string path =
      "/dev/shm/vdnn-fuzz-" + std::to_string(::getpid()) + ".onnx";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(data),
             static_cast<std::streamsize>(size));
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  bool explained = false;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        explained |=
            diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
        return mlir::success();
      });
  ImportOptions options;
  options.batch = 2;
  options.training = size % 2 != 0;
  ImportedModel model = importOnnx(context, path, options);
  ::unlink(path.c_str());
  if (!model.module && !explained) {
    std::abort();
  }
  return 0;
}
