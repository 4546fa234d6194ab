//===- Program.cpp - a solution as commands on streams, with addresses ----===//

#include "vdnn/Planning/Program.h"

#include "Buffers.h"
#include "Costs.h"
#include "Ordering.h"

#include <algorithm>
#include <map>

namespace vdnn::planning {
namespace {

constexpr uint32_t StreamCount = 3;

class Builder {
public:
  Builder(const Problem &problem, const Solution &solution)
      : problem(problem), solution(solution),
        plan(planBuffers(problem, solution)) {}

  Program run() {
    placeBuffers();
    submitWork();
    addEvents();
    nameEnds();
    program.buffers = std::move(plan.buffers);
    return std::move(program);
  }

private:
  void placeBuffers() {
    Packing device = packArena(problem, plan.device);
    Packing host = packArena(problem, plan.host);
    for (uint32_t b = 0; b < plan.buffers.size(); ++b) {
      PlacedBuffer &buffer = plan.buffers[b];
      bool onDevice = buffer.place == Place::Device;
      buffer.offset = (onDevice ? device : host).offsets[plan.rectangle[b]];
      uint64_t &peak = onDevice ? program.devicePeak : program.hostPeak;
      peak = std::max(peak, buffer.offset + buffer.bytes);
    }
    // The bound counts in whole units of alignment; the last buffer need not
    // fill its own.
    program.deviceLowerBound = std::min(device.lowerBound, program.devicePeak);
    program.hostLowerBound = std::min(host.lowerBound, program.hostPeak);
  }

  /// A copy to the device and the op that waits for it: of those issued
  /// together, the most urgent goes first.
  struct CopyIn {
    OpId due;
    TensorId tensor;
    uint32_t source;
    uint32_t destination;
    auto operator<=>(const CopyIn &) const = default;
  };

  /// Collects the commands that do work in an order in which each could run
  /// alone.
  void submitWork() {
    std::vector<std::vector<size_t>> offloads(problem.ops.size());
    std::vector<std::vector<CopyIn>> copiesIn(problem.ops.size());
    std::vector<size_t> trips(problem.tensors.size(), 0);
    for (size_t t = 0; t < solution.transfers.size(); ++t) {
      const Transfer &transfer = solution.transfers[t];
      tripOf.push_back(trips[transfer.tensor]++);
      // What came from the host is still there.
      if (!plan.hostEntry[transfer.tensor]) {
        offloads[transfer.offloadAt].push_back(t);
      }
      copiesIn[transfer.prefetchAt].push_back(
          {transfer.neededAt, transfer.tensor, plan.hostSlot[t],
           plan.residencies[transfer.tensor][tripOf[t] + 1]});
    }
    for (TensorId tensor = 0; tensor < problem.tensors.size(); ++tensor) {
      if (plan.hostEntry[tensor] && !plan.residencies[tensor].empty()) {
        copiesIn[plan.inputCopyAt[tensor]].push_back(
            {0, tensor, *plan.hostEntry[tensor],
             plan.residencies[tensor].front()});
      }
    }
    std::vector<std::vector<TensorId>> stagedAfter(problem.ops.size());
    for (TensorId tensor = 0; tensor < problem.tensors.size(); ++tensor) {
      if (plan.staging[tensor] && !problem.ops.empty()) {
        stagedAfter[plan.stagedAfter[tensor]].push_back(tensor);
      }
    }
    size_t nextBarrier = 0;
    for (OpId op = 0; op < problem.ops.size(); ++op) {
      if (nextBarrier < solution.barriers.size() &&
          solution.barriers[nextBarrier] == op) {
        meet();
        ++nextBarrier;
      }
      for (size_t t : offloads[op]) {
        TensorId tensor = solution.transfers[t].tensor;
        submitCopy(StreamId::DeviceToHost, plan.residencies[tensor][tripOf[t]],
                   plan.hostSlot[t]);
      }
      std::sort(copiesIn[op].begin(), copiesIn[op].end());
      for (const CopyIn &copy : copiesIn[op]) {
        submitCopy(StreamId::HostToDevice, copy.source, copy.destination);
      }
      submitLaunch(op);
      for (TensorId tensor : stagedAfter[op]) {
        submitCopy(StreamId::HostToDevice, *plan.staging[tensor],
                   *plan.nextValue[tensor]);
      }
      for (TensorId tensor : problem.ops[op].writes) {
        if (plan.hostExit[tensor]) {
          submitCopy(StreamId::DeviceToHost, plan.residencies[tensor].front(),
                     *plan.hostExit[tensor]);
        }
      }
    }
  }

  void submitCopy(StreamId stream, uint32_t source, uint32_t destination) {
    PlannedCommand command;
    command.kind = CommandKind::Copy;
    command.stream = stream;
    command.reads = {source};
    command.writes = {destination};
    uint64_t bytes = plan.buffers[source].bytes;
    command.durationNs = stream == StreamId::DeviceToHost
                             ? offloadTime(problem, bytes)
                             : prefetchTime(problem, bytes);
    submit(std::move(command));
  }

