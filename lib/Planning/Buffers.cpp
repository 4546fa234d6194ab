//===- Buffers.cpp - which ranges a solution needs, and when --------------===//

#include "Buffers.h"

#include "Costs.h"
#include "Uses.h"

#include <algorithm>
#include <numeric>

namespace vdnn::planning {
namespace {

/// An input up to this size is copied as soon as the step begins: learning
/// rates, seeds and step numbers cost no memory worth saving, and early copies
/// are never waited for.
constexpr uint64_t SmallInputBytes = 4096;

class Planner {
public:
  Planner(const Problem &problem, const Solution &solution)
      : problem(problem), solution(solution), uses(findUses(problem)),
        starts(opStarts(problem, solution.choice)),
        end(std::max<size_t>(problem.ops.size(), 1)) {}

  BufferPlan run() {
    size_t count = problem.tensors.size();
    plan.residencies.resize(count);
    plan.returns.resize(count);
    plan.hostEntry.resize(count);
    plan.hostExit.resize(count);
    plan.staging.resize(count);
    plan.nextValue.resize(count);
    plan.stagedAfter.assign(count, 0);
    plan.inputCopyAt.assign(count, 0);
    findTransfers();
    for (TensorId tensor = 0; tensor < count; ++tensor) {
      addDeviceBuffers(tensor);
      addHostEnds(tensor);
    }
    addHostSlots();
    addWorkspaces();
    shareRanges();
    makeRectangles();
    return std::move(plan);
  }

private:
  uint32_t add(PlacedBuffer buffer) {
    plan.buffers.push_back(std::move(buffer));
    return plan.buffers.size() - 1;
  }

  void findTransfers() {
    transfersOf.resize(problem.tensors.size());
    for (const Transfer &transfer : solution.transfers) {
      transfersOf[transfer.tensor].push_back(&transfer);
    }
  }

  /// As late as the copy can be issued and still be over, by the cost model,
  /// when the first reader is due.
  OpId inputCopyPosition(TensorId tensor) const {
    uint64_t bytes = problem.tensors[tensor].bytes;
    if (bytes <= SmallInputBytes) {
      return 0;
    }
    OpId at = uses[tensor].reads.front();
    int64_t latest = starts[at] - prefetchTime(problem, bytes);
    while (at > 0 && starts[at] > latest) {
      --at;
    }
    return at;
  }

  void addDeviceBuffers(TensorId id) {
    const Tensor &tensor = problem.tensors[id];
    const TensorUses &use = uses[id];
    bool isInput = tensor.kind == TensorKind::Input;
    if (tensor.staged) {
      addStagedInput(id);
      return;
    }
    if (!tensor.liveIn && use.writer == NoOp && use.reads.empty()) {
      return;
    }
    if (isIdle(tensor, use)) {
      plan.residencies[id].push_back(
          add({tensor.name, id, Place::Host, 0, tensor.bytes, 0, end}));
      return;
    }
    OpId begin = tensor.liveIn || isInput ? 0 : use.writer;
    if (isInput) {
      begin = plan.inputCopyAt[id] = inputCopyPosition(id);
    }
    const char *suffix = "";
    for (const Transfer *transfer : transfersOf[id]) {
      plan.residencies[id].push_back(
          add({tensor.name + suffix, id, Place::Device, 0, tensor.bytes, begin,
               transfer->releaseAt}));
      plan.returns[id].push_back(transfer->neededAt);
      begin = transfer->prefetchAt;
      suffix = ".back";
    }
    plan.residencies[id].push_back(
        add({tensor.name + suffix, id, Place::Device, 0, tensor.bytes, begin,
             lastPosition(id, begin)}));
  }

