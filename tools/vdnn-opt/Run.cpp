//===- Run.cpp - what vdnn-opt does with its input ------------------------===//

#include "Run.h"

#include "vdnn/Dialect/TextLimits.h"
#include "vdnn/Pipelines/Summary.h"
#include "vdnn/Target/Export.h"
#include "vdnn/Transforms/Passes.h"

#include "runtime/support/AtomicFile.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <filesystem>

using namespace mlir;
using namespace vdnn;
using namespace vdnn::tool;

static int fail(const std::string &message) {
  llvm::errs() << "error: " << message << '\n';
  return 1;
}

/// Whether there is something that is no file: a pipe, /dev/null.
static bool isStream(const std::string &path) {
  std::error_code code;
  std::filesystem::file_status status = std::filesystem::status(path, code);
  return path == "-" || (std::filesystem::exists(status) &&
                         !std::filesystem::is_regular_file(status));
}

/// Writes a file whole or not at all; a stream just gets the bytes.
static rt::Status writeOutput(const std::string &path, StringRef bytes) {
  if (path == "-") {
    llvm::outs() << bytes;
    llvm::outs().flush();
    return {};
  }
  if (isStream(path)) {
    std::error_code code;
    llvm::raw_fd_ostream stream(path, code);
    stream << bytes;
    stream.flush();
    if (code || stream.has_error()) {
      std::string reason = code ? code.message() : stream.error().message();
      stream.clear_error();
      return rt::Error{"cannot write '" + path + "': " + reason};
    }
    return {};
  }
  return rt::writeFile(path, std::string_view(bytes.data(), bytes.size()));
}

static std::string toBytes(const schedule::ScheduleT &schedule) {
  std::vector<uint8_t> bytes = schedule::serialize(schedule);
  return std::string(bytes.begin(), bytes.end());
}

//===--- a model ----------------------------------------------------------===//

/// Warnings, remarks and errors of the compiler as lines on standard error.
static void printDiagnostics(MLIRContext &context) {
  context.getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
    const char *severity = "";
    switch (diagnostic.getSeverity()) {
    case DiagnosticSeverity::Error:
      severity = "error";
      break;
    case DiagnosticSeverity::Warning:
      severity = "warning";
      break;
    case DiagnosticSeverity::Remark:
    case DiagnosticSeverity::Note:
      severity = "note";
      break;
    }
    llvm::errs() << severity << ": ";
    if (auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation())) {
      llvm::errs() << place.getFilename().getValue() << ": ";
    } else if (auto name = dyn_cast<NameLoc>(diagnostic.getLocation())) {
      llvm::errs() << "'" << name.getName().getValue() << "': ";
    }
    llvm::errs() << diagnostic << '\n';
    return success();
  });
}

static rt::Status writeModelWeights(const Options &options,
                                    const std::vector<StoredTensor> &weights) {
  if (weights.empty()) {
    return {};
  }
  if (isStream(options.output)) {
    llvm::errs() << "note: the values of " << weights.size()
                 << " tensors are not written; name a file with -o to get them "
                    "beside it\n";
    return {};
  }
  std::filesystem::path path = options.output;
  path.replace_extension(".safetensors");
  if (rt::Status status = writeWeights(weights, path.string()); !status) {
    return status;
  }
  llvm::errs() << "note: the values of " << weights.size()
               << " tensors are in '" << path.string() << "'\n";
  return {};
}

