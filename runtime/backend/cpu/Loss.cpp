//===- Loss.cpp - softmax cross-entropy and its gradient ------------------===//

#include "runtime/backend/cpu/Factories.h"
#include "runtime/backend/cpu/Parallel.h"

#include <cmath>
#include <optional>

namespace vdnn::rt::cpu {

using schedule::ElementType;
using schedule::TypeT;

namespace {

enum class Reduction { Mean, Sum, None };

/// Logits are images x classes x positions; labels images x positions.
struct LossShape {
  int64_t images, classes, positions;
  int64_t classStride, positionStride;
  bool wideLabels, weighted;
  Reduction reduction;
  std::optional<int64_t> ignored;

  int64_t samples() const { return images * positions; }
  int64_t base(int64_t sample) const {
    return sample / positions * classes * positions +
           sample % positions * positionStride;
  }
};

/// Labels and weights of a launch. Class -1 stands for an ignored label.
struct Labels {
  const LossShape &shape;
  const std::byte *data;
  const float *weights;

  int64_t value(int64_t sample) const {
    return shape.wideLabels ? reinterpret_cast<const int64_t *>(data)[sample]
                            : reinterpret_cast<const int32_t *>(data)[sample];
  }
  int64_t classOf(int64_t sample) const {
    int64_t label = value(sample);
    return shape.ignored && label == *shape.ignored ? -1 : label;
  }
  double weight(int64_t label) const {
    return label < 0 ? 0.0 : weights ? weights[label] : 1.0;
  }

  /// The labels come from outside: one beyond the classes would read beyond the
  /// tensor.
  Status check() const {
    for (int64_t sample = 0; sample < shape.samples(); ++sample) {
      int64_t label = classOf(sample);
      bool ignored = shape.ignored && value(sample) == *shape.ignored;
      if (!ignored && (label < 0 || label >= shape.classes)) {
        return Error{"label " + std::to_string(label) + " of sample " +
                     std::to_string(sample) + " is no class, expected 0 to " +
                     std::to_string(shape.classes - 1)};
      }
    }
    return {};
  }