  void addStagedInput(TensorId id) {
    const Tensor &tensor = problem.tensors[id];
    const std::vector<OpId> &reads = uses[id].reads;
    OpId last = plan.stagedAfter[id] = reads.empty() ? 0 : reads.back();
    plan.residencies[id].push_back(
        add({tensor.name, id, Place::Device, 0, tensor.bytes, 0, end}));
    plan.nextValue[id] = add({tensor.name + ".next", id, Place::Device, 0,
                              tensor.bytes, std::min(last + 1, end - 1), end});
    plan.staging[id] = add(
        {tensor.name + ".staging", id, Place::Host, 0, tensor.bytes, 0, end});
  }

  OpId lastPosition(TensorId id, OpId begin) const {
    const Tensor &tensor = problem.tensors[id];
    if (tensor.liveOut || tensor.kind == TensorKind::Output) {
      return end;
    }
    // What lives before the step and is not overwritten in it is still needed
    // by the next one.
    const TensorUses &use = uses[id];
    if (tensor.liveIn && use.overwrittenBy == NoOp) {
      return end;
    }
    OpId last = use.reads.empty() ? begin : use.reads.back();
    // A tensor that a later one takes over ends there.
    if (use.overwrittenBy != NoOp) {
      last = std::max(last, use.overwrittenBy);
    }
    return std::max(last, begin) + 1;
  }

  void addHostEnds(TensorId id) {
    const Tensor &tensor = problem.tensors[id];
    if (tensor.kind == TensorKind::Input && !tensor.staged) {
      plan.hostEntry[id] = add(
          {tensor.name + ".entry", id, Place::Host, 0, tensor.bytes, 0, end});
    } else if (tensor.kind == TensorKind::Output) {
      plan.hostExit[id] = add(
          {tensor.name + ".exit", id, Place::Host, 0, tensor.bytes, 0, end});
    }
  }

  void addHostSlots() {
    for (const Transfer &transfer : solution.transfers) {
      const Tensor &tensor = problem.tensors[transfer.tensor];
      if (auto entry = plan.hostEntry[transfer.tensor]) {
        plan.hostSlot.push_back(*entry);
        continue;
      }
      // Longer than the copy back itself, so that no offload has to wait for a
      // prefetch that is still under way.
      OpId until = std::max(transfer.neededAt, transfer.prefetchAt + 1);
      plan.hostSlot.push_back(
          add({tensor.name + ".host", transfer.tensor, Place::Host, 0,
               tensor.bytes, transfer.offloadAt, until}));
    }
  }

  void addWorkspaces() {
    plan.workspace.resize(problem.ops.size());
    for (OpId op = 0; op < problem.ops.size(); ++op) {
      const Op &current = problem.ops[op];
      uint64_t bytes = current.choices[solution.choice[op]].workspaceBytes;
      if (bytes > 0) {
        plan.workspace[op] = add({current.name + ".workspace", std::nullopt,
                                  Place::Device, 0, bytes, op, op + 1});
      }
    }
  }

  uint32_t root(uint32_t buffer) {
    while (parent[buffer] != buffer) {
      buffer = parent[buffer] = parent[parent[buffer]];
    }
    return buffer;
  }

  void unite(uint32_t from, uint32_t to) { parent[root(to)] = root(from); }

  /// Ties first: they are not a choice. Then the pairs that the ops offer, in
  /// order of the ops.
  void shareRanges() {
    parent.resize(plan.buffers.size());
    std::iota(parent.begin(), parent.end(), 0u);
    for (TensorId id = 0; id < problem.tensors.size(); ++id) {
      if (auto tied = problem.tensors[id].tiedTo) {
        unite(plan.residencies[*tied].back(), plan.residencies[id].front());
      }
      if (auto next = plan.nextValue[id]) {
        unite(plan.residencies[id].front(), *next);
      }
    }
    plan.inPlace.resize(problem.ops.size());
    for (OpId op = 0; op < problem.ops.size(); ++op) {
      std::vector<TensorId> taken;
      for (InPlacePair pair : problem.ops[op].inPlace) {
        bool used =
            std::find(taken.begin(), taken.end(), pair.from) != taken.end() ||
            std::find(taken.begin(), taken.end(), pair.to) != taken.end();
        if (used || !mayOverwrite(op, pair)) {
          continue;
        }
        taken.insert(taken.end(), {pair.from, pair.to});
        recordInPlace(op, pair);
        unite(plan.residencies[pair.from].back(),
              plan.residencies[pair.to].front());
      }
    }
  }