  void submitLaunch(OpId op) {
    const Op &current = problem.ops[op];
    PlannedCommand command;
    command.op = op;
    for (TensorId tensor : current.reads) {
      command.reads.push_back(plan.bufferFor(tensor, op));
    }
    for (TensorId tensor : current.writes) {
      command.writes.push_back(plan.residencies[tensor].front());
    }
    command.workspace = plan.workspace[op];
    command.inPlace = plan.inPlace[op];
    command.durationNs = current.choices[solution.choice[op]].timeNs;
    submit(std::move(command));
  }

  void submit(PlannedCommand command) {
    OrderNode node;
    node.stream = uint32_t(command.stream);
    auto touch = [&](uint32_t buffer, bool isWrite) {
      const PlacedBuffer &range = plan.buffers[buffer];
      node.accesses.push_back({uint32_t(range.place), range.offset,
                               range.offset + range.bytes, isWrite});
    };
    for (uint32_t buffer : command.reads) {
      touch(buffer, false);
    }
    for (uint32_t buffer : command.writes) {
      touch(buffer, true);
    }
    if (command.workspace) {
      touch(*command.workspace, true);
    }
    node.after = std::move(metBefore[node.stream]);
    metBefore[node.stream].clear();
    // The paper's copies begin with their layer; without barriers nothing but
    // ranges holds a copy back.
    auto compute = lastOf[uint32_t(StreamId::Compute)];
    if (!solution.barriers.empty() && command.kind == CommandKind::Copy &&
        compute) {
      node.after.push_back(*compute);
    }
    lastOf[node.stream] = work.size();
    nodes.push_back(std::move(node));
    work.push_back(std::move(command));
  }

  /// A barrier: the next command of each stream comes after the last one of
  /// every other.
  void meet() {
    for (uint32_t stream = 0; stream < StreamCount; ++stream) {
      metBefore[stream].clear();
      for (uint32_t other = 0; other < StreamCount; ++other) {
        if (other != stream && lastOf[other]) {
          metBefore[stream].push_back(*lastOf[other]);
        }
      }
    }
  }

  /// One record per awaited command, and one at the beginning of a stream of
  /// which earlier steps are awaited.
  void addEvents() {
    auto waits = orderNodes(nodes, StreamCount);
    std::map<std::pair<uint32_t, std::optional<uint32_t>>, uint32_t> events;
    for (const auto &list : waits) {
      for (const OrderWait &wait : list) {
        events.try_emplace({wait.sourceStream, wait.source}, 0);
      }
    }
    auto record = [&](uint32_t stream, std::optional<uint32_t> source) {
      auto it = events.find({stream, source});
      if (it == events.end()) {
        return;
      }
      it->second = program.eventCount++;
      PlannedCommand command;
      command.kind = CommandKind::Record;
      command.stream = StreamId(stream);
      command.event = it->second;
      program.commands.push_back(std::move(command));
    };
    for (uint32_t stream = 0; stream < StreamCount; ++stream) {
      record(stream, std::nullopt);
    }
    for (uint32_t n = 0; n < work.size(); ++n) {
      for (const OrderWait &wait : waits[n]) {
        PlannedCommand command;
        command.kind = CommandKind::Wait;
        command.stream = work[n].stream;
        command.event = events.at({wait.sourceStream, wait.source});
        program.commands.push_back(std::move(command));
      }
      uint32_t stream = nodes[n].stream;
      program.commands.push_back(std::move(work[n]));
      record(stream, n);
    }
  }

  void nameEnds() {
    size_t count = problem.tensors.size();
    program.entry.resize(count);
    program.exit.resize(count);
    program.staging = plan.staging;
    for (TensorId tensor = 0; tensor < count; ++tensor) {
      const Tensor &current = problem.tensors[tensor];
      if (current.staged) {
        program.entry[tensor] = plan.residencies[tensor].front();
        program.exit[tensor] = plan.nextValue[tensor];
      } else if (current.kind == TensorKind::Input) {
        program.entry[tensor] = plan.hostEntry[tensor];
      } else if (current.liveIn) {
        program.entry[tensor] = plan.residencies[tensor].front();
      }
      if (current.kind == TensorKind::Output) {
        program.exit[tensor] = plan.hostExit[tensor];
      } else if (current.liveOut) {
        program.exit[tensor] = plan.residencies[tensor].back();
      }
    }
  }

  const Problem &problem;
  const Solution &solution;
  BufferPlan plan;
  Program program;
  /// Per transfer, how many of its tensor come before it.
  std::vector<size_t> tripOf;
  std::vector<PlannedCommand> work;
  std::vector<OrderNode> nodes;
  std::optional<uint32_t> lastOf[StreamCount];
  /// Per stream, what its next command comes after because of a barrier.
  std::vector<uint32_t> metBefore[StreamCount];
};

} // namespace

Program buildProgram(const Problem &problem, const Solution &solution) {
  return Builder(problem, solution).run();
}

} // namespace vdnn::planning
