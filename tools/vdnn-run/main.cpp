//===- main.cpp - vdnn-run: the command line ------------------------------===//

#include "Options.h"

#include "runtime/exec/Checkpoint.h"
#include "runtime/exec/Open.h"

#include <CLI/CLI.hpp>
#include <cstdio>

using namespace vdnn;
using namespace vdnn::tool;

static constexpr const char *kDescription =
    R"(Runs a plan that vdnn-opt made: trains or evaluates it, on the device it was made for.)";

static constexpr const char *kExamples = R"(Examples:
  Train for 5 passes over the data, in another order each time, and keep the result:
    vdnn-run plan.mlir --data x=images.npy --data labels=labels.npy --epochs 5 --shuffle 1 --rate 0.05 --save net.safetensors

  Go on after an interruption, with the same bits as if there had been none (but of nondeterministic plans):
    vdnn-run plan.mlir --data x=images.npy --data labels=labels.npy --epochs 5 --resume net.safetensors --save net.safetensors

  Accuracy of the trained net, with a plan of the model without a loss:
    vdnn-run test.mlir --weights net.safetensors --data x=test.npy --labels test_labels.npy

  Show that the planned run computes what the unplanned one does:
    vdnn-run plan.mlir --compare unplanned.mlir --steps 5

  See what happens when, without the device (open the file in Perfetto):
    vdnn-run plan.mlir --device sim --trace trace.json

  Only prove that the plan may run:
    vdnn-run plan.vdnn --check

A file of weights beside the plan, with its stem, is found by itself. Without --data inputs are random.)";

/// "NAME=FILE" to an entry; the name may hold no '='.
static CLI::Option *addPairs(CLI::App &app, const std::string &flag,
                             std::map<std::string, std::string> &pairs,
                             const std::string &help) {
  return app
      .add_option_function<std::vector<std::string>>(
          flag,
          [&pairs, flag](const std::vector<std::string> &values) {
            for (const std::string &value : values) {
              size_t equals = value.find('=');
              if (equals == std::string::npos || equals == 0 ||
                  equals + 1 == value.size()) {
                throw CLI::ValidationError(flag, "expected NAME=FILE, got '" +
                                                     value + "'");
              }
              pairs[value.substr(0, equals)] = value.substr(equals + 1);
            }
          },
          help)
      ->allow_extra_args(false)
      ->type_name("NAME=FILE");
}

/// The parts of the learning rate, of which each may be absent.
struct RateOptions {
  std::optional<double> base;
  std::optional<std::string> kind;
  std::optional<double> factor;
  std::optional<uint64_t> every;

  std::optional<rt::RateSchedule> schedule() const {
    if (!base && !kind && !factor && !every) {
      return std::nullopt;
    }
    rt::RateSchedule rate;
    rate.base = base.value_or(rate.base);
    rate.kind = kind ? *rt::parseRateKind(*kind) : rate.kind;
    rate.factor = factor.value_or(rate.factor);
    rate.every = every.value_or(rate.every);
    return rate;
  }
};

static void addRunOptions(CLI::App &app, RunOptions &options,
                          RateOptions &rate) {
  rt::SessionOptions &session = options.session;
  app.add_option("plan", options.plan, "plan.mlir, or plan.vdnn")->required();
  app.add_option("--device", options.device,
                 "default: what the plan is made for")
      ->check(CLI::IsMember(rt::deviceKinds()));
  app.add_option("--threads", options.threads,
                 "compute threads of the cpu device; default: all cores");
  addPairs(app, "--data", session.data,
           "an input's samples: a .npy or .pb file (the plan takes batches "
           "along its first dimension), or 'synthetic'");
  app.add_option("--shuffle", session.shuffle,
                 "take the samples in random order, another one each pass")
      ->type_name("SEED");
  CLI::Option *steps = app.add_option(
      "--steps", options.steps, "steps in all, those before --resume included");
  app.add_option("--epochs", options.epochs, "passes over the data; default: 1")
      ->excludes(steps);
  app.add_option("--seed", session.seed,
                 "of initial weights, dropout and synthetic data; default: 0");
  app.add_option("--rate", rate.base, "learning rate; default: 0.01");
  app.add_option("--rate-schedule", rate.kind,
                 "constant, step (times --rate-factor every --rate-every "
                 "steps), cosine (to 0)")
      ->check(CLI::IsMember({"constant", "step", "cosine"}));
  app.add_option("--rate-factor", rate.factor, "default: 0.1");
  app.add_option("--rate-every", rate.every, "default: 1000")
      ->check(CLI::PositiveNumber);
  app.add_option("--weights", session.weights, "initial weights, .safetensors");
  CLI::Option *save = app.add_option(
      "--save", options.save, "write weights and state here when the run ends");
  app.add_option("--save-every", options.saveEvery, "and after every N steps")
      ->needs(save)
      ->type_name("N");
  app.add_option("--resume", session.resume,
                 "go on from a file that --save wrote")
      ->excludes("--weights");
}

