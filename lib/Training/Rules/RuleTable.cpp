//===- RuleTable.cpp - backward rules by op -------------------------------===//

#include "Rules.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace vdnn;

std::string RuleTable::listOps() const {
  llvm::SmallVector<llvm::StringRef> names(rules.keys());
  llvm::sort(names);
  return llvm::join(names, ", ");
}

const RuleTable &vdnn::getRuleTable() {
  static const RuleTable table = [] {
    RuleTable result;
    addConvRules(result);
    addLossRules(result);
    addMatMulRules(result);
    addNormRules(result);
    addPointwiseRules(result);
    addPoolRules(result);
    addReduceRules(result);
    addShapeRules(result);
    return result;
  }();
  return table;
}
