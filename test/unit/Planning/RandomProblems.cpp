//===- RandomProblems.cpp - training steps and solutions from a seed ------===//

#include "RandomProblems.h"

#include <algorithm>
#include <cstdlib>

namespace vdnn::planning::test {
namespace {

class Generator {
public:
  Generator(uint32_t seed, uint32_t layers) : random(seed), layers(layers) {}

  Problem run() {
    problem.alignment = 1 + below(4);
    problem.link = {0.5e9 + 1e8 * below(20), 0.5e9 + 1e8 * below(20), 0.75,
                    int64_t(below(3))};
    TensorId image = tensor("image", below(2) ? 8 : 5000, TensorKind::Input);
    TensorId rate = tensor("rate", 1, TensorKind::Input);
    forward(image);
    loss();
    backward(rate);
    return std::move(problem);
  }

private:
  uint32_t below(uint32_t n) { return random() % n; }

  TensorId tensor(std::string name, uint64_t bytes, TensorKind kind) {
    problem.tensors.push_back({std::move(name), bytes, kind, false, false, {}});
    return problem.tensors.size() - 1;
  }

  Op &op(std::string name, OpClass opClass, Phase phase, int32_t layer) {
    Op result;
    result.name = std::move(name);
    result.opClass = opClass;
    result.phase = phase;
    result.layer = layer;
    for (uint32_t c = 0; c < 1 + below(3); ++c) {
      result.choices.push_back({"k" + std::to_string(c),
                                below(2) ? below(16) : 0, int64_t(below(50))});
    }
    problem.ops.push_back(std::move(result));
    return problem.ops.back();
  }

  struct Layer {
    OpClass opClass;
    std::vector<TensorId> inputs;
    TensorId output;
    TensorId weight;
    bool hasWeight;
  };

  void forward(TensorId image) {
    std::vector<TensorId> ends{image};
    for (uint32_t l = 0; l < layers; ++l) {
      constexpr OpClass Classes[] = {OpClass::Convolution, OpClass::Convolution,
                                     OpClass::Pool,        OpClass::Activation,
                                     OpClass::Norm,        OpClass::Other};
      Layer layer;
      layer.opClass = Classes[below(6)];
      if (l + 2 >= layers) {
        layer.opClass = OpClass::FullyConnected;
      }
      // Read the newest value, so that none is dead; sometimes an older one too
      // (a join).
      layer.inputs = {ends.back()};
      if (below(3) == 0) {
        TensorId other = ends[below(ends.size())];
        if (other != ends.back()) {
          layer.inputs.push_back(other);
        }
      }
      uint64_t bytes = problem.tensors[layer.inputs[0]].bytes;
      bool sameSize = layer.opClass == OpClass::Activation ||
                      layer.opClass == OpClass::Other;
      std::string name = "l" + std::to_string(l);
      layer.output =
          tensor(name, sameSize ? bytes : below(12), TensorKind::Activation);
      layer.hasWeight = layer.opClass == OpClass::Convolution ||
                        layer.opClass == OpClass::FullyConnected;
      layer.weight = 0;
      if (layer.hasWeight) {
        layer.weight = tensor(name + ".w", 1 + below(6), TensorKind::Parameter);
        problem.tensors[layer.weight].liveIn = true;
      }
      Op &current = op(name, layer.opClass, Phase::Forward, l);
      current.reads = layer.inputs;
      if (layer.hasWeight) {
        current.reads.push_back(layer.weight);
      }
      current.writes = {layer.output};
      if (sameSize) {
        current.inPlace.push_back({layer.inputs[0], layer.output});
      }
      ends.push_back(layer.output);
      network.push_back(layer);
    }
  }

  void loss() {
    TensorId last = network.back().output;
    TensorId labels = tensor("labels", 1 + below(9), TensorKind::Input);
    TensorId value = tensor("loss", 1, TensorKind::Output);
    problem.tensors[value].liveOut = true;
    gradients.assign(problem.tensors.size() + 1, NoTensor);
    Op &forwardOp = op("loss", OpClass::Loss, Phase::Forward, layers);
    forwardOp.reads = {last, labels};
    forwardOp.writes = {value};
    TensorId gradient =
        tensor("d.last", problem.tensors[last].bytes, TensorKind::Activation);
    Op &backwardOp = op("d.loss", OpClass::Loss, Phase::Backward, layers);
    backwardOp.reads = {last, labels};
    backwardOp.writes = {gradient};
    gradients[last] = gradient;
  }

  void backward(TensorId rate) {
    std::vector<std::pair<TensorId, TensorId>> late;
    for (uint32_t l = layers; l-- > 0;) {
      const Layer layer = network[l];
      std::string name = "d.l" + std::to_string(l);
      TensorId gradient = gradients[layer.output];
      for (size_t i = 0; i < layer.inputs.size(); ++i) {
        TensorId input = layer.inputs[i];
        bool isImage = problem.tensors[input].kind == TensorKind::Input;
        bool weightToo = i == 0 && layer.hasWeight;
        if (isImage && !weightToo) {
          continue;
        }
        TensorId weightGradient = NoTensor;
        Op &current = op(name, layer.opClass, Phase::Backward, l);
        OpId id = problem.ops.size() - 1;
        current.reads = {gradient};
        if (below(4) != 0) {
          current.reads.push_back(input);
        }
        if (layer.opClass == OpClass::Activation) {
          current.reads.push_back(layer.output);
        }
        if (weightToo) {
          current.reads.push_back(layer.weight);
          weightGradient =
              tensor(name + ".w", problem.tensors[layer.weight].bytes,
                     TensorKind::Gradient);
          problem.ops[id].writes.push_back(weightGradient);
        }
        if (!isImage) {
          passOn(id, input, gradient);
        }
        if (weightToo && below(2)) {
          update(layer.weight, weightGradient, rate,
                 below(2) ? int32_t(l) : -1);
        } else if (weightToo) {
          late.emplace_back(layer.weight, weightGradient);
        }
      }
    }
    for (auto [weight, gradient] : late) {
      update(weight, gradient, rate, -1);
    }
  }

