//===- Vgg.cpp - the VGG networks of the vDNN paper as problems -----------===//

#include "Vgg.h"

#include <algorithm>

namespace vdnn::planning::test {
namespace {

constexpr uint64_t Float = 4;

class Builder {
public:
  Builder(uint32_t batch, uint32_t extra) : batch(batch), extra(extra) {
    problem.link = {12.8e9, 12.8e9, 1.0, 10000};
  }

  Problem run() {
    constexpr uint32_t Convolutions[] = {2, 2, 3, 3, 3};
    constexpr uint64_t Channels[] = {64, 128, 256, 512, 512};
    current = tensor("image", 3 * 224 * 224, TensorKind::Input);
    uint64_t channels = 3;
    uint64_t size = 224;
    for (uint32_t group = 0; group < 5; ++group) {
      for (uint32_t i = 0; i < Convolutions[group] + extra; ++i) {
        std::string number =
            std::to_string(group + 1) + "_" + std::to_string(i + 1);
        weighted("conv" + number, OpClass::Convolution,
                 Channels[group] * size * size,
                 (9 * channels + 1) * Channels[group], 9 * channels);
        relu("relu" + number);
        channels = Channels[group];
      }
      size /= 2;
      pool("pool" + std::to_string(group + 1), channels * size * size);
    }
    weighted("fc6", OpClass::FullyConnected, 4096, (512 * 49 + 1) * 4096,
             512 * 49);
    relu("relu6");
    weighted("fc7", OpClass::FullyConnected, 4096, 4097 * 4096, 4096);
    relu("relu7");
    weighted("fc8", OpClass::FullyConnected, 1000, 4097 * 1000, 4096);
    loss();
    for (auto step = backward.rbegin(); step != backward.rend(); ++step) {
      addBackward(*step);
    }
    return std::move(problem);
  }

private:
  struct Layer {
    std::string name;
    OpClass opClass;
    TensorId input;
    TensorId output;
    TensorId weight;
    int32_t number;
    int64_t timeNs;
  };

  /// `elements`: of one image.
  TensorId tensor(const std::string &name, uint64_t elements, TensorKind kind) {
    problem.tensors.push_back(
        {name, elements * batch * Float, kind, false, false, {}});
    return problem.tensors.size() - 1;
  }

  OpId op(const std::string &name, OpClass opClass, Phase phase, int32_t layer,
          std::vector<TensorId> reads, std::vector<TensorId> writes,
          int64_t timeNs) {
    problem.ops.push_back({name,
                           opClass,
                           phase,
                           layer,
                           std::move(reads),
                           std::move(writes),
                           {},
                           {{"implicit_gemm", 0, timeNs}}});
    return problem.ops.size() - 1;
  }

  int64_t streamTime(TensorId tensor) const {
    return int64_t(double(problem.tensors[tensor].bytes) / 336e9 * 2e9);
  }

  void weighted(const std::string &name, OpClass opClass, uint64_t outputs,
                uint64_t parameters, uint64_t depth) {
    TensorId weight = tensor(name + ".w", 0, TensorKind::Parameter);
    problem.tensors[weight].bytes = parameters * Float;
    problem.tensors[weight].liveIn = true;
    TensorId output = tensor(name, outputs, TensorKind::Activation);
    auto time =
        int64_t(2.0 * double(outputs) * double(depth) * batch / 7e12 * 1e9);
    op(name, opClass, Phase::Forward, layers, {current, weight}, {output},
       time);
    backward.push_back(
        {name, opClass, current, output, weight, layers++, 2 * time});
    current = output;
  }

  void relu(const std::string &name) {
    TensorId output = tensor(name, 0, TensorKind::Activation);
    problem.tensors[output].bytes = problem.tensors[current].bytes;
    int64_t time = streamTime(current);
    OpId id = op(name, OpClass::Activation, Phase::Forward, layers, {current},
                 {output}, time);
    problem.ops[id].inPlace = {{current, output}};
    backward.push_back(
        {name, OpClass::Activation, current, output, 0, layers++, time});
    current = output;
  }

