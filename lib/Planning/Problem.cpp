//===- Problem.cpp - what a well-formed problem is ------------------------===//

#include "vdnn/Planning/Problem.h"

#include <algorithm>
#include <cmath>

namespace vdnn::planning {
namespace {

constexpr uint32_t Never = UINT32_MAX;

/// Collects what is wrong; later checks rely on ids that earlier ones found to
/// be in range.
class Checker {
public:
  explicit Checker(const Problem &problem)
      : problem(problem), writer(problem.tensors.size(), Never) {}

  std::vector<std::string> run() {
    checkMachine();
    checkIds();
    if (errors.empty()) {
      checkWrites();
      checkReads();
      checkInPlace();
      checkTies();
      checkEnds();
    }
    return std::move(errors);
  }

private:
  void error(std::string text) { errors.push_back(std::move(text)); }
  std::string tensor(TensorId id) const {
    return "tensor '" + problem.tensors[id].name + "'";
  }
  std::string op(OpId id) const { return "op '" + problem.ops[id].name + "'"; }

  void checkMachine() {
    if (problem.alignment == 0) {
      error("alignment is 0, expected at least 1");
    }
    const Link &link = problem.link;
    for (double rate :
         {link.deviceToHostBytesPerSecond, link.hostToDeviceBytesPerSecond}) {
      if (!std::isfinite(rate) || rate < 0) {
        error("link rate is not a finite number of bytes per second >= 0");
      }
    }
    if (!(link.duplexFactor > 0 && link.duplexFactor <= 1)) {
      error("duplex factor is " + std::to_string(link.duplexFactor) +
            ", expected a share in (0, 1]");
    }
    if (link.latencyNs < 0) {
      error("link latency is negative");
    }
  }

  /// Sums of sizes must not wrap around.
  void checkSize(uint64_t bytes, const std::string &what) {
    constexpr uint64_t Most = uint64_t(1) << 44;
    if (bytes > Most) {
      error(what + " has " + std::to_string(bytes) +
            " bytes, expected at most " + std::to_string(Most));
    }
  }

  void checkIds() {
    size_t count = problem.tensors.size();
    for (TensorId id = 0; id < count; ++id) {
      checkSize(problem.tensors[id].bytes, tensor(id));
      if (auto tied = problem.tensors[id].tiedTo; tied && *tied >= count) {
        error(tensor(id) + " is tied to tensor " + std::to_string(*tied) +
              ", but there are only " + std::to_string(count));
      }
    }
    for (OpId id = 0; id < problem.ops.size(); ++id) {
      const Op &current = problem.ops[id];
      for (const auto *list : {&current.reads, &current.writes}) {
        for (TensorId used : *list) {
          if (used >= count) {
            error(op(id) + " uses tensor " + std::to_string(used) +
                  ", but there are only " + std::to_string(count));
          }
        }
      }
      if (current.choices.empty()) {
        error(op(id) + " has no kernel to choose from");
      }
      for (const KernelChoice &choice : current.choices) {
        checkSize(choice.workspaceBytes, "the workspace of " + op(id));
        if (choice.timeNs < 0) {
          error(op(id) + " takes a negative time with algorithm '" +
                choice.algorithm + "'");
        }
      }
    }
  }

  void checkWrites() {
    for (OpId id = 0; id < problem.ops.size(); ++id) {
      for (TensorId written : problem.ops[id].writes) {
        const Tensor &target = problem.tensors[written];
        if (writer[written] != Never) {
          error(tensor(written) + " is written by " + op(writer[written]) +
                " and again by " + op(id) + ", expected one writer");
        } else if (target.liveIn || target.kind == TensorKind::Input) {
          error(tensor(written) + " is written by " + op(id) +
                " although it exists before the step; write a new tensor that "
                "is tied to it");
        } else {
          writer[written] = id;
        }
      }
    }
  }

  void checkReads() {
    for (OpId id = 0; id < problem.ops.size(); ++id) {
      for (TensorId read : problem.ops[id].reads) {
        const Tensor &source = problem.tensors[read];
        if (source.liveIn || source.kind == TensorKind::Input) {
          continue;
        }
        if (writer[read] == Never) {
          error(op(id) + " reads " + tensor(read) + ", which nothing writes");
        } else if (writer[read] >= id) {
          error(op(id) + " reads " + tensor(read) + " before " +
                op(writer[read]) + " writes it");
        }
      }
    }
  }

  static bool contains(const std::vector<TensorId> &list, TensorId id) {
    return std::find(list.begin(), list.end(), id) != list.end();
  }

