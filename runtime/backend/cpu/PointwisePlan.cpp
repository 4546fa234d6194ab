//===- PointwisePlan.cpp - where a scalar program's values lie ------------===//

#include "runtime/backend/cpu/PointwisePlan.h"

#include <map>
#include <optional>

namespace vdnn::rt::cpu::pointwise {

using schedule::ElementType;
using schedule::TypeT;

namespace {

/// Gives values their locations. Scratch that is no longer needed is used
/// again.
class Planner {
public:
  explicit Planner(const Request &request)
      : kernel_(request.kernel), reads_(request.types.reads),
        writes_(request.types.writes) {}

  Result<Plan> plan();

  /// Pairs whose types agree.
  std::vector<schedule::InPlace> inPlacePairs() const;

private:
  size_t inputs() const { return reads_.size(); }
  bool isFull(size_t read) const;
  Status readTypes();
  Status findLastUses();
  Status placeInputs();
  Location placeInput(size_t read, Location from);
  Status placeInstruction(size_t position);
  Status placeResults();
  Result<Gather> makeGather(size_t read) const;
  bool isRounded(size_t result, ElementType value) const;
  std::optional<size_t> directResult(uint32_t value) const;
  void convert(Location from, ElementType fromElement, Location to,
               ElementType toElement);
  Location takeScratch(ElementType element);
  void release(uint32_t value, size_t after);

