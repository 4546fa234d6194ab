//===- Solution.cpp - what a well-formed solution is ----------------------===//

#include "vdnn/Planning/Solution.h"

#include "Uses.h"

#include <algorithm>

namespace vdnn::planning {
namespace {

class Verifier {
public:
  Verifier(const Problem &problem, const Solution &solution)
      : problem(problem), solution(solution), uses(findUses(problem)) {}

  std::vector<std::string> run() {
    checkChoices();
    checkBarriers();
    if (solution.tensors.size() != problem.tensors.size()) {
      error("decisions for " + std::to_string(solution.tensors.size()) +
            " tensors, expected " + std::to_string(problem.tensors.size()));
      return std::move(errors);
    }
    checkTransfers();
    return std::move(errors);
  }

private:
  void error(std::string text) { errors.push_back(std::move(text)); }

  void checkChoices() {
    if (solution.choice.size() != problem.ops.size()) {
      error("kernels chosen for " + std::to_string(solution.choice.size()) +
            " ops, expected " + std::to_string(problem.ops.size()));
      return;
    }
    for (OpId op = 0; op < problem.ops.size(); ++op) {
      if (solution.choice[op] >= problem.ops[op].choices.size()) {
        error("op '" + problem.ops[op].name + "' takes kernel " +
              std::to_string(solution.choice[op]) + ", but it has only " +
              std::to_string(problem.ops[op].choices.size()));
      }
    }
  }

  void checkBarriers() {
    for (size_t i = 0; i < solution.barriers.size(); ++i) {
      if (solution.barriers[i] >= problem.ops.size()) {
        error("barrier before op " + std::to_string(solution.barriers[i]) +
              ", but there are only " + std::to_string(problem.ops.size()));
      }
      if (i > 0 && solution.barriers[i] <= solution.barriers[i - 1]) {
        error("barriers are not sorted, each position once");
      }
    }
  }

  void checkTransfers() {
    std::vector<std::vector<const Transfer *>> perTensor(
        problem.tensors.size());
    for (size_t i = 0; i < solution.transfers.size(); ++i) {
      const Transfer &transfer = solution.transfers[i];
      if (transfer.tensor >= problem.tensors.size()) {
        error("transfer of tensor " + std::to_string(transfer.tensor) +
              ", but there are only " + std::to_string(problem.tensors.size()));
        return;
      }
      perTensor[transfer.tensor].push_back(&transfer);
      if (i == 0) {
        continue;
      }
      const Transfer &previous = solution.transfers[i - 1];
      if (std::pair(previous.offloadAt, previous.tensor) >=
          std::pair(transfer.offloadAt, transfer.tensor)) {
        error("transfers are not sorted by offload position, then tensor");
      }
    }
    for (TensorId tensor = 0; tensor < perTensor.size(); ++tensor) {
      checkTensor(tensor, perTensor[tensor]);
    }
  }

  void checkTensor(TensorId id, const std::vector<const Transfer *> &trips) {
    const Tensor &tensor = problem.tensors[id];
    std::string name = "tensor '" + tensor.name + "'";
    Residence residence = solution.tensors[id].residence;
    if (residence == Residence::Recompute) {
      error(name + " is to be computed again, but a solution cannot yet say "
                   "from what; keep or offload it");
    }
    if (trips.empty() != (residence != Residence::Offload)) {
      error(name + " has " + std::to_string(trips.size()) +
            " transfers, which contradicts its residence");
    }
    if (trips.empty()) {
      return;
    }
    if (tensor.staged) {
      error(name + " is staged and cannot leave the device: the host has the "
                   "next step's value");
      return;
    }
    if (tensor.liveIn || tensor.liveOut || tensor.kind == TensorKind::Output) {
      error(name + " is transferred although it lives beyond the step");
    }
    OpId from = 0;
    if (tensor.kind != TensorKind::Input) {
      from = uses[id].writer == NoOp ? 0 : uses[id].writer + 1;
    }
    for (const Transfer *trip : trips) {
      checkTrip(id, *trip, from);
      from = trip->neededAt + 1;
    }
  }

  /// `from`: the first position at which the tensor may leave.
  void checkTrip(TensorId id, const Transfer &trip, OpId from) {
    std::string name = "tensor '" + problem.tensors[id].name + "'";
    if (trip.offloadAt < from) {
      error(name + " is offloaded before op " + std::to_string(trip.offloadAt) +
            ", but it is there only from op " + std::to_string(from) + " on");
    }
    if (trip.releaseAt < trip.offloadAt || trip.prefetchAt < trip.releaseAt ||
        trip.neededAt < trip.prefetchAt ||
        trip.neededAt >= problem.ops.size()) {
      error(name + " has transfer positions out of order: offload " +
            std::to_string(trip.offloadAt) + ", release " +
            std::to_string(trip.releaseAt) + ", prefetch " +
            std::to_string(trip.prefetchAt) + ", needed " +
            std::to_string(trip.neededAt));
      return;
    }
    const std::vector<OpId> &reads = uses[id].reads;
    for (OpId op : reads) {
      if (op >= trip.releaseAt && op < trip.neededAt) {
        error("op '" + problem.ops[op].name + "' reads " + name +
              " while it is away from the device");
      }
    }
    if (!std::binary_search(reads.begin(), reads.end(), trip.neededAt)) {
      error(name + " is brought back for op '" +
            problem.ops[trip.neededAt].name + "', which does not read it");
    }
    // An input is on the device from its first read on; leaving before that is
    // no round trip.
    if (problem.tensors[id].kind == TensorKind::Input &&
        (reads.empty() || reads.front() >= trip.releaseAt)) {
      error(name + " is released before anything has read it");
    }
  }

  const Problem &problem;
  const Solution &solution;
  std::vector<TensorUses> uses;
  std::vector<std::string> errors;
};

} // namespace

std::vector<std::string> verify(const Problem &problem,
                                const Solution &solution) {
  return Verifier(problem, solution).run();
}

} // namespace vdnn::planning