  void pool(const std::string &name, uint64_t outputs) {
    TensorId output = tensor(name, outputs, TensorKind::Activation);
    int64_t time = streamTime(current);
    op(name, OpClass::Pool, Phase::Forward, layers, {current}, {output}, time);
    backward.push_back(
        {name, OpClass::Pool, current, output, 0, layers++, 2 * time});
    current = output;
  }

  void loss() {
    TensorId labels = tensor("labels", 2, TensorKind::Input);
    TensorId value = tensor("loss", 0, TensorKind::Output);
    problem.tensors[value].bytes = Float;
    problem.tensors[value].liveOut = true;
    op("loss", OpClass::Loss, Phase::Forward, layers, {current, labels},
       {value}, 1000);
    gradient = tensor("d.fc8", 1000, TensorKind::Activation);
    op("d.loss", OpClass::Loss, Phase::Backward, layers, {current, labels},
       {gradient}, 1000);
  }

  void addBackward(const Layer &layer) {
    std::vector<TensorId> reads{gradient};
    std::vector<TensorId> writes;
    bool hasWeight = layer.opClass == OpClass::Convolution ||
                     layer.opClass == OpClass::FullyConnected;
    if (layer.opClass != OpClass::Activation) {
      reads.push_back(layer.input);
    }
    if (!hasWeight) {
      reads.push_back(layer.output);
    }
    TensorId weightGradient = 0;
    if (hasWeight) {
      reads.push_back(layer.weight);
      weightGradient =
          tensor("d." + layer.name + ".w", 0, TensorKind::Gradient);
      problem.tensors[weightGradient].bytes =
          problem.tensors[layer.weight].bytes;
      writes.push_back(weightGradient);
    }
    TensorId passed = gradient;
    const Tensor input = problem.tensors[layer.input];
    if (input.kind != TensorKind::Input) {
      passed = tensor("d." + input.name, 0, TensorKind::Activation);
      problem.tensors[passed].bytes = input.bytes;
      writes.push_back(passed);
    }
    OpId id = op("d." + layer.name, layer.opClass, Phase::Backward,
                 layer.number, reads, writes, layer.timeNs);
    if (layer.opClass == OpClass::Activation) {
      problem.ops[id].inPlace = {{gradient, passed}};
    }
    if (hasWeight) {
      TensorId next = tensor(layer.name + ".w.new", 0, TensorKind::Parameter);
      problem.tensors[next] = problem.tensors[layer.weight];
      problem.tensors[next].name += ".new";
      problem.tensors[next].liveIn = false;
      problem.tensors[next].liveOut = true;
      problem.tensors[next].tiedTo = layer.weight;
      OpId sgd =
          op("sgd." + layer.name, OpClass::Update, Phase::Update, layer.number,
             {layer.weight, weightGradient}, {next}, streamTime(next));
      problem.ops[sgd].inPlace = {{layer.weight, next}};
    }
    gradient = passed;
  }

  uint64_t batch;
  uint32_t extra;
  Problem problem;
  std::vector<Layer> backward;
  TensorId current = 0;
  TensorId gradient = 0;
  int32_t layers = 0;
};

} // namespace

Problem vgg16(uint32_t batch, uint32_t extra) {
  return Builder(batch, extra).run();
}

OpId findOp(const Problem &problem, const std::string &name) {
  auto it = std::find_if(problem.ops.begin(), problem.ops.end(),
                         [&](const Op &op) { return op.name == name; });
  return it - problem.ops.begin();
}

TensorId findTensor(const Problem &problem, const std::string &name) {
  auto it =
      std::find_if(problem.tensors.begin(), problem.tensors.end(),
                   [&](const Tensor &tensor) { return tensor.name == name; });
  return it - problem.tensors.begin();
}

} // namespace vdnn::planning::test
