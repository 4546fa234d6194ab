//===- TextLimits.h - what may be given to MLIR's parser ------------------===//

#ifndef VDNN_DIALECT_TEXTLIMITS_H
#define VDNN_DIALECT_TEXTLIMITS_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace vdnn {

/// Why MLIR must not parse a text; nothing where it may. MLIR follows brackets,
/// sums in affine expressions and aliases of aliases by recursion, so that deep
/// ones end its stack; aliases that use others twice double what they stand for
/// with each line. Its binary format is not made for untrusted files.
std::optional<std::string> whyNotParse(llvm::StringRef text);

} // namespace vdnn

#endif
