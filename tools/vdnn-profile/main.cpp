//===- main.cpp - vdnn-profile: the command line --------------------------===//

#include "tools/common/Plan.h"

#include "runtime/profile/Profile.h"
#include "runtime/support/AtomicFile.h"
#include "runtime/support/Format.h"
#include "runtime/support/MappedFile.h"
#include "runtime/support/Progress.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

using namespace vdnn;

static constexpr const char *kDescription =
    R"(Measures how long each way to run each kernel of a model takes on this machine's GPU, and how fast copies
to the host and back are. Ways that compute something else than the others are left out. vdnn-opt plans from
the result.)";

static constexpr const char *kExamples = R"(Examples:
  Measure what training ResNet-50 needs, then plan with the times:
    vdnn-profile resnet50.onnx -o h200.json --plan-option=--batch=256 --plan-option=--loss=cross_entropy
    vdnn-opt resnet50.onnx --batch=256 --loss=cross_entropy --profile h200.json --budget=8GiB -o plan.mlir

  On a machine without the compiler, from a plan made elsewhere (of any policy):
    vdnn-opt resnet50.onnx --batch=256 --loss=cross_entropy --device=cuda -o plan.vdnn
    vdnn-profile plan.vdnn -o h200.json

  Add what another plan needs, and measure nothing twice:
    vdnn-profile vgg16.vdnn --update h200.json -o h200.json

  A plan tells by its own steps how fast its copies are, or its kernels where copies hide; plan again with that:
    vdnn-run plan.vdnn --steps 100 --rate 1e-6 --update-profile h200.json

  Also measure ways whose last bits differ from run to run, and plan with them:
    vdnn-profile vgg16.vdnn --update h200.json -o h200.json --allow-nondeterministic
    vdnn-opt vgg16.onnx --batch=64 --loss=cross_entropy --profile h200.json --allow-nondeterministic -o vgg16.mlir

Nothing else should use the GPU meanwhile. A profile is good for the GPU, cuDNN and cuBLAS it was made with.)";

namespace {

struct ProfileCommand {
  std::string input;
  std::string output;
  std::string update;
  std::vector<std::string> planOptions;
  rt::ProfileOptions options;
};

} // namespace

static rt::Result<schedule::ScheduleT> readPlan(const ProfileCommand &command) {
  if (!command.input.ends_with(".onnx")) {
    if (!command.planOptions.empty()) {
      return rt::Error{"'--plan-option' is for models, and '" + command.input +
                       "' is a plan already"};
    }
    return tool::loadPlan(command.input);
  }
  std::vector<std::string> options = command.planOptions;
  options.push_back("--device=cuda");
  options.push_back("--summary=none");
  if (command.options.allowNondeterministic) {
    options.push_back("--allow-nondeterministic"); // Some shapes need it.
  }
  return tool::compilePlan(command.input, options);
}

static rt::Result<rt::Profile> readProfile(const std::string &path) {
  rt::Result<rt::MappedFile> file = rt::MappedFile::open(path);
  if (!file) {
    return file.error();
  }
  rt::Result<rt::Profile> profile = rt::parseProfile(file->text());
  if (!profile) {
    return rt::Error{"cannot update '" + path + "': " + profile.message() +
                     "; measure everything, without --update"};
  }
  return profile;
}

static void printCopies(const rt::MeasuredLink &link) {
  std::printf("copies, to the host and to the device:\n");
  for (const rt::MeasuredCopy &copy : link.copies) {
    auto text = [&](int64_t ns) {
      return rt::format("%9s %5.1f GB/s", rt::formatDuration(ns).c_str(),
                        double(copy.bytes) / double(ns));
    };
    std::printf("  %10s %s %s\n", rt::formatBytes(copy.bytes).c_str(),
                text(copy.toHostNs).c_str(), text(copy.toDeviceNs).c_str());
  }
  std::printf("  a latency of %s and the link's rates are within %.0f %% of "
              "them\n",
              rt::formatDuration(link.latencyNs).c_str(),
              link.largestError() * 100);
}

static void printLink(const rt::MeasuredLink &link) {
  std::printf(
      "link: %.1f GB/s to the host, %.1f GB/s to the device, %.0f %% of "
      "it while both run\n",
      link.toHost / 1e9, link.toDevice / 1e9, link.duplexFactor * 100);
  auto text = [](double rate) {
    return rate > 0 ? rt::format("%.1f GB/s", rate / 1e9)
                    : std::string("not known");
  };
  if (link.toHostUnderCompute > 0 || link.toDeviceUnderCompute > 0) {
    std::printf("link beside kernels: %s to the host, %s to the device\n",
                text(link.toHostUnderCompute).c_str(),
                text(link.toDeviceUnderCompute).c_str());
  } else {
    std::printf("link beside kernels: not known, every launch takes less than "
                "10 us, or the host does not queue them in time\n");
  }
}