static void addResultOptions(CLI::App &app, RunOptions &options) {
  app.add_option(
      "--labels", options.labels,
      "labels of the samples: print the accuracy of an inference plan");
  addPairs(app, "--output", options.outputs,
           "write an output of all samples to a .npy file");
  app.add_option("--dump-gradients", options.dumpGradients,
                 "write the last step's gradients, .safetensors");
  CLI::Option *dump =
      app.add_option("--dump-tensors", options.dumpTensors,
                     "write what the last step computed, .safetensors: each "
                     "tensor as it was before its memory was used again");
  app.add_option("--dump-filter", options.dumpFilter,
                 "of --dump-tensors: only tensors whose name holds a match of "
                 "this regular expression (ECMAScript)")
      ->needs(dump)
      ->type_name("REGEX");
  CLI::Option *compare =
      app.add_option("--compare", options.compare,
                     "run another plan beside this one, compare bit for bit; "
                     "not with nondeterministic kernels")
          ->type_name("PLAN");
  CLI::Option *test = app.add_option("--onnx-test", options.onnxTest,
                                     "replay the ONNX test data in this folder")
                          ->excludes(compare);
  app.add_option("--rtol", options.relativeTolerance,
                 "of --onnx-test; default: 1e-3")
      ->needs(test);
  app.add_option("--atol", options.absoluteTolerance,
                 "of --onnx-test; default: 1e-5")
      ->needs(test);
  app.add_flag("--check", options.check, "only prove that the plan may run")
      ->excludes(compare)
      ->excludes(test);
  app.add_option("--trace", options.trace,
                 "write what ran when, as Chrome trace events, and print what "
                 "the time of a step goes into; on cuda of the first 8 steps");
  app.add_option(
         "--update-profile", options.updateProfile,
         "write into a profile (vdnn-profile) how fast the plan's large "
         "copies were in this run, and how long a step takes beyond its "
         "kernels alone where copies hide (16 steps or more): neither is "
         "what single kernels tell; plan again with it")
      ->check(CLI::ExistingFile);
  app.add_option(
         "--log-every", options.logEvery,
         "print a line every N steps; default: 10 where there is no terminal")
      ->type_name("N");
  app.add_option_function<std::string>(
         "--report", [&options](const std::string &) { options.json = true; },
         "json: print the result as JSON")
      ->check(CLI::IsMember({"json"}));
}

static void addDebugOptions(CLI::App &app, rt::SessionOptions &session) {
  app.add_flag_callback(
         "--no-graph", [&session] { session.graph = false; },
         "submit the commands of every step one by one; default: where the "
         "device can, steps after the first are one CUDA graph")
      ->group("Debugging");
  app.add_flag("--poison", session.poison,
               "fill memory that holds nothing with NaN")
      ->group("Debugging");
  app.add_option("--jitter", session.jitter, "delay commands at random")
      ->type_name("SEED")
      ->group("Debugging");
  app.add_flag(
         "--verify-copies", session.verifyCopies,
         "compare every tensor that comes back from the host with what left")
      ->group("Debugging");
}

/// Options that a mode does not heed are refused with it.
static void addExclusions(CLI::App &app) {
  const std::vector<std::string> results = {
      "--save",           "--save-every",   "--labels", "--output",
      "--dump-gradients", "--dump-tensors", "--trace",  "--update-profile",
      "--log-every",      "--report"};
  const std::vector<std::string> training = {
      "--steps",         "--epochs",      "--data",       "--shuffle", "--rate",
      "--rate-schedule", "--rate-factor", "--rate-every", "--resume"};
  const std::vector<std::string> debugging = {"--no-graph", "--poison",
                                              "--jitter", "--verify-copies"};
  auto exclude = [&app](const char *mode,
                        const std::vector<std::string> &others) {
    for (const std::string &other : others) {
      app.get_option(mode)->excludes(app.get_option(other));
    }
  };
  for (const char *mode : {"--compare", "--onnx-test", "--check"}) {
    exclude(mode, results);
  }
  for (const char *mode : {"--onnx-test", "--check"}) {
    exclude(mode, training);
  }
  exclude("--check", debugging);
  // Their own work is not a step's.
  exclude("--update-profile",
          {"--poison", "--jitter", "--verify-copies", "--no-graph",
           "--dump-gradients", "--dump-tensors"});
  exclude("--check", {"--weights", "--seed"});
}

/// What the cpu device of this machine calls itself, for plans that are made by
/// hand.
static void addFingerprint(CLI::App &app, const RunOptions &options) {
  app.add_flag_callback(
         "--fingerprint",
         [&options] {
           schedule::ScheduleT plan;
           plan.target = std::make_unique<schedule::DeviceT>();
           rt::Result<std::unique_ptr<rt::Device>> device =
               rt::openDevice(options.device.empty() ? "cpu" : options.device,
                              plan, options.threads);
           if (!device) {
             throw CLI::ValidationError("--fingerprint", device.message());
           }
           std::printf("%s\n", (*device)->fingerprint().c_str());
           throw CLI::Success();
         },
         "print what plans for this machine's device have as their target's "
         "fingerprint, and exit")
      ->group("Debugging");
}

static rt::Result<bool> run(const RunOptions &options) {
  if (options.check) {
    return checkPlan(options);
  }
  if (!options.compare.empty()) {
    return comparePlans(options);
  }
  return options.onnxTest.empty() ? train(options) : runOnnxTest(options);
}

int main(int argc, char **argv) {
  CLI::App app(kDescription, "vdnn-run");
  app.footer(kExamples);
  RunOptions options;
  RateOptions rate;
  addRunOptions(app, options, rate);
  addResultOptions(app, options);
  addDebugOptions(app, options.session);
  addExclusions(app);
  addFingerprint(app, options);
  CLI11_PARSE(app, argc, argv);
  options.session.rate = rate.schedule();
  rt::Result<bool> result = run(options);
  if (!result) {
    std::fprintf(stderr, "error: %s\n", result.message().c_str());
    return 1;
  }
  return *result ? 0 : 1;
}
