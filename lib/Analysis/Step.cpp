//===- Step.cpp - small facts about steps, tensors and targets ------------===//

#include "vdnn/Analysis/PlanningProblem.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace vdnn;

Layout vdnn::getLayout(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto layout = tensor ? dyn_cast_or_null<LayoutAttr>(tensor.getEncoding())
                       : LayoutAttr();
  return layout ? layout.getValue() : Layout::RowMajor;
}

bool vdnn::isFreeReorder(RankedTensorType type) {
  if (type.getRank() < 3 || type.getDimSize(1) == 1) {
    return true;
  }
  return llvm::all_of(type.getShape().drop_front(2),
                      [](int64_t size) { return size == 1; });
}

bool vdnn::isViewOp(Operation *op) {
  if (auto reorder = dyn_cast<ReorderOp>(op)) {
    return isFreeReorder(cast<RankedTensorType>(reorder.getX().getType()));
  }
  auto compute = dyn_cast<ComputeOp>(op);
  return compute && compute.isView();
}

InitialAttr vdnn::getConstantInitial(ConstantOp constant) {
  MLIRContext *context = constant.getContext();
  InitialAttr stored = InitialAttr::get(context, InitialKind::Stored, 0, 0);
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!elements || !elements.isSplat()) {
    return stored;
  }
  double value = 0;
  if (isa<FloatType>(elements.getElementType())) {
    APFloat number = elements.getSplatValue<APFloat>();
    bool lossy;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
    value = number.convertToDouble();
  } else {
    APInt number = elements.getSplatValue<APInt>();
    bool isUnsigned = number.getBitWidth() == 1 ||
                      elements.getElementType().isUnsignedInteger();
    // Larger integers do not survive as a double.
    if ((isUnsigned ? number.getActiveBits() : number.getSignificantBits()) >
        53) {
      return stored;
    }
    value = isUnsigned ? static_cast<double>(number.getZExtValue())
                       : static_cast<double>(number.getSExtValue());
  }
  return InitialAttr::get(context, InitialKind::Constant, value, 0);
}

FailureOr<func::FuncOp> vdnn::getStep(ModuleOp module) {
  if (auto main = module.lookupSymbol<func::FuncOp>("main")) {
    return main;
  }
  auto functions = module.getOps<func::FuncOp>();
  if (!llvm::hasSingleElement(functions)) {
    return module.emitError("expected a function 'main', or one function only");
  }
  return *functions.begin();
}

FailureOr<Target> vdnn::getTarget(ModuleOp module) {
  auto dictionary = module->getAttrOfType<DictionaryAttr>("vdnn.target");
  if (!dictionary) {
    return module.emitError("has no 'vdnn.target'; run 'vdnn-attach-target' "
                            "first");
  }
  bool complete = true;
  auto text = [&](StringRef name) {
    auto value = dictionary.getAs<StringAttr>(name);
    complete &= static_cast<bool>(value);
    return value ? value.str() : std::string();
  };
  auto integer = [&](StringRef name) {
    auto value = dictionary.getAs<IntegerAttr>(name);
    complete &= value && value.getInt() >= 0;
    return value ? value.getInt() : 0;
  };
  auto number = [&](StringRef name) {
    auto value = dictionary.getAs<FloatAttr>(name);
    complete &= static_cast<bool>(value);
    return value ? value.getValueAsDouble() : 0.0;
  };
  // A flag is there without a value; `false`, as by hand, is none.
  auto flag = [&](StringRef name) {
    return static_cast<bool>(dictionary.getAs<UnitAttr>(name));
  };
  Target target;
  target.device = text("device");
  target.threads = integer("threads");
  target.precision = text("precision");
  target.allowNondeterministic = flag("allow_nondeterministic");
  target.kind = text("kind");
  target.name = text("name");
  target.fingerprint = text("fingerprint");
  target.link.deviceToHostBytesPerSecond = number("device_to_host");
  target.link.hostToDeviceBytesPerSecond = number("host_to_device");
  target.link.duplexFactor = number("duplex_factor");
  target.link.latencyNs = integer("latency_ns");
  target.alignment = integer("alignment");
  target.overheadBytes = integer("overhead");
  // Zeros, too, are left out.
  if (dictionary.contains("host_bytes_per_table_byte")) {
    target.hostBytesPerTableByte = integer("host_bytes_per_table_byte");
  }
  target.budget = integer("budget");
  target.hostBudget = integer("host_budget");
  target.poolsPlanes = flag("pools_planes");
  target.prefersPlanes = flag("prefers_planes");
  target.stagesInputs = flag("stages_inputs");
  if (!complete) {
    return module.emitError("has an incomplete 'vdnn.target'; run "
                            "'vdnn-attach-target' again");
  }
  return target;
}

uint64_t Target::getOverhead(uint64_t hostArenaBytes) const {
  return overheadBytes +
         (hostBytesPerTableByte == 0
              ? 0
              : llvm::divideCeil(hostArenaBytes, hostBytesPerTableByte));
}

void vdnn::setTarget(ModuleOp module, const Target &target) {
  mlir::Builder builder(module.getContext());
  NamedAttrList entries;
  entries.set("device", builder.getStringAttr(target.device));
  entries.set("threads", builder.getI64IntegerAttr(target.threads));
  entries.set("precision", builder.getStringAttr(target.precision));
  entries.set("kind", builder.getStringAttr(target.kind));
  entries.set("name", builder.getStringAttr(target.name));
  entries.set("fingerprint", builder.getStringAttr(target.fingerprint));
  entries.set("device_to_host",
              builder.getF64FloatAttr(target.link.deviceToHostBytesPerSecond));
  entries.set("host_to_device",
              builder.getF64FloatAttr(target.link.hostToDeviceBytesPerSecond));
  entries.set("duplex_factor",
              builder.getF64FloatAttr(target.link.duplexFactor));
  entries.set("latency_ns", builder.getI64IntegerAttr(target.link.latencyNs));
  entries.set("alignment", builder.getI64IntegerAttr(target.alignment));
  entries.set("overhead", builder.getI64IntegerAttr(target.overheadBytes));
  if (target.hostBytesPerTableByte != 0) {
    entries.set("host_bytes_per_table_byte",
                builder.getI64IntegerAttr(target.hostBytesPerTableByte));
  }
  entries.set("budget", builder.getI64IntegerAttr(target.budget));
  entries.set("host_budget", builder.getI64IntegerAttr(target.hostBudget));
  auto flag = [&](StringRef name, bool value) {
    if (value) {
      entries.set(name, builder.getUnitAttr());
    }
  };
  flag("allow_nondeterministic", target.allowNondeterministic);
  flag("pools_planes", target.poolsPlanes);
  flag("prefers_planes", target.prefersPlanes);
  flag("stages_inputs", target.stagesInputs);
  module->setAttr("vdnn.target", entries.getDictionary(module.getContext()));
}

void vdnn::setChoices(Operation *op,
                      const std::vector<planning::KernelChoice> &choices) {
  mlir::Builder builder(op->getContext());
  SmallVector<Attribute> list;
  for (const planning::KernelChoice &choice : choices) {
    NamedAttrList entry;
    entry.set("algorithm", builder.getStringAttr(choice.algorithm));
    entry.set("workspace", builder.getI64IntegerAttr(choice.workspaceBytes));
    entry.set("time_ns", builder.getI64IntegerAttr(choice.timeNs));
    if (choice.nondeterministic) {
      entry.set("nondeterministic", builder.getUnitAttr());
    }
    list.push_back(entry.getDictionary(op->getContext()));
  }
  op->setAttr("vdnn.choices", builder.getArrayAttr(list));
}
