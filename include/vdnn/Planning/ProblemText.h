//===- ProblemText.h - problems and solutions as text ---------------------===//
//
// A form that people can read, write and diff, so that a plan that went wrong
// becomes a test. One item per line, "#" begins a comment, tensors are %N and
// ops @N in order of their lines:
//
//   problem
//   alignment 256
//   budget device 1048576
//   link to-host 1.6e+10 to-device 1.6e+10 duplex 1 latency 10000
//   tensor "x" 4096 input staged
//   tensor "w" 4096 parameter live-in
//   tensor "y" 4096 activation
//   tensor "w.new" 4096 parameter live-out tied %1
//   op "conv1" convolution forward layer 0 reads %0 %1 writes %2
//     kernel "implicit_gemm" workspace 0 time 1000
//   op "sgd" update update reads %1 %2 writes %3 in-place %1 %3
//     kernel "" workspace 0 time 100
//
//   solution
//   kernels 0 0
//   tensor %0 keep "kept: policy"
//   transfer %2 offload @1 release @2 prefetch @5 needed @6
//   barrier @2
//
// What is written reads back equal.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_PLANNING_PROBLEMTEXT_H
#define VDNN_PLANNING_PROBLEMTEXT_H

#include "vdnn/Planning/Solution.h"

#include <string_view>

namespace vdnn::planning {

std::string toText(const Problem &problem);
std::string toText(const Solution &solution);

/// Where and why a text was refused; line and column count from 1.
struct TextError {
  size_t line = 0;
  size_t column = 0;
  std::string message;
};

/// The problem (or none, with `error` set). Reads the form only; `check` says
/// whether the problem makes sense.
std::optional<Problem> parseProblem(std::string_view text, TextError &error);

/// The solution (or none, with `error` set); `verify` says whether it fits its
/// problem.
std::optional<Solution> parseSolution(std::string_view text, TextError &error);

} // namespace vdnn::planning

#endif
