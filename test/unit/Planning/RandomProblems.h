//===- RandomProblems.h - training steps and solutions from a seed --------===//

#ifndef VDNN_TEST_UNIT_PLANNING_RANDOMPROBLEMS_H
#define VDNN_TEST_UNIT_PLANNING_RANDOMPROBLEMS_H

#include "vdnn/Planning/Solution.h"

#include <random>

namespace vdnn::planning::test {

/// A training step of about `layers` forward layers with forks, joins, in-place
/// ops, ties, outputs, inputs of both sizes and workspaces. Passes `check`;
/// every tensor that is written is read or put out.
Problem randomProblem(uint32_t seed, uint32_t layers);

/// Any kernels, round trips (several per tensor) and barriers that pass
/// `verify`.
Solution randomSolution(const Problem &problem, uint32_t seed);

/// Seeds per property: a few, or what the environment asks for.
uint32_t seedCount(uint32_t usual);

} // namespace vdnn::planning::test

#endif
