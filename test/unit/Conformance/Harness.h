//===- Harness.h - one kernel on a backend, with guards -------------------===//

#ifndef VDNN_TEST_UNIT_CONFORMANCE_HARNESS_H
#define VDNN_TEST_UNIT_CONFORMANCE_HARNESS_H

#include "Backend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace vdnn::rt::conformance {

using schedule::ElementType;
using schedule::Layout;
using Shape = std::vector<int64_t>;

int64_t count(const Shape &shape);

/// A tensor with its values in logical row-major order, whatever its layout in
/// memory.
struct Tensor {
  schedule::TypeT type;
  std::vector<double> values;

  /// In memory, as the type says.
  std::vector<std::byte> encode() const;
  static Tensor decode(const schedule::TypeT &type,
                       const std::vector<std::byte> &bytes);
};

schedule::TypeT makeType(Shape shape, Layout layout = Layout::RowMajor,
                         ElementType element = ElementType::F32);

/// Channels last from rank 3 on.
schedule::TypeT activation(Shape shape, ElementType element = ElementType::F32);

/// What the backend takes for activations: f32, and bf16 where it does.
std::vector<ElementType> activationElements();

/// For names of tests.
std::string nameOf(ElementType element);

/// Deterministic values in [low, high).
Tensor randomTensor(schedule::TypeT type, uint64_t seed, double low = -1,
                    double high = 1);
Tensor tensor(schedule::TypeT type, std::vector<double> values);

/// What a tensor with these values holds.
std::vector<double> rounded(ElementType element, std::vector<double> values);

/// One instruction of a pointwise program.
struct Instruction {
  std::string code;
  std::vector<uint32_t> operands = {};
  ElementType element = ElementType::F32;
  std::string predicate = "";
  double constant = 0;
};

/// A launch of one kernel.
class Launch {
public:
  explicit Launch(std::string kind) { kernel_.kind = std::move(kind); }

  Launch &ints(const std::string &name, std::vector<int64_t> values);
  Launch &number(const std::string &name, double value);
  Launch &text(const std::string &name, const std::string &value);
  Launch &algorithm(const std::string &name);
  /// Algorithms may sum in an order that differs from run to run.
  Launch &nondeterministic(bool value = true);
  Launch &program(std::vector<Instruction> instructions,
                  std::vector<uint32_t> results);
  Launch &read(Tensor value);
  Launch &write(schedule::TypeT type);
  /// Computes result `write` in the range of operand `read`.
  Launch &inPlace(uint32_t read, uint32_t write);
  /// Moves every operand by this many times the alignment.
  Launch &shift(uint64_t places);

  /// Runs it; fails the test on any error, and where anything but the results
  /// changed.
  std::vector<Tensor> run() const;

  /// Memory of the results, for comparing bits.
  std::vector<std::vector<std::byte>> runForBytes() const;

  /// What `prepare` says; `workspaceBytes` in place of what the backend asks
  /// for.
  Status prepare(uint64_t workspaceBytes = UINT64_MAX) const;

  std::vector<std::string> algorithms() const;
  uint64_t workspaceBytes() const;

private:
  struct Placed;
  std::vector<const schedule::TypeT *> readTypes() const;
  std::vector<const schedule::TypeT *> writeTypes() const;
  schedule::AttributeT &attribute(const std::string &name);
  Placed place(uint64_t workspaceBytes) const;

  schedule::KernelT kernel_;
  std::vector<Tensor> reads_;
  std::vector<schedule::TypeT> writes_;
  std::vector<schedule::InPlace> inPlace_;
  uint64_t shift_ = 0;
};

/// |actual - expected| <= tolerance * max(1, largest |expected|), element by
/// element; NaN matches NaN.
void expectClose(const Tensor &actual, const std::vector<double> &expected,
                 double tolerance = 1e-5);

/// As above. Elements of bf16 may be one unit of the last of their eight digits
/// further away.
void expectRounded(const Tensor &actual, const std::vector<double> &expected,
                   double tolerance = 1e-5);

/// The gradient of sum(weights * function(x)) by central differences.
std::vector<double> numericalGradient(
    const std::function<std::vector<double>(const std::vector<double> &)>
        &function,
    const std::vector<double> &x, const std::vector<double> &weights);

} // namespace vdnn::rt::conformance

#endif
