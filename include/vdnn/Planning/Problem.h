//===- Problem.h - what is to be planned ----------------------------------===//
//
// The input of every planning algorithm, free of any IR, so that it can be
// written by hand, fuzzed and benchmarked. Ops stand in execution order;
// "before op p" is the position p of the compute stream, and all positions and
// intervals of lib/Planning are on that axis, half-open. Sizes in bytes, times
// in nanoseconds.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_PLANNING_PROBLEM_H
#define VDNN_PLANNING_PROBLEM_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vdnn::planning {

using TensorId = uint32_t;
using OpId = uint32_t;

enum class TensorKind { Input, Output, Parameter, State, Gradient, Activation };

/// What the policies of the vDNN paper tell apart.
enum class OpClass {
  Convolution,
  Pool,
  Norm,
  Activation,
  FullyConnected,
  Dropout,
  Loss,
  Update,
  Other
};

enum class Phase { Forward, Backward, Update };

/// One value. Views share the tensor that they view.
struct Tensor {
  std::string name;
  uint64_t bytes = 0;
  TensorKind kind = TensorKind::Activation;
  /// Exists before the first op of a step (parameters, states): on the device,
  /// or on the host where no op reads or overwrites it.
  bool liveIn = false;
  /// Must lie on the device after the last op (new parameters and states;
  /// outputs wait there for their copy to the host).
  bool liveOut = false;
  /// The tensor whose range this one must take: the new value of a parameter or
  /// state lies where the old one lay.
  std::optional<TensorId> tiedTo;
  /// An input of which the next step's value is copied in while this step runs,
  /// once nothing reads this step's any more: it lives on the device from the
  /// beginning of a step to its end.
  bool staged = false;
};

/// One way to compute an op.
struct KernelChoice {
  std::string algorithm;
  uint64_t workspaceBytes = 0;
  int64_t timeNs = 0;
  /// Its results may differ in the last bits from run to run.
  bool nondeterministic = false;
};

/// Operand `from` may be overwritten by result `to` (tensors, not positions).
struct InPlacePair {
  TensorId from;
  TensorId to;
};

struct Op {
  std::string name;
  OpClass opClass = OpClass::Other;
  Phase phase = Phase::Forward;
  /// Number of the forward op that this op belongs to; its backward ops carry
  /// the same.
  int32_t layer = -1;
  std::vector<TensorId> reads;
  std::vector<TensorId> writes;
  std::vector<InPlacePair> inPlace;
  /// Never empty. Fastest first is not required.
  std::vector<KernelChoice> choices;
};

struct Link {
  double deviceToHostBytesPerSecond = 0;
  double hostToDeviceBytesPerSecond = 0;
  /// Rate of each direction while both run, as a share of its rate alone.
  double duplexFactor = 1.0;
  int64_t latencyNs = 0;
};

struct Problem {
  std::vector<Tensor> tensors;
  std::vector<Op> ops;
  Link link;
  /// Bytes for the device arena; none: unlimited.
  std::optional<uint64_t> deviceBudget;
  std::optional<uint64_t> hostBudget;
  /// Alignment of every range in both arenas.
  uint64_t alignment = 256;
};

/// Says what is wrong with a problem: a read before its write, a tensor written
/// twice, an op without choices, ids out of range, an in-place pair that is no
/// read and write of its op. Empty: nothing.
std::vector<std::string> check(const Problem &problem);

} // namespace vdnn::planning

#endif
