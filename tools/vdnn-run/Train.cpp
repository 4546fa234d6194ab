//===- Train.cpp - the ordinary run: training, inference, simulation ------===//

#include "Dump.h"
#include "Interrupt.h"
#include "OpenSession.h"
#include "Outputs.h"
#include "Report.h"
#include "UpdateProfile.h"

#include "runtime/exec/Open.h"
#include "runtime/exec/files/Safetensors.h"
#include "runtime/sim/SimDevice.h"
#include "runtime/support/Format.h"
#include "runtime/support/Progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

namespace vdnn::tool {

using rt::format;
using rt::Status;

namespace {

constexpr uint64_t kSyntheticSteps = 10;

class Run {
public:
  Run(const RunOptions &options, rt::Session &session)
      : options_(options), session_(session),
        schedule_(session.executor().schedule()),
        progress_(options.json ? stderr : stdout) {}

  Status start();
  Status steps();
  Status finish();

private:
  Status refuseWhatCannotBe() const;
  uint64_t totalSteps() const;
  Status step();
  void noteStart();
  Status save();
  void summarizeTimes();
  Status updateProfile();
  void say(uint64_t step, bool last);
  std::string line(uint64_t step) const;

  const RunOptions &options_;
  rt::Session &session_;
  const schedule::ScheduleT &schedule_;
  rt::Progress progress_;
  RunReport report_;
  uint64_t total_ = 0;
  std::optional<int64_t> started_; ///< when the last step did
  std::optional<OutputFiles> outputs_;
  std::optional<Accuracy> accuracy_;
};

uint64_t Run::totalSteps() const {
  uint64_t pass = session_.feed().stepsPerPass();
  if (options_.steps) {
    return *options_.steps;
  }
  if (options_.epochs) {
    return *options_.epochs * pass;
  }
  if (!session_.executor().device().computes()) {
    return 1;
  }
  bool files = !options_.session.data.empty();
  return session_.training() && !files ? kSyntheticSteps : pass;
}

/// Files that would hold nothing are not written without a word.
Status Run::refuseWhatCannotBe() const {
  if (!session_.executor().device().computes()) {
    const std::pair<const char *, bool> given[] = {
        {"--dump-gradients", !options_.dumpGradients.empty()},
        {"--dump-tensors", !options_.dumpTensors.empty()},
        {"--save", !options_.save.empty()},
        {"--output", !options_.outputs.empty()},
        {"--labels", !options_.labels.empty()}};
    for (const auto &[option, present] : given) {
      if (present) {
        return rt::Error{std::string(option) +
                         " needs a device that computes: a simulated one has "
                         "times, but no values"};
      }
    }
  }
  bool gradients =
      std::any_of(schedule_.tensors.begin(), schedule_.tensors.end(),
                  [](const auto &tensor) {
                    return tensor->role == schedule::Role::Gradient;
                  });
  if (!options_.dumpGradients.empty() && !gradients) {
    return rt::Error{"--dump-gradients needs a plan that trains: this one has "
                     "no gradients (make one with vdnn-opt --loss)"};
  }
  return checkDump(options_, schedule_);
}

Status Run::start() {
  // The next run from the beginning would not begin there any more.
  std::error_code ignored;
  if (!options_.save.empty() &&
      std::filesystem::equivalent(options_.save,
                                  rt::weightsBeside(options_.plan), ignored)) {
    return rt::Error{"--save '" + options_.save +
                     "' would overwrite the initial weights of the plan; "
                     "choose another name"};
  }
  if (options_.session.shuffle && !session_.training()) {
    return rt::Error{"--shuffle is for training: an inference plan takes the "
                     "samples in the order of the file"};
  }
  if (Status status = refuseWhatCannotBe(); !status) {
    return status;
  }
  total_ = totalSteps();
  if (Status status = refuseProfileUpdate(options_, session_.executor(),
                                          session_.nextStep(), total_);
      !status) {
    return status;
  }
  session_.setTotalSteps(total_);
  rt::Result<OutputFiles> outputs =
      OutputFiles::create(session_, options_.outputs);
  if (!outputs) {
    return outputs.status();
  }
  outputs_ = std::move(*outputs);
  if (!options_.labels.empty()) {
    rt::Result<Accuracy> accuracy = Accuracy::create(session_, options_.labels);
    if (!accuracy) {
      return accuracy.status();
    }
    accuracy_ = std::move(*accuracy);
  }
  report_.plan = options_.plan;
  report_.device = session_.executor().device().kind();
  report_.simulated = !session_.executor().device().computes();
  report_.firstStep = session_.nextStep();
  report_.batch = session_.feed().batch();
  if (!report_.simulated) {
    for (const std::string &name : session_.feed().synthetic()) {
      progress_.print("note: no data for input '" + name +
                      "', using random values (--data " + name + "=FILE)");
    }
  }
  if (session_.nextStep() > 0) {
    progress_.print(format("resumed after step %llu from '%s'",
                           static_cast<unsigned long long>(session_.nextStep()),
                           options_.session.resume.c_str()));
  }
  return {};
}

std::string Run::line(uint64_t step) const {
  std::string text = format("step %llu", static_cast<unsigned long long>(step));
  if (progress_.live()) {
    text += format("/%llu", static_cast<unsigned long long>(total_));
  }
  if (std::optional<double> loss = session_.loss()) {
    text += format(progress_.live() ? " loss %.5f" : " loss %.9g", *loss);
  }
  int64_t ns = session_.stepNs();
  text += " time " + rt::formatDuration(ns);
  if (ns > 0) {
    text += format(" samples/s %.1f", static_cast<double>(report_.batch) * 1e9 /
                                          static_cast<double>(ns));
  }
  return text + " memory " + rt::formatBytes(schedule_.device_arena);
}

/// On a terminal the live line tells every step; elsewhere, and where the user
/// asks for it, some steps get a line.
void Run::say(uint64_t step, bool last) {
  uint64_t every = options_.logEvery.value_or(progress_.live() ? 0 : 10);
  if (every > 0 &&
      (step % every == 0 || last || step == report_.firstStep + 1)) {
    progress_.print(line(step));
  } else {
    progress_.update(line(step));
  }
}

Status Run::save() {
  if (options_.save.empty() || report_.simulated) {
    return {};
  }
  report_.saved = options_.save;
  return session_.save(options_.save);
}

/// Of a step, or of what comes after the last one.
void Run::noteStart() {
  int64_t now = session_.executor().device().nowNs();
  if (started_) {
    report_.wallNs.push_back(now - *started_);
  }
  started_ = now;
}

Status Run::step() {
  noteStart();
  uint64_t index = session_.nextStep();
  if (Status status = session_.step(); !status) {
    return status;
  }
  report_.stepNs.push_back(session_.stepNs());
  if (session_.loss()) {
    if (!std::isfinite(*session_.loss()) && report_.isFinite) {
      report_.isFinite = false;
      progress_.print(
          format("note: the loss of step %llu is %g, and what is trained "
                 "from then on is lost; a smaller --rate may help",
                 static_cast<unsigned long long>(index) + 1, *session_.loss()));
    }
    report_.losses.push_back(*session_.loss());
  }
  if (report_.simulated) {
    return {};
  }
  if (Status status = outputs_->collect(session_, index); !status) {
    return status;
  }
  if (accuracy_) {
    if (Status status = accuracy_->collect(session_, index); !status) {
      return status;
    }
  }
  if (options_.saveEvery > 0 && session_.nextStep() % options_.saveEvery == 0) {
    return save();
  }
  return {};
}

Status Run::steps() {
  catchInterrupts();
  while (session_.nextStep() < total_ && !interrupted()) {
    if (Status status = step(); !status) {
      return status;
    }
    say(session_.nextStep(), session_.nextStep() == total_ || interrupted());
  }
  noteStart();
  progress_.finish();
  report_.interrupted = interrupted();
  report_.deviceBytesInUse = session_.executor().device().memory().usedBytes;
  return {};
}

Status Run::finish() {
  if (report_.stepNs.empty()) {
    progress_.print(format("nothing to do: %llu of %llu steps are done "
                           "(--steps and --epochs count "
                           "from the beginning)",
                           static_cast<unsigned long long>(session_.nextStep()),
                           static_cast<unsigned long long>(total_)));
  }
  if (Status status = save(); !status) {
    return status;
  }
  if (report_.interrupted) {
    progress_.print(
        format("interrupted after step %llu",
               static_cast<unsigned long long>(session_.nextStep())) +
        (report_.saved.empty()
             ? std::string("; nothing was saved (--save FILE)")
             : "; go on with --resume " + report_.saved));
  }
  if (!report_.simulated) {
    if (Status status = outputs_->write(); !status) {
      return status;
    }
  }
  if (!options_.dumpGradients.empty()) {
    if (Status status = rt::writeSafetensors(options_.dumpGradients,
                                             session_.gradients(), {});
        !status) {
      return status;
    }
  }
  if (!options_.dumpTensors.empty()) {
    if (Status status =
            rt::writeSafetensors(options_.dumpTensors, session_.captured(), {});
        !status) {
      return status;
    }
  }
  if (!options_.trace.empty()) {
    if (Status status = session_.writeTrace(options_.trace); !status) {
      return status;
    }
    if (const std::string &note = session_.trace()->note(); !note.empty()) {
      progress_.print("note: the GPU's own times are not in the trace: " +
                      note);
    }
  }
  summarizeTimes();
  if (accuracy_) {
    report_.right = accuracy_->right();
    report_.labelled = accuracy_->total();
  }
  std::fputs(
      (options_.json ? toJson(schedule_, report_) : toText(schedule_, report_))
          .c_str(),
      stdout);
  return updateProfile();
}

/// Measured times where there is a trace, else the plan's own.
void Run::summarizeTimes() {
  report_.traced = session_.trace() != nullptr;
  if (report_.traced) {
    report_.trace = rt::summarize(schedule_, session_.trace()->slices());
    return;
  }
  rt::Timeline timeline = rt::predictTimeline(schedule_);
  report_.trace = rt::summarize(
      schedule_, rt::slicesOf(schedule_, timeline.startNs, timeline.endNs));
}

Status Run::updateProfile() {
  if (options_.updateProfile.empty()) {
    return {};
  }
  if (const std::string &note = session_.trace()->note(); !note.empty()) {
    return rt::Error{
        "'" + options_.updateProfile +
        "' stays as it is: the GPU's own times are not known: " + note};
  }
  rt::Result<std::string> said =
      tool::updateProfile(options_.updateProfile, session_.executor(), report_);
  if (said) {
    progress_.print(*said);
  }
  return said.status();
}

} // namespace

rt::Result<bool> train(const RunOptions &given) {
  RunOptions options = given;
  options.session.captureGradients = !options.dumpGradients.empty();
  options.session.trace =
      !options.trace.empty() || !options.updateProfile.empty();
  rt::Result<rt::TensorFilter> filter = dumpFilter(options);
  if (!filter) {
    return filter.error();
  }
  options.session.captureTensors = std::move(*filter);
  rt::Result<std::unique_ptr<rt::Session>> session =
      openSession(options.plan, options, options.session);
  if (!session) {
    return session.error();
  }
  Run run(options, **session);
  for (Status (Run::*phase)() : {&Run::start, &Run::steps, &Run::finish}) {
    if (Status status = (run.*phase)(); !status) {
      return status.error();
    }
  }
  return true;
}

} // namespace vdnn::tool
