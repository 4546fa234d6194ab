//===- Rules.h - backward rules by op ---------------------------*- C++ -*-===//

#ifndef VDNN_LIB_TRAINING_RULES_RULES_H
#define VDNN_LIB_TRAINING_RULES_RULES_H

#include "../Tape.h"

#include "llvm/ADT/StringMap.h"

namespace vdnn {

/// Emits the gradients of the operands of a forward op from those of its
/// results and hands them to the tape. Called only where some result has a
/// gradient. Fails with an error at the op.
using BackwardRule = mlir::LogicalResult (*)(mlir::Operation *, Tape &);

class RuleTable {
public:
  /// Registers `Rule` for ops of type `OpT`.
  template <typename OpT, mlir::LogicalResult (*Rule)(OpT, Tape &)>
  void add() {
    rules[OpT::getOperationName()] = [](mlir::Operation *op, Tape &tape) {
      return Rule(mlir::cast<OpT>(op), tape);
    };
  }

  /// The rule of `op`, or null.
  BackwardRule find(mlir::Operation *op) const {
    return rules.lookup(op->getName().getStringRef());
  }

  /// Names of the ops that have a rule, in order, joined by ", ".
  std::string listOps() const;

private:
  llvm::StringMap<BackwardRule> rules;
};

/// One per family of ops; adding an op adds a line to one of them.
void addConvRules(RuleTable &table);
void addLossRules(RuleTable &table);
void addMatMulRules(RuleTable &table);
void addNormRules(RuleTable &table);
void addPointwiseRules(RuleTable &table);
void addPoolRules(RuleTable &table);
void addReduceRules(RuleTable &table);
void addShapeRules(RuleTable &table);

const RuleTable &getRuleTable();

/// The gradient before a ReLU with the output `y`, from the gradient `dy`
/// behind it.
mlir::Value emitReluBackward(Tape &tape, mlir::Location loc, mlir::Value dy,
                             mlir::Value y);

} // namespace vdnn

#endif
