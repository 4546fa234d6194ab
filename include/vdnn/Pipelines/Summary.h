//===- Summary.h - what was planned, for people and for programs ----------===//

#ifndef VDNN_PIPELINES_SUMMARY_H
#define VDNN_PIPELINES_SUMMARY_H

#include "vdnn/Pipelines/Compile.h"

#include "llvm/Support/raw_ostream.h"

namespace vdnn {

/// Some ten lines of text.
void printSummary(llvm::raw_ostream &stream, const std::string &model,
                  const CompileOptions &options, const CompiledModel &compiled);

/// The same facts as one JSON object; sizes in bytes, times in nanoseconds.
void printJsonSummary(llvm::raw_ostream &stream, const std::string &model,
                      const CompileOptions &options,
                      const CompiledModel &compiled);

/// The byte counts that the vDNN paper reports, as a table.
void printPaperAccounting(llvm::raw_ostream &stream,
                          const planning::PaperAccounting &paper);

} // namespace vdnn

#endif