  const schedule::KernelT &kernel_;
  std::span<const TypeT *const> reads_, writes_;
  Plan plan_;
  std::vector<ElementType> types_;  ///< of every value
  std::vector<Location> locations_; ///< of every value
  std::vector<size_t> lastUse_; ///< position of the last instruction that reads
                                ///< it; the program's length for results
  std::map<int64_t, std::vector<int64_t>> free_; ///< by element bytes
  int64_t scratchPerElement_ = 0;
};

} // namespace

/// Whether element i of the operand's memory belongs to element i of the
/// results'.
bool Planner::isFull(size_t read) const {
  const TypeT &x = *reads_[read], &y = *writes_[0];
  if (x.shape != y.shape) {
    return false;
  }
  std::vector<int64_t> xStrides = memoryStrides(x), yStrides = memoryStrides(y);
  for (size_t i = 0; i < x.shape.size(); ++i) {
    if (x.shape[i] != 1 && xStrides[i] != yStrides[i]) {
      return false;
    }
  }
  return true;
}

Location Planner::takeScratch(ElementType element) {
  int64_t bytes = static_cast<int64_t>(schedule::elementBytes(element));
  std::vector<int64_t> &free = free_[bytes];
  int64_t index = scratchPerElement_;
  if (!free.empty()) {
    index = free.back();
    free.pop_back();
  } else {
    scratchPerElement_ += bytes;
  }
  return {Location::Scratch, index, bytes};
}

void Planner::release(uint32_t value, size_t after) {
  bool perBlock = value >= inputs() &&
                  kernel_.program[value - inputs()]->code != "constant";
  if (perBlock && lastUse_[value] == after &&
      locations_[value].kind == Location::Scratch) {
    free_[locations_[value].elementBytes].push_back(locations_[value].index);
    // An instruction may name a value twice.
    locations_[value].kind = Location::Read;
  }
}

Status Planner::readTypes() {
  if (writes_.empty()) {
    return Error{"expected at least one result"};
  }
  if (kernel_.program_results.size() != writes_.size()) {
    return Error{"the program has " +
                 std::to_string(kernel_.program_results.size()) +
                 " results, the command " + std::to_string(writes_.size())};
  }
  for (const TypeT *read : reads_) {
    types_.push_back(scalarElement(read->element));
  }
  for (const TypeT *write : writes_) {
    VDNN_TRY(expectShape(*write, writes_[0]->shape, "a result"));
    VDNN_TRY(expectLayout(*write, writes_[0]->layout, "a result"));
  }
  plan_.elements = countElements(writes_[0]->shape);
  return {};
}

Status Planner::findLastUses() {
  size_t count = inputs() + kernel_.program.size();
  lastUse_.assign(count, 0);
  for (size_t position = 0; position < kernel_.program.size(); ++position) {
    for (uint32_t operand : kernel_.program[position]->operands) {
      if (operand >= inputs() + position) {
        return Error{"instruction " + std::to_string(position) +
                     " uses value " + std::to_string(operand) +
                     " before it is computed"};
      }
      lastUse_[operand] = position;
    }
  }
  for (uint32_t result : kernel_.program_results) {
    if (result >= count) {
      return Error{"the program's result " + std::to_string(result) +
                   " is no value, there are " + std::to_string(count)};
    }
    lastUse_[result] = kernel_.program.size();
  }
  return {};
}

Result<Gather> Planner::makeGather(size_t read) const {
  const TypeT &x = *reads_[read], &y = *writes_[0];
  std::string what = "operand " + std::to_string(read);
  if (x.shape.size() != y.shape.size()) {
    return Error{"expected " + what + " of the result's rank, found shape " +
                 toString(x.shape) + " for " + toString(y.shape)};
  }
  Gather gather{read, {}, {}};
  std::vector<int64_t> strides = memoryStrides(x);
  for (size_t dim : memoryOrder(y)) {
    if (x.shape[dim] != y.shape[dim] && x.shape[dim] != 1) {
      return Error{what + " of shape " + toString(x.shape) +
                   " cannot be broadcast to " + toString(y.shape)};
    }
    int64_t size = y.shape[dim], stride = x.shape[dim] == 1 ? 0 : strides[dim];
    if (size == 1) {
      continue;
    }
    if (!gather.dims.empty() && gather.dims.back().stride == stride * size) {
      gather.dims.back() = {gather.dims.back().size * size, stride};
    } else {
      gather.dims.push_back({size, stride});
    }
  }
  if (gather.dims.empty()) {
    gather.dims.push_back({1, 0});
  }
  return gather;
}

static int64_t bytesOf(ElementType element) {
  return static_cast<int64_t>(schedule::elementBytes(element));
}

/// Rounds or widens floating-point elements between two locations.
void Planner::convert(Location from, ElementType fromElement, Location to,
                      ElementType toElement) {
  schedule::ScalarOpT op;
  op.code = bytesOf(toElement) < bytesOf(fromElement) ? "truncf" : "extf";
  op.element = toElement;
  Instruction instruction{};
  instruction.function =
      lookUpScalarOp(op, std::span(&fromElement, 1))->function;
  instruction.operandCount = 1;
  instruction.operands[0] = from;
  instruction.result = to;
  plan_.instructions.push_back(instruction);
}

/// Where the program finds an input whose elements lie at `from`.
Location Planner::placeInput(size_t read, Location from) {
  ElementType element = reads_[read]->element;
  if (element != ElementType::BF16) {
    return from;
  }
  Location wide = takeScratch(types_[read]);
  convert(from, element, wide, types_[read]);
  return wide;
}

Status Planner::placeInputs() {
  for (size_t read = 0; read < inputs(); ++read) {
    // A result that is an input itself is copied when all instructions have
    // run; by then another result may lie in that input's place. What is
    // widened is read before anything is written.
    bool isResult = lastUse_[read] == kernel_.program.size();
    ElementType element = reads_[read]->element;
    if (isFull(read) && (!isResult || element == ElementType::BF16)) {
      locations_.push_back(
          placeInput(read, {Location::Read, static_cast<int64_t>(read),
                            bytesOf(element)}));
      continue;
    }
    Result<Gather> gather = makeGather(read);
    VDNN_TRY(gather.status());
    gather->to = takeScratch(element);
    locations_.push_back(placeInput(read, gather->to));
    plan_.gathers.push_back(std::move(*gather));
  }
  return {};
}

/// Whether a value of this type is not yet the result's element.
bool Planner::isRounded(size_t result, ElementType value) const {
  return writes_[result]->element == ElementType::BF16 &&
         value == ElementType::F32;
}

/// The result that this value may be computed into directly: no input that
/// could share its range is needed later.
std::optional<size_t> Planner::directResult(uint32_t value) const {
  size_t position = value - inputs();
  for (size_t result = 0; result < writes_.size(); ++result) {
    if (kernel_.program_results[result] != value ||
        isRounded(result, types_[value])) {
      continue;
    }
    for (size_t read = 0; read < inputs(); ++read) {
      if (isFull(read) && types_[read] == types_[value] &&
          lastUse_[read] > position) {
        return std::nullopt;
      }
    }
    return result;
  }
  return std::nullopt;
}

Status Planner::placeInstruction(size_t position) {
  const schedule::ScalarOpT &op = *kernel_.program[position];
  uint32_t value = static_cast<uint32_t>(inputs() + position);
  if (op.code == "constant") {
    std::byte probe[8];
    VDNN_TRY(fillConstant(probe, op.element, op.constant, 1));
    types_.push_back(op.element);
    locations_.push_back(takeScratch(op.element));
    plan_.constants.push_back({locations_.back(), op.element, op.constant});
    return {};
  }
  Instruction instruction{};
  std::vector<ElementType> operandTypes;
  for (uint32_t operand : op.operands) {
    operandTypes.push_back(types_[operand]);
  }
  Result<ScalarOp> function = lookUpScalarOp(op, operandTypes);
  VDNN_TRY(function.status());
  instruction.function = function->function;
  instruction.operandCount = op.operands.size();
  for (size_t i = 0; i < op.operands.size(); ++i) {
    instruction.operands[i] = locations_[op.operands[i]];
  }
  types_.push_back(function->result);
  // Operands that end here give their scratch to the result: every element is
  // read before its place is written. That needs equal element sizes, which
  // `takeScratch` sees to.
  for (uint32_t operand : op.operands) {
    release(operand, position);
  }
  std::optional<size_t> direct = directResult(value);
  locations_.push_back(
      direct ? Location{Location::Write, static_cast<int64_t>(*direct),
                        static_cast<int64_t>(
                            schedule::elementBytes(function->result))}
             : takeScratch(function->result));
  instruction.result = locations_.back();
  plan_.instructions.push_back(instruction);
  return {};
}

Status Planner::placeResults() {
  for (size_t result = 0; result < writes_.size(); ++result) {
    uint32_t value = kernel_.program_results[result];
    ElementType element = writes_[result]->element;
    const Location &from = locations_[value];
    if (isRounded(result, types_[value])) {
      convert(from, types_[value],
              {Location::Write, static_cast<int64_t>(result), bytesOf(element)},
              element);
      continue;
    }
    if (element != types_[value] && scalarElement(element) != types_[value]) {
      VDNN_TRY(expectElement(*writes_[result], types_[value],
                             ("result " + std::to_string(result)).c_str()));
    }
    if (from.kind == Location::Write &&
        from.index == static_cast<int64_t>(result)) {
      continue;
    }
    plan_.copies.push_back(
        {from,
         {Location::Write, static_cast<int64_t>(result), from.elementBytes}});
  }
  return {};
}

Result<Plan> Planner::plan() {
  VDNN_TRY(readTypes());
  VDNN_TRY(findLastUses());
  VDNN_TRY(placeInputs());
  for (size_t position = 0; position < kernel_.program.size(); ++position) {
    VDNN_TRY(placeInstruction(position));
  }
  VDNN_TRY(placeResults());
  int64_t fits = kScratchBytes / std::max<int64_t>(scratchPerElement_, 1) /
                 kBlockStep * kBlockStep;
  plan_.block = std::min(kLargestBlock, fits);
  if (plan_.block == 0) {
    return Error{
        "the program needs " + std::to_string(scratchPerElement_) +
        " bytes per element for intermediate values, expected at most " +
        std::to_string(kScratchBytes / kBlockStep) + "; split it"};
  }
  return std::move(plan_);
}

std::vector<schedule::InPlace> Planner::inPlacePairs() const {
  std::vector<schedule::InPlace> pairs;
  for (size_t read = 0; read < inputs(); ++read) {
    for (size_t write = 0; write < writes_.size(); ++write) {
      if (isFull(read) && reads_[read]->element == writes_[write]->element) {
        pairs.push_back(
            {static_cast<uint32_t>(read), static_cast<uint32_t>(write)});
      }
    }
  }
  return pairs;
}

Result<Plan> makePlan(const Request &request,
                      std::vector<schedule::InPlace> &inPlace) {
  Planner planner(request);
  Result<Plan> plan = planner.plan();
  VDNN_TRY(plan.status());
  inPlace = planner.inPlacePairs();
  return plan;
}

} // namespace vdnn::rt::cpu::pointwise
