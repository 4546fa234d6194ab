//===- Options.h - the command line of vdnn-opt ---------------------------===//

#ifndef VDNN_TOOLS_VDNNOPT_OPTIONS_H
#define VDNN_TOOLS_VDNNOPT_OPTIONS_H

#include "vdnn/Pipelines/Compile.h"

#include "runtime/support/Error.h"

namespace vdnn::tool {

enum class SummaryKind { None, Text, Json };

struct Options {
  std::string input;
  std::string output;
  CompileOptions compile;
  SummaryKind summary = SummaryKind::Text;
  /// Plans are written as text without their proof.
  bool unproven = false;
  bool listOps = false;
  /// Options that say something about a model were given; they mean nothing for
  /// a `.mlir` input.
  std::vector<std::string> modelOptions;
};

/// Parses the command line; prints help or errors of syntax and exits where
/// there are any. What the options say about each other is checked here too.
rt::Result<Options> parseCommandLine(int argc, char **argv);

/// "6GiB", "1.5G", "800M", "4096": bytes. Units with an i are powers of 1024,
/// those without of 1000.
rt::Result<int64_t> parseBytes(const std::string &text);

} // namespace vdnn::tool

#endif