static int compile(DialectRegistry &registry, const Options &options) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  printDiagnostics(context);
  CompiledModel compiled;
  switch (compileOnnx(context, options.input, options.compile, compiled)) {
  case CompileStatus::Success:
    break;
  case CompileStatus::Failure:
    return 1;
  case CompileStatus::DoesNotFit:
    return 3;
  }
  std::string bytes;
  if (options.compile.emit == Emit::Schedule) {
    bytes = toBytes(*compiled.schedule);
  } else {
    llvm::raw_string_ostream stream(bytes);
    compiled.module->print(stream);
    stream << '\n';
  }
  // The weights first: a plan must not stand there without what it needs.
  bool planned = compiled.lowered.has_value();
  if (planned) {
    if (rt::Status status = writeModelWeights(options, compiled.weights);
        !status) {
      return fail(status.message());
    }
  }
  if (rt::Status status = writeOutput(options.output, bytes); !status) {
    return fail(status.message());
  }
  std::string model = std::filesystem::path(options.input).stem().string();
  if (planned && options.summary == SummaryKind::Text) {
    printSummary(llvm::errs(), model, options.compile, compiled);
    if (options.compile.training &&
        options.compile.training->storage == Storage::Paper) {
      printPaperAccounting(llvm::errs(), compiled.paper);
    }
  } else if (planned && options.summary == SummaryKind::Json) {
    printJsonSummary(llvm::errs(), model, options.compile, compiled);
  }
  return 0;
}

//===--- a module ---------------------------------------------------------===//

/// Passes as mlir-opt runs them, then the binary of the plan that they leave.
static std::optional<std::string>
runToBinary(std::unique_ptr<llvm::MemoryBuffer> buffer,
            DialectRegistry &registry, const MlirOptMainConfig &config) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(buffer), SMLoc());
  SourceMgrDiagnosticHandler handler(*sources, &context);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module) {
    return std::nullopt;
  }
  PassManager manager(&context, (*module)->getName().getStringRef(),
                      PassManager::Nesting::Implicit);
  if (failed(applyPassManagerCLOptions(manager)) ||
      failed(config.setupPassPipeline(manager)) ||
      failed(manager.run(*module))) {
    return std::nullopt;
  }
  FailureOr<PlanOp> plan = getPlan(*module);
  if (failed(plan)) {
    return std::nullopt;
  }
  // Proves it too.
  FailureOr<schedule::ScheduleT> exported = exportSchedule(*plan);
  if (failed(exported)) {
    return std::nullopt;
  }
  return toBytes(*exported);
}

/// Whether the last pass proves the plan.
static bool endsWithProof(PassManager &manager) {
  auto passes = manager.getPasses();
  return !passes.empty() &&
         std::prev(passes.end())->getArgument() == "vdnn-check-plan";
}

static int transform(DialectRegistry &registry, const Options &options) {
  if (!options.modelOptions.empty()) {
    return fail("'" + options.modelOptions.front() +
                "' is for .onnx input; on '" + options.input +
                "' name passes instead, such as --vdnn-plan=\"policy=all\"");
  }
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> buffer =
      openInputFile(options.input, &message);
  if (!buffer) {
    return fail(message);
  }
  if (auto reason = whyNotParse(buffer->getBuffer())) {
    return fail("cannot read '" + options.input + "': " + *reason);
  }
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  std::string bytes;
  if (options.compile.emit == Emit::Schedule) {
    std::optional<std::string> binary =
        runToBinary(std::move(buffer), registry, config);
    if (!binary) {
      return 1;
    }
    bytes = std::move(*binary);
  } else {
    llvm::raw_string_ostream stream(bytes);
    MlirOptMainConfig given = config;
    config.setPassPipelineSetupFn([&](PassManager &manager) {
      if (failed(given.setupPassPipeline(manager))) {
        return failure();
      }
      // A plan is proven in every form that it is written in, once.
      if (!options.unproven && !endsWithProof(manager)) {
        manager.addPass(createCheckPlan());
      }
      return success();
    });
    if (failed(MlirOptMain(stream, std::move(buffer), registry, config))) {
      return 1;
    }
  }
  if (rt::Status status = writeOutput(options.output, bytes); !status) {
    return fail(status.message());
  }
  return 0;
}

int tool::run(DialectRegistry &registry, const Options &options) {
  StringRef input = options.input;
  if (input.ends_with(".onnx")) {
    return compile(registry, options);
  }
  if (input.ends_with(".mlir") || input == "-") {
    return transform(registry, options);
  }
  return fail("'" + options.input +
              "' has an unknown extension; expected a model (.onnx) or a "
              "module (.mlir)");
}