  double totalWeight() const {
    double total = 0;
    for (int64_t sample = 0; sample < shape.samples(); ++sample) {
      total += weight(classOf(sample));
    }
    return total;
  }
};

} // namespace

/// `loss` is the loss or its gradient. Reads 1 and 2 are labels and weights if
/// `first` is 1.
static Result<LossShape> describe(const Request &request, const TypeT &logits,
                                  size_t first, const TypeT &loss) {
  if (logits.shape.size() < 2 || logits.shape[1] < 1) {
    return Error{"expected logits with a batch and classes, found shape " +
                 toString(logits.shape)};
  }
  const TypeT &labels = *request.types.reads[first];
  std::vector<int64_t> expected = logits.shape;
  expected.erase(expected.begin() + 1);
  VDNN_TRY(expectShape(labels, expected, "labels"));
  if (labels.element != ElementType::I64 &&
      labels.element != ElementType::I32) {
    return Error{std::string("expected labels of 'I64' or 'I32', found '") +
                 schedule::EnumNameElementType(labels.element) + "'"};
  }
  VDNN_TRY(expectLayout(labels, schedule::Layout::RowMajor, "labels"));
  LossShape s;
  s.images = logits.shape[0];
  s.classes = logits.shape[1];
  s.positions = countElements(expected) / std::max<int64_t>(s.images, 1);
  std::vector<int64_t> strides = memoryStrides(logits);
  s.classStride = strides[1];
  // Without positions the two layouts are one.
  s.positionStride = strides[1] == 1 ? s.classes : 1;
  if (s.positions > 1 && s.classes > 1 && strides.size() > 2) {
    s.positionStride = strides.back();
  }
  s.wideLabels = labels.element == ElementType::I64;
  s.weighted = request.types.reads.size() > first + 1;
  if (s.weighted) {
    VDNN_TRY(
        expectShape(*request.types.reads[first + 1], {s.classes}, "weights"));
    VDNN_TRY(expectElement(*request.types.reads[first + 1], ElementType::F32,
                           "weights"));
  }
  std::string reduction =
      schedule::getText(request.kernel, "reduction", "mean");
  if (reduction != "mean" && reduction != "sum" && reduction != "none") {
    return Error{"unknown reduction '" + reduction +
                 "', expected 'mean', 'sum' or 'none'"};
  }
  s.reduction = reduction == "mean"  ? Reduction::Mean
                : reduction == "sum" ? Reduction::Sum
                                     : Reduction::None;
  VDNN_TRY(expectElement(loss, ElementType::F32, "loss"));
  VDNN_TRY(expectShape(
      loss, s.reduction == Reduction::None ? expected : std::vector<int64_t>{},
      "loss"));
  if (s.reduction == Reduction::None) {
    VDNN_TRY(expectLayout(loss, schedule::Layout::RowMajor, "loss"));
  }
  if (schedule::findAttribute(request.kernel, "ignore_index")) {
    s.ignored = schedule::getInt(request.kernel, "ignore_index");
  }
  return s;
}

/// The log-softmax of one sample; `step` elements lie between classes.
static void logSoftmax(float *y, const float *x, int64_t classes,
                       int64_t step) {
  float largest = x[0];
  for (int64_t c = 1; c < classes; ++c) {
    largest = std::max(largest, x[c * step]);
  }
  double sum = 0;
  for (int64_t c = 0; c < classes; ++c) {
    sum += std::exp(x[c * step] - largest);
  }
  float logSum = static_cast<float>(std::log(sum));
  for (int64_t c = 0; c < classes; ++c) {
    y[c * step] = x[c * step] - largest - logSum;
  }
}

Result<Kernel> createSoftmaxCrossEntropy(const Request &request) {
  VDNN_TRY(expectArity(request, {2, 3, 2, 2}));
  VDNN_TRY(expectAllF32(request, {1}));
  const TypeT &logits = *request.types.reads[0];
  VDNN_TRY(expectSameType(*request.types.writes[1], logits, "log_prob"));
  Result<LossShape> shape =
      describe(request, logits, 1, *request.types.writes[0]);
  VDNN_TRY(shape.status());
  Kernel kernel;
  kernel.inPlace = {{0, 1}};
  kernel.run = [s = *shape,
                threads = request.threads](const Operands &operands) -> Status {
    const float *logits = operands.read<float>(0);
    float *loss = operands.write<float>(0), *logProb = operands.write<float>(1);
    Labels labels{s, operands.reads[1],
                  s.weighted ? operands.read<float>(2) : nullptr};
    VDNN_TRY(labels.check());
    parallelFor(threads, s.samples(), [&](int64_t sample) {
      logSoftmax(logProb + s.base(sample), logits + s.base(sample), s.classes,
                 s.classStride);
    });
    double total = 0;
    for (int64_t sample = 0; sample < s.samples(); ++sample) {
      int64_t label = labels.classOf(sample);
      double term = label < 0
                        ? 0.0
                        : -labels.weight(label) *
                              logProb[s.base(sample) + label * s.classStride];
      total += term;
      if (s.reduction == Reduction::None) {
        loss[sample] = static_cast<float>(term);
      }
    }
    if (s.reduction != Reduction::None) {
      *loss = static_cast<float>(s.reduction == Reduction::Mean
                                     ? total / labels.totalWeight()
                                     : total);
    }
    return {};
  };
  return kernel;
}

Result<Kernel> createSoftmaxCrossEntropyBackward(const Request &request) {
  VDNN_TRY(expectArity(request, {3, 4, 1, 1}));
  VDNN_TRY(expectAllF32(request, {2}));
  const TypeT &logProb = *request.types.reads[1];
  VDNN_TRY(expectSameType(*request.types.writes[0], logProb, "dlogits"));
  Result<LossShape> shape =
      describe(request, logProb, 2, *request.types.reads[0]);
  VDNN_TRY(shape.status());
  Kernel kernel;
  kernel.inPlace = {{1, 0}};
  kernel.run = [s = *shape,
                threads = request.threads](const Operands &operands) -> Status {
    const float *dloss = operands.read<float>(0),
                *logProb = operands.read<float>(1);
    float *dlogits = operands.write<float>(0);
    Labels labels{s, operands.reads[2],
                  s.weighted ? operands.read<float>(3) : nullptr};
    VDNN_TRY(labels.check());
    double divisor =
        s.reduction == Reduction::Mean ? labels.totalWeight() : 1.0;
    parallelFor(threads, s.samples(), [&](int64_t sample) {
      int64_t label = labels.classOf(sample), base = s.base(sample);
      float outer = dloss[s.reduction == Reduction::None ? sample : 0];
      float factor =
          label < 0
              ? 0.0f
              : static_cast<float>(outer * labels.weight(label) / divisor);
      for (int64_t c = 0; c < s.classes; ++c) {
        int64_t at = base + c * s.classStride;
        float gradient = std::exp(logProb[at]) - (c == label ? 1.0f : 0.0f);
        dlogits[at] = label < 0 ? 0.0f : gradient * factor;
      }
    });
    return {};
  };
  return kernel;
}

} // namespace vdnn::rt::cpu
