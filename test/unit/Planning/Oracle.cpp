//===- Oracle.cpp - runs a program in hostile orders ----------------------===//

#include "Oracle.h"

#include <algorithm>
#include <map>
#include <set>

namespace vdnn::planning::test {
namespace {

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9E3779B97F4A7C15ull + b + 1;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9ull;
  return x ^ (x >> 32);
}

constexpr uint64_t Garbage = 0xDEAD;

uint64_t inputValue(TensorId tensor, uint32_t step) {
  return mix(mix(2, tensor), step);
}

} // namespace

Oracle::Oracle(const Problem &problem, const Program &program, uint32_t steps)
    : problem(problem), program(program), steps(steps) {
  computeValues();
}

void Oracle::computeValues() {
  size_t count = problem.tensors.size();
  std::vector<uint64_t> initial(count);
  for (TensorId t = 0; t < count; ++t) {
    initial[t] = mix(1, t);
  }
  for (uint32_t step = 0; step < steps; ++step) {
    std::vector<uint64_t> value(count, Garbage);
    for (TensorId t = 0; t < count; ++t) {
      if (problem.tensors[t].liveIn) {
        value[t] = initial[t];
      } else if (problem.tensors[t].kind == TensorKind::Input) {
        value[t] = inputValue(t, step);
      }
    }
    for (OpId op = 0; op < problem.ops.size(); ++op) {
      uint64_t hash = mix(3, op);
      for (TensorId t : problem.ops[op].reads) {
        hash = mix(hash, value[t]);
      }
      for (TensorId t : problem.ops[op].writes) {
        value[t] = hash = mix(hash, t);
      }
    }
    for (TensorId t = 0; t < count; ++t) {
      if (problem.tensors[t].tiedTo) {
        TensorId root = t;
        while (problem.tensors[root].tiedTo) {
          root = *problem.tensors[root].tiedTo;
        }
        bool last = std::none_of(
            problem.tensors.begin(), problem.tensors.end(),
            [&](const Tensor &other) { return other.tiedTo == t; });
        if (last) {
          initial[root] = value[t];
        }
      }
    }
    values.push_back(std::move(value));
  }
}

/// Both arenas, one tag per byte.
class Oracle::Machine {
public:
  explicit Machine(const Oracle &oracle)
      : oracle(oracle), problem(oracle.problem), program(oracle.program) {
    memory[0].assign(program.devicePeak, Garbage);
    memory[1].assign(program.hostPeak, Garbage);
    for (TensorId t = 0; t < problem.tensors.size(); ++t) {
      if (problem.tensors[t].liveIn || problem.tensors[t].staged) {
        fill(*program.entry[t], oracle.values[0][t]);
      }
    }
  }

  std::string execute(Instance instance) {
    const PlannedCommand &command = program.commands[instance.command];
    const std::vector<uint64_t> &value = oracle.values[instance.step];
    if (command.kind == CommandKind::Copy) {
      const PlacedBuffer &source = program.buffers[command.reads[0]];
      TensorId tensor = *source.tensor;
      if (program.staging[tensor] == command.reads[0]) {
        fill(command.writes[0], inputValue(tensor, instance.step + 1));
        return {};
      }
      // The host fills the entry of an input before each step.
      if (program.entry[tensor] == command.reads[0] &&
          source.place == Place::Host) {
        fill(command.reads[0], value[tensor]);
      }
      if (std::string error = expect(command.reads[0], value[tensor], instance);
          !error.empty()) {
        return error;
      }
      fill(command.writes[0], value[tensor]);
    } else if (command.kind == CommandKind::Launch) {
      const Op &op = problem.ops[*command.op];
      for (size_t i = 0; i < op.reads.size(); ++i) {
        std::string error =
            expect(command.reads[i], value[op.reads[i]], instance);
        if (!error.empty()) {
          return error;
        }
      }
      if (command.workspace) {
        fill(*command.workspace, Garbage);
      }
      for (size_t i = 0; i < op.writes.size(); ++i) {
        fill(command.writes[i], value[op.writes[i]]);
      }
    }
    return {};
  }

