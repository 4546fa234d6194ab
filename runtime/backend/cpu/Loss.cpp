//===- Loss.cpp - softmax cross-entropy and its gradient ------------------===//

#include "runtime/backend/common/LossShape.h"
#include "runtime/backend/cpu/Factories.h"
#include "runtime/backend/cpu/Parallel.h"

#include <cmath>

namespace vdnn::rt::cpu {

/// Where the sample's logit of class 0 lies.
static int64_t baseOf(const LossShape &s, int64_t sample) {
  return sample / s.positions * s.classes * s.positions +
         sample % s.positions * s.positionStride;
}

namespace {

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
  Result<LossShape> shape = LossShape::parse(request.kernel, request.types);
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
      logSoftmax(logProb + baseOf(s, sample), logits + baseOf(s, sample),
                 s.classes, s.classStride);
    });
    double total = 0;
    for (int64_t sample = 0; sample < s.samples(); ++sample) {
      int64_t label = labels.classOf(sample);
      double term =
          label < 0 ? 0.0
                    : -labels.weight(label) *
                          logProb[baseOf(s, sample) + label * s.classStride];
      total += term;
      if (s.reduction == LossReduction::None) {
        loss[sample] = static_cast<float>(term);
      }
    }
    if (s.reduction != LossReduction::None) {
      *loss = static_cast<float>(s.reduction == LossReduction::Mean
                                     ? total / labels.totalWeight()
                                     : total);
    }
    return {};
  };
  return kernel;
}

Result<Kernel> createSoftmaxCrossEntropyBackward(const Request &request) {
  Result<LossShape> shape =
      LossShape::parseBackward(request.kernel, request.types);
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
        s.reduction == LossReduction::Mean ? labels.totalWeight() : 1.0;
    parallelFor(threads, s.samples(), [&](int64_t sample) {
      int64_t label = labels.classOf(sample), base = baseOf(s, sample);
      float outer = dloss[s.reduction == LossReduction::None ? sample : 0];
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