  void checkInPlace() {
    for (OpId id = 0; id < problem.ops.size(); ++id) {
      const Op &current = problem.ops[id];
      for (InPlacePair pair : current.inPlace) {
        if (!contains(current.reads, pair.from) ||
            !contains(current.writes, pair.to)) {
          error(op(id) + " has an in-place pair that is not an operand and a "
                         "result of it");
        }
      }
    }
  }

  /// A tied tensor overwrites its predecessor, so nothing may want the old
  /// value after (or while) the new one is written.
  void checkTies() {
    std::vector<TensorId> successor(problem.tensors.size(), Never);
    for (TensorId id = 0; id < problem.tensors.size(); ++id) {
      auto tied = problem.tensors[id].tiedTo;
      if (!tied) {
        continue;
      }
      const Tensor &old = problem.tensors[*tied];
      if (writer[id] == Never) {
        error(tensor(id) + " is tied to " + tensor(*tied) +
              " but no op writes it");
        continue;
      }
      if (*tied == id) {
        error(tensor(id) + " is tied to itself");
        continue;
      }
      if (successor[*tied] != Never) {
        error(tensor(id) + " and " + tensor(successor[*tied]) +
              " are both tied to " + tensor(*tied) + ", expected one");
      }
      successor[*tied] = id;
      if (old.bytes != problem.tensors[id].bytes) {
        error(tensor(id) + " has " + std::to_string(problem.tensors[id].bytes) +
              " bytes but is tied to " + tensor(*tied) + " of " +
              std::to_string(old.bytes) + " bytes, expected the same size");
      }
      if (old.liveOut || old.kind == TensorKind::Output) {
        error(tensor(*tied) + " must survive the step but " + tensor(id) +
              " is tied to it and overwrites it");
      }
      if (successorIsLost(id)) {
        error(tensor(id) + " overwrites " + tensor(*tied) +
              ", which the next step needs, but does not itself survive the "
              "step; make it live out");
      }
      if (writer[*tied] != Never && writer[*tied] >= writer[id]) {
        error(tensor(id) + " is tied to " + tensor(*tied) +
              ", which is written later");
      }
      checkReadersOfTied(*tied, id);
    }
  }

  /// Whether the range of a tensor that exists before the step ends in `id`,
  /// and `id` does not live on.
  bool successorIsLost(TensorId id) const {
    if (problem.tensors[id].liveOut) {
      return false;
    }
    for (const Tensor &other : problem.tensors) {
      if (other.tiedTo == id) {
        return false;
      }
    }
    TensorId root = id;
    for (size_t hops = 0; hops < problem.tensors.size(); ++hops) {
      auto next = problem.tensors[root].tiedTo;
      if (!next) {
        return problem.tensors[root].liveIn;
      }
      root = *next;
    }
    return false;
  }

  void checkReadersOfTied(TensorId old, TensorId replacement) {
    OpId at = writer[replacement];
    for (OpId id = at; id < problem.ops.size(); ++id) {
      const Op &current = problem.ops[id];
      if (!contains(current.reads, old)) {
        continue;
      }
      if (id > at) {
        error(op(id) + " reads " + tensor(old) + " after " + op(at) +
              " has overwritten it with " + tensor(replacement) +
              "; move the reader before the writer");
        continue;
      }
      bool declared = std::any_of(
          current.inPlace.begin(), current.inPlace.end(),
          [&](InPlacePair p) { return p.from == old && p.to == replacement; });
      if (!declared) {
        error(op(id) + " reads " + tensor(old) + " and writes " +
              tensor(replacement) +
              ", which is tied to it, without an in-place pair of the two");
      }
    }
  }

  void checkEnds() {
    for (TensorId id = 0; id < problem.tensors.size(); ++id) {
      const Tensor &current = problem.tensors[id];
      bool exists = current.liveIn || current.kind == TensorKind::Input ||
                    writer[id] != Never;
      if ((current.liveOut || current.kind == TensorKind::Output) && !exists) {
        error(tensor(id) +
              " must exist at the end of the step but nothing writes it");
      }
      if (current.kind == TensorKind::Input &&
          (current.liveIn || current.liveOut)) {
        error(tensor(id) + " is an input, which is copied in from the host in "
                           "every step, and cannot stay on the device");
      }
      if (current.staged && current.kind != TensorKind::Input) {
        error(tensor(id) + " is staged, expected that only of inputs");
      }
      if (current.kind == TensorKind::Output && current.liveIn) {
        error(tensor(id) + " is an output and cannot exist before the step");
      }
    }
  }

  const Problem &problem;
  std::vector<OpId> writer;
  std::vector<std::string> errors;
};

} // namespace

std::vector<std::string> check(const Problem &problem) {
  return Checker(problem).run();
}

} // namespace vdnn::planning