  std::string checkEnd() const {
    Instance end{oracle.steps - 1, 0};
    for (TensorId t = 0; t < problem.tensors.size(); ++t) {
      if (program.exit[t]) {
        uint64_t value = problem.tensors[t].staged ? inputValue(t, oracle.steps)
                                                   : oracle.values.back()[t];
        std::string error = expect(*program.exit[t], value, end);
        if (!error.empty()) {
          return "at the end: " + error;
        }
      }
    }
    return {};
  }

private:
  /// Two copies of one value differ, so that a race between them shows. What
  /// lives from step to step changes its buffer unseen.
  uint64_t tagOf(uint32_t buffer, uint64_t value) const {
    std::optional<TensorId> id = program.buffers[buffer].tensor;
    bool persists =
        id && (problem.tensors[*id].liveIn || problem.tensors[*id].liveOut ||
               problem.tensors[*id].staged);
    return persists ? value : mix(value, buffer);
  }

  void fill(uint32_t buffer, uint64_t value) {
    const PlacedBuffer &range = program.buffers[buffer];
    auto begin = memory[size_t(range.place)].begin() + range.offset;
    std::fill(begin, begin + range.bytes, tagOf(buffer, value));
  }

  std::string expect(uint32_t buffer, uint64_t value, Instance at) const {
    const PlacedBuffer &range = program.buffers[buffer];
    auto begin = memory[size_t(range.place)].begin() + range.offset;
    if (std::all_of(begin, begin + range.bytes, [&](uint64_t tag) {
          return tag == tagOf(buffer, value);
        })) {
      return {};
    }
    return "command " + std::to_string(at.command) + " of step " +
           std::to_string(at.step) + " finds a wrong value in '" + range.name +
           "'";
  }

  const Oracle &oracle;
  const Problem &problem;
  const Program &program;
  std::vector<uint64_t> memory[2];
};

std::string Oracle::replay(const std::vector<Instance> &order) const {
  Machine machine(*this);
  for (Instance instance : order) {
    if (std::string error = machine.execute(instance); !error.empty()) {
      return error;
    }
  }
  return machine.checkEnd();
}

std::string Oracle::checkForm() const {
  std::map<uint32_t, uint32_t> recordedOn;
  std::set<uint32_t> awaited;
  std::vector<std::pair<uint32_t, uint32_t>> shared;
  for (const PlannedCommand &command : program.commands) {
    if (command.kind == CommandKind::Record) {
      if (!recordedOn.emplace(command.event, uint32_t(command.stream)).second) {
        return "event recorded twice";
      }
    } else if (command.kind == CommandKind::Wait) {
      auto record = recordedOn.find(command.event);
      if (record == recordedOn.end()) {
        return "event awaited before it is recorded";
      }
      if (record->second == uint32_t(command.stream)) {
        return "stream waits for itself";
      }
      awaited.insert(command.event);
    }
    for (auto [read, write] : command.inPlace) {
      shared.emplace_back(command.reads[read], command.writes[write]);
    }
  }
  if (awaited.size() != recordedOn.size() ||
      awaited.size() != program.eventCount) {
    return "event that nothing waits for";
  }
  uint64_t end[2] = {0, 0};
  for (const PlacedBuffer &buffer : program.buffers) {
    uint64_t &last = end[size_t(buffer.place)];
    last = std::max(last, buffer.offset + buffer.bytes);
  }
  if (end[0] != program.devicePeak || end[1] != program.hostPeak ||
      program.deviceLowerBound > end[0] || program.hostLowerBound > end[1]) {
    return "peak or bound is not that of the buffers";
  }
  for (uint32_t a = 0; a < program.buffers.size(); ++a) {
    const PlacedBuffer &x = program.buffers[a];
    uint64_t peak =
        x.place == Place::Device ? program.devicePeak : program.hostPeak;
    if (x.offset % problem.alignment != 0 || x.offset + x.bytes > peak ||
        x.begin >= x.end) {
      return "range of '" + x.name + "' is not well placed";
    }
    for (uint32_t b = a + 1; b < program.buffers.size(); ++b) {
      const PlacedBuffer &y = program.buffers[b];
      bool overlap = x.place == y.place && x.begin < y.end && y.begin < x.end &&
                     x.offset < y.offset + y.bytes &&
                     y.offset < x.offset + x.bytes;
      bool tied = x.tensor && y.tensor &&
                  (problem.tensors[*x.tensor].tiedTo == y.tensor ||
                   problem.tensors[*y.tensor].tiedTo == x.tensor ||
                   (x.tensor == y.tensor && problem.tensors[*x.tensor].staged));
      bool inPlace =
          std::find_if(shared.begin(), shared.end(), [&](auto pair) {
            return pair == std::pair(a, b) || pair == std::pair(b, a);
          }) != shared.end();
      if (overlap && !(tied || inPlace)) {
        return "'" + x.name + "' and '" + y.name + "' overlap while both live";
      }
      if ((tied || inPlace) && overlap && x.offset != y.offset) {
        return "'" + x.name + "' and '" + y.name + "' share only a part";
      }
    }
  }
  return {};
}