static void printSlowest(const rt::Profile &profile) {
  std::vector<std::pair<int64_t, std::string>> best;
  double spread = 0;
  for (const auto &[signature, ways] : profile.kernels) {
    best.emplace_back(ways.front().timeNs, signature);
    spread = std::max(spread, ways.front().spread);
  }
  std::sort(best.rbegin(), best.rend());
  std::printf("%zu kernels; the slowest, each in its fastest way:\n",
              best.size());
  for (size_t i = 0; i < std::min<size_t>(5, best.size()); ++i) {
    std::printf("  %8.3f ms  %s\n", double(best[i].first) / 1e6,
                best[i].second.c_str());
  }
  std::printf("largest spread of the fastest ways: %.1f %%\n", spread * 100);
  printCopies(profile.link);
  printLink(profile.link);
  std::printf("memory beside the arena: %s\n",
              rt::formatBytes(profile.overheadBytes).c_str());
}

static rt::Status run(ProfileCommand &command) {
  rt::Profile known;
  if (!command.update.empty()) {
    rt::Result<rt::Profile> profile = readProfile(command.update);
    if (!profile) {
      return profile.status();
    }
    known = std::move(*profile);
    command.options.known = &known;
  }
  rt::Result<schedule::ScheduleT> plan = readPlan(command);
  if (!plan) {
    return plan.status();
  }
  if (plan->target->kind != "cuda") {
    return rt::Error{"the plan is for '" + plan->target->kind +
                     "', expected one for cuda: plan with --device=cuda"};
  }
  rt::Result<const rt::Plugin *> plugin = rt::loadPlugin("cuda");
  if (!plugin) {
    return plugin.status();
  }
  rt::Progress progress(stderr);
  command.options.progress = [&](size_t done, size_t all,
                                 const std::string &signature) {
    std::string line = rt::format("%3zu of %zu  ", done, all) + signature;
    progress.update(line.substr(0, 100));
  };
  command.options.refused = [&](const std::string &signature,
                                const std::string &algorithm,
                                const std::string &why) {
    progress.print("note: '" + algorithm + "' of '" + signature +
                   "' is left out: " + why);
  };
  rt::Result<rt::Profile> profile =
      rt::measureProfile(*plan, **plugin, command.options);
  progress.finish();
  if (!profile) {
    return profile.status();
  }
  std::string json = rt::toJson(*profile, profile->fingerprint);
  if (rt::Status status = rt::writeFile(command.output, json); !status) {
    return status;
  }
  printSlowest(*profile);
  return {};
}

int main(int argc, char **argv) {
  CLI::App app(kDescription, "vdnn-profile");
  app.footer(kExamples);
  ProfileCommand command;
  app.add_option("input", command.input, "model (.onnx) or plan (.mlir, .vdnn)")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("-o,--output", command.output, "the profile (.json)")
      ->required();
  app.add_option("--update", command.update,
                 "an earlier profile of this GPU: its times are kept, only "
                 "what it lacks is measured, the link, and vDNN's own kernels "
                 "where the backend is another build; what the backend no "
                 "longer offers for the plan's kernels is dropped; -o may name "
                 "the same file")
      ->check(CLI::ExistingFile);
  app.add_option("--plan-option", command.planOptions,
                 "an option of vdnn-opt for a model; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--rounds", command.options.rounds,
                 "measurements of each candidate (default 5)")
      ->check(CLI::Range(1, 1000));
  app.add_flag("--allow-nondeterministic",
               command.options.allowNondeterministic,
               "also measure ways whose results differ in the last bits from "
               "run to run (sums by atomic operations); vdnn-opt ignores them "
               "without its option of that name");
  double gibibytes = 0;
  app.add_option("--max-workspace", gibibytes,
                 "candidates that need more GiB of workspace are left out "
                 "(default 16)")
      ->check(CLI::Range(0.0, 1024.0));
  CLI11_PARSE(app, argc, argv);
  if (gibibytes > 0) {
    command.options.maxWorkspaceBytes =
        static_cast<uint64_t>(gibibytes * double(uint64_t{1} << 30));
  }
  if (rt::Status status = run(command); !status) {
    std::fprintf(stderr, "error: %s\n", status.message().c_str());
    return 1;
  }
  return 0;
}
