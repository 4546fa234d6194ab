//===- main.cpp - compiler driver and mlir-opt in one ---------------------===//

#include "Options.h"
#include "Run.h"

#include "vdnn/Import/Import.h"
#include "vdnn/Pipelines/Pipelines.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"

using namespace vdnn;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  mlir::DialectRegistry registry;
  registerDialects(registry);
  registerPassesAndPipelines();
  mlir::MlirOptMainConfig::registerCLOptions(registry);
  mlir::registerAsmPrinterCLOptions();
  mlir::registerMLIRContextCLOptions();
  mlir::registerPassManagerCLOptions();
  rt::Result<tool::Options> options = tool::parseCommandLine(argc, argv);
  if (!options) {
    llvm::errs() << "error: " << options.message() << '\n';
    return 1;
  }
  if (options->listOps) {
    llvm::outs() << listOnnxOps();
    return 0;
  }
  return tool::run(registry, *options);
}
