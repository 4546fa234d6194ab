//===- Options.h - what the command line says -----------------------------===//

#ifndef VDNN_TOOLS_VDNNRUN_OPTIONS_H
#define VDNN_TOOLS_VDNNRUN_OPTIONS_H

#include "runtime/exec/Session.h"

namespace vdnn::tool {

struct RunOptions {
  std::string plan;
  std::string device; ///< empty: what the plan is for
  unsigned threads = 0;

  rt::SessionOptions session; ///< `planWeights` is found beside the plan

  std::optional<uint64_t> steps;
  std::optional<uint64_t> epochs;
  std::optional<uint64_t> logEvery;
  std::string save;
  uint64_t saveEvery = 0;

  std::string labels;
  std::map<std::string, std::string> outputs; ///< by output: a `.npy` file
  std::string dumpGradients;
  std::string dumpTensors;
  std::string dumpFilter; ///< a regular expression; empty: every tensor
  std::string trace;
  std::string updateProfile;
  std::string compare;
  std::string onnxTest;
  double relativeTolerance = 1e-3;
  double absoluteTolerance = 1e-5;
  bool check = false;
  bool json = false;
};

/// The modes. Each prints what it has to say and returns an error, or whether
/// the result is a good one (exit code 0).
rt::Result<bool> checkPlan(const RunOptions &options);
rt::Result<bool> comparePlans(const RunOptions &options);
rt::Result<bool> runOnnxTest(const RunOptions &options);
rt::Result<bool> train(const RunOptions &given);

} // namespace vdnn::tool

#endif
