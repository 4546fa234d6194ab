//===- LossTest.cpp - softmax cross-entropy against plain loops -----------===//

#include "Harness.h"

#include <algorithm>
#include <optional>

namespace vdnn::rt::conformance {

namespace {

struct Case {
  Shape logits;
  std::string reduction;
  bool weighted;
  std::optional<int64_t> ignored;
  Layout layout = Layout::RowMajor;
  ElementType labelElement = ElementType::I64;

  int64_t classes() const { return logits[1]; }
  int64_t positions() const { return count(logits) / (logits[0] * classes()); }
  schedule::TypeT type() const { return makeType(logits, layout); }
  schedule::TypeT labelType() const {
    Shape shape = logits;
    shape.erase(shape.begin() + 1);
    return makeType(shape, Layout::RowMajor, labelElement);
  }
  schedule::TypeT lossType() const {
    return reduction == "none" ? makeType(labelType().shape) : makeType({});
  }
  Tensor labels() const {
    Tensor labels =
        randomTensor(labelType(), 7, 0, static_cast<double>(classes()));
    for (size_t i = 0; i < labels.values.size(); ++i) {
      labels.values[i] = ignored && i % 3 == 1 ? static_cast<double>(*ignored)
                                               : std::floor(labels.values[i]);
    }
    return labels;
  }
  Tensor weights() const {
    return randomTensor(makeType({classes()}), 8, 0.5, 2);
  }
  std::vector<double> logProb(const std::vector<double> &x) const;
  std::vector<double> loss(const std::vector<double> &x) const;
  Launch launch(const char *kind) const {
    Launch launch(kind);
    launch.text("reduction", reduction);
    if (ignored) {
      launch.ints("ignore_index", {*ignored});
    }
    return launch;
  }
};

class LossTest : public testing::TestWithParam<Case> {};

} // namespace

std::vector<double> Case::logProb(const std::vector<double> &x) const {
  std::vector<double> result(x.size());
  for (int64_t sample = 0; sample < logits[0] * positions(); ++sample) {
    int64_t base =
        sample / positions() * classes() * positions() + sample % positions();
    double sum = 0;
    for (int64_t c = 0; c < classes(); ++c) {
      sum += std::exp(x[base + c * positions()]);
    }
    for (int64_t c = 0; c < classes(); ++c) {
      result[base + c * positions()] =
          x[base + c * positions()] - std::log(sum);
    }
  }
  return result;
}

std::vector<double> Case::loss(const std::vector<double> &x) const {
  std::vector<double> lp = logProb(x), w = weights().values,
                      labelValues = labels().values, terms;
  double total = 0, weight = 0;
  for (int64_t sample = 0; sample < logits[0] * positions(); ++sample) {
    int64_t label = static_cast<int64_t>(labelValues[sample]);
    double own = ignored && label == *ignored ? 0 : weighted ? w[label] : 1;
    int64_t at = sample / positions() * classes() * positions() +
                 label * positions() + sample % positions();
    terms.push_back(own == 0 ? 0 : -own * lp[at]);
    total += terms.back();
    weight += own;
  }
  return reduction == "none"
             ? terms
             : std::vector<double>{reduction == "mean" ? total / weight
                                                       : total};
}

TEST_P(LossTest, Forward) {
  const Case &c = GetParam();
  Tensor x = randomTensor(c.type(), 1, -3, 3);
  for (bool inPlace : {false, true}) {
    Launch launch = c.launch("softmax_cross_entropy");
    launch.read(x).read(c.labels()).write(c.lossType()).write(c.type());
    if (c.weighted) {
      launch.read(c.weights());
    }
    if (inPlace) {
      launch.inPlace(0, 1);
    }
    std::vector<Tensor> results = launch.run();
    expectClose(results[0], c.loss(x.values), 1e-6);
    expectClose(results[1], c.logProb(x.values), 1e-6);
  }
}

TEST_P(LossTest, Backward) {
  const Case &c = GetParam();
  Tensor x = randomTensor(c.type(), 1, -3, 3),
         dloss = randomTensor(c.lossType(), 2, 0.5, 2);
  std::vector<double> dx =
      numericalGradient([&](const auto &values) { return c.loss(values); },
                        x.values, dloss.values);
  for (bool inPlace : {false, true}) {
    Launch launch = c.launch("softmax_cross_entropy_backward");
    launch.read(dloss)
        .read(tensor(c.type(), c.logProb(x.values)))
        .read(c.labels())
        .write(c.type());
    if (c.weighted) {
      launch.read(c.weights());
    }
    if (inPlace) {
      launch.inPlace(1, 0);
    }
    expectClose(launch.run()[0], dx, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, LossTest,
    testing::Values(
        Case{{8, 10}, "mean", false, {}}, Case{{8, 10}, "sum", true, {}},
        Case{{9, 40}, "mean", true, 3}, Case{{9, 40}, "none", false, {}},
        Case{{8, 10}, "mean", true, 3}, Case{{8, 10}, "none", true, -1},
        Case{{2, 5, 3, 4}, "mean", true, 255},
        Case{{2, 5, 3, 4}, "mean", true, 255, Layout::ChannelsLast},
        Case{{2, 5, 6}, "none", false, {}, Layout::ChannelsLast},
        Case{{6, 7}, "mean", false, {}, Layout::RowMajor, ElementType::I32},
        Case{{3, 1}, "mean", false, {}}));

} // namespace vdnn::rt::conformance