std::string Oracle::runInOrder() const {
  std::vector<Instance> order;
  for (uint32_t step = 0; step < steps; ++step) {
    for (uint32_t c = 0; c < program.commands.size(); ++c) {
      order.push_back({step, c});
    }
  }
  return replay(order);
}

std::string Oracle::runRandomly(std::mt19937 &random) const {
  std::vector<Instance> queues[3];
  for (uint32_t step = 0; step < steps; ++step) {
    for (uint32_t c = 0; c < program.commands.size(); ++c) {
      queues[uint32_t(program.commands[c].stream)].push_back({step, c});
    }
  }
  size_t next[3] = {0, 0, 0};
  std::vector<uint32_t> recorded(program.eventCount, 0);
  std::vector<Instance> order;
  size_t total = steps * program.commands.size();
  uint32_t stream = 0;
  for (uint32_t blocked = 0; order.size() < total;) {
    // Long runs on one stream find more than a fair mix.
    if (blocked > 0 || random() % 5 == 0) {
      stream = random() % 3;
    }
    bool canRun = next[stream] < queues[stream].size();
    if (canRun) {
      Instance head = queues[stream][next[stream]];
      const PlannedCommand &command = program.commands[head.command];
      canRun = command.kind != CommandKind::Wait ||
               recorded[command.event] > head.step;
      if (canRun && command.kind == CommandKind::Record) {
        recorded[command.event] = head.step + 1;
      }
    }
    if (!canRun) {
      if (++blocked > 1000) {
        return "deadlock";
      }
      continue;
    }
    blocked = 0;
    order.push_back(queues[stream][next[stream]++]);
  }
  return replay(order);
}

std::string Oracle::runEachEarly() const {
  size_t count = program.commands.size();
  std::vector<std::vector<uint32_t>> before(steps * count);
  std::vector<uint32_t> recordOf(program.eventCount, 0);
  int64_t last[3] = {-1, -1, -1};
  for (uint32_t i = 0; i < steps * count; ++i) {
    const PlannedCommand &command = program.commands[i % count];
    int64_t &previous = last[uint32_t(command.stream)];
    if (previous >= 0) {
      before[i].push_back(previous);
    }
    previous = i;
    if (command.kind == CommandKind::Record) {
      recordOf[command.event] = i;
    } else if (command.kind == CommandKind::Wait) {
      before[i].push_back(recordOf[command.event]);
    }
  }
  for (uint32_t target = 0; target < steps * count; ++target) {
    std::vector<bool> first(steps * count, false);
    first[target] = true;
    for (uint32_t i = target + 1; i-- > 0;) {
      for (uint32_t other : before[i]) {
        first[other] = first[other] || first[i];
      }
    }
    std::vector<Instance> order;
    for (bool wanted : {true, false}) {
      for (uint32_t i = 0; i < steps * count; ++i) {
        if (first[i] == wanted) {
          order.push_back({uint32_t(i / count), uint32_t(i % count)});
        }
      }
    }
    if (std::string error = replay(order); !error.empty()) {
      return error;
    }
  }
  return {};
}

} // namespace vdnn::planning::test