  bool mayOverwrite(OpId op, InPlacePair pair) const {
    const Tensor &from = problem.tensors[pair.from];
    const Tensor &to = problem.tensors[pair.to];
    if (to.tiedTo) {
      return *to.tiedTo == pair.from;
    }
    const std::vector<TensorId> &reads = problem.ops[op].reads;
    return from.bytes == to.bytes && from.bytes > 0 && !from.liveIn &&
           !from.liveOut && !from.staged && from.kind != TensorKind::Output &&
           uses[pair.from].overwrittenBy == NoOp &&
           // The last use of all; every transfer of it is then over, for each
           // ends in a read.
           uses[pair.from].reads.back() == op &&
           // A kernel that reads it twice may still need it after the first
           // element is written.
           std::count(reads.begin(), reads.end(), pair.from) == 1;
  }

  void recordInPlace(OpId op, InPlacePair pair) {
    const Op &current = problem.ops[op];
    auto position = [](const std::vector<TensorId> &list, TensorId id) {
      return uint32_t(std::find(list.begin(), list.end(), id) - list.begin());
    };
    plan.inPlace[op].emplace_back(position(current.reads, pair.from),
                                  position(current.writes, pair.to));
  }

  void makeRectangles() {
    constexpr uint32_t None = UINT32_MAX;
    std::vector<uint32_t> ofRoot(plan.buffers.size(), None);
    plan.rectangle.resize(plan.buffers.size());
    for (uint32_t b = 0; b < plan.buffers.size(); ++b) {
      const PlacedBuffer &buffer = plan.buffers[b];
      std::vector<Interval> &list =
          buffer.place == Place::Device ? plan.device : plan.host;
      uint32_t &index = ofRoot[root(b)];
      if (index == None) {
        index = list.size();
        list.push_back({buffer.begin, buffer.end, buffer.bytes});
      } else {
        list[index].begin = std::min(list[index].begin, buffer.begin);
        list[index].end = std::max(list[index].end, buffer.end);
      }
      plan.rectangle[b] = index;
    }
  }

  const Problem &problem;
  const Solution &solution;
  std::vector<TensorUses> uses;
  std::vector<int64_t> starts;
  uint32_t end;
  std::vector<std::vector<const Transfer *>> transfersOf;
  std::vector<uint32_t> parent;
  BufferPlan plan;
};

} // namespace

uint32_t BufferPlan::bufferFor(TensorId tensor, OpId op) const {
  const std::vector<OpId> &back = returns[tensor];
  size_t trips = std::upper_bound(back.begin(), back.end(), op) - back.begin();
  return residencies[tensor][trips];
}

BufferPlan planBuffers(const Problem &problem, const Solution &solution) {
  return Planner(problem, solution).run();
}

Packing packArena(const Problem &problem,
                  const std::vector<Interval> &rectangles) {
  constexpr uint64_t Work = 2000000;
  constexpr size_t Largest = 1000;
  PackOptions options;
  if (!rectangles.empty() && rectangles.size() <= Largest) {
    options.searchNodes = Work / rectangles.size();
  }
  return pack(rectangles, problem.alignment, options);
}

std::vector<uint64_t> deviceProfile(const Problem &problem,
                                    const BufferPlan &plan) {
  size_t positions = std::max<size_t>(problem.ops.size(), 1);
  std::vector<uint64_t> change(positions + 1, 0);
  for (const Interval &interval : plan.device) {
    uint64_t bytes = alignUp(interval.bytes, problem.alignment);
    change[interval.begin] += bytes;
    change[interval.end] -= bytes;
  }
  std::vector<uint64_t> live(positions);
  uint64_t sum = 0;
  for (size_t p = 0; p < positions; ++p) {
    live[p] = sum += change[p];
  }
  return live;
}

} // namespace vdnn::planning