  /// The op writes the gradient of `input`, and adds it to an earlier one.
  void passOn(OpId id, TensorId input, TensorId gradient) {
    TensorId part =
        tensor("d." + problem.tensors[input].name, problem.tensors[input].bytes,
               TensorKind::Activation);
    problem.ops[id].writes.push_back(part);
    problem.ops[id].inPlace.push_back({gradient, part});
    if (gradients[input] == NoTensor) {
      gradients[input] = part;
      return;
    }
    TensorId sum = tensor("s." + problem.tensors[input].name,
                          problem.tensors[input].bytes, TensorKind::Activation);
    Op &add = op("add", OpClass::Other, Phase::Backward, problem.ops[id].layer);
    add.reads = {gradients[input], part};
    add.writes = {sum};
    add.inPlace = {{gradients[input], sum}, {part, sum}};
    gradients[input] = sum;
  }

  void update(TensorId weight, TensorId gradient, TensorId rate,
              int32_t layer) {
    TensorId next =
        tensor(problem.tensors[weight].name + ".new",
               problem.tensors[weight].bytes, TensorKind::Parameter);
    problem.tensors[next].liveOut = true;
    problem.tensors[next].tiedTo = weight;
    Op &current = op("sgd", OpClass::Update, Phase::Update, layer);
    current.reads = {weight, gradient, rate};
    current.writes = {next};
    current.inPlace = {{weight, next}};
  }

  static constexpr TensorId NoTensor = UINT32_MAX;
  std::mt19937 random;
  uint32_t layers;
  Problem problem;
  std::vector<Layer> network;
  /// Per forward tensor.
  std::vector<TensorId> gradients;
};

} // namespace

Problem randomProblem(uint32_t seed, uint32_t layers) {
  return Generator(seed, layers).run();
}

Solution randomSolution(const Problem &problem, uint32_t seed) {
  std::mt19937 random(seed);
  auto between = [&](OpId low, OpId high) {
    return low + OpId(random() % (high - low + 1));
  };
  Solution solution;
  for (const Op &op : problem.ops) {
    solution.choice.push_back(random() % op.choices.size());
  }
  solution.tensors.resize(problem.tensors.size());
  for (TensorId id = 0; id < problem.tensors.size(); ++id) {
    const Tensor &tensor = problem.tensors[id];
    bool stays = tensor.liveIn || tensor.liveOut ||
                 tensor.kind == TensorKind::Output || tensor.tiedTo ||
                 tensor.staged;
    std::vector<OpId> uses;
    for (OpId op = 0; op < problem.ops.size(); ++op) {
      const Op &current = problem.ops[op];
      for (const auto *list : {&current.reads, &current.writes}) {
        if (std::find(list->begin(), list->end(), id) != list->end() &&
            (uses.empty() || uses.back() != op)) {
          uses.push_back(op);
        }
      }
    }
    OpId back = 0;
    for (size_t u = 0; !stays && u + 1 < uses.size(); ++u) {
      if (random() % 2) {
        continue;
      }
      Transfer transfer;
      transfer.tensor = id;
      transfer.neededAt = uses[u + 1];
      transfer.releaseAt = between(uses[u] + 1, uses[u + 1]);
      // The copy may run beside a reader, but neither beside the first use,
      // which makes the tensor, nor beside the op for which it has just come
      // back.
      bool beside = u > 0 && uses[u] != back;
      back = transfer.neededAt;
      transfer.offloadAt = beside && random() % 2
                               ? uses[u]
                               : between(uses[u] + 1, transfer.releaseAt);
      transfer.prefetchAt = between(transfer.releaseAt, transfer.neededAt);
      solution.transfers.push_back(transfer);
      solution.tensors[id].residence = Residence::Offload;
    }
  }
  std::sort(solution.transfers.begin(), solution.transfers.end(),
            [](const Transfer &a, const Transfer &b) {
              return std::pair(a.offloadAt, a.tensor) <
                     std::pair(b.offloadAt, b.tensor);
            });
  for (OpId op = 1; seed % 3 == 0 && op < problem.ops.size(); ++op) {
    if (random() % 4 == 0) {
      solution.barriers.push_back(op);
    }
  }
  return solution;
}

uint32_t seedCount(uint32_t usual) {
  const char *asked = std::getenv("VDNN_PLANNING_SEEDS");
#ifdef __SANITIZE_ADDRESS__
  usual = (usual + 3) / 4;
#endif
  return asked ? std::max(1, std::atoi(asked)) : usual;
}

} // namespace vdnn::planning::test
