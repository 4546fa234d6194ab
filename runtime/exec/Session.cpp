//===- Session.cpp --------------------------------------------------------===//

#include "runtime/exec/Session.h"

#include "runtime/exec/Checkpoint.h"
#include "runtime/exec/Initialize.h"
#include "runtime/support/Format.h"

#include <cstring>

namespace vdnn::rt {

Result<std::unique_ptr<Session>>
Session::create(schedule::ScheduleT schedule, std::unique_ptr<Device> device,
                const SessionOptions &options) {
  Result<std::unique_ptr<Executor>> executor =
      Executor::create(std::move(schedule), std::move(device));
  if (!executor) {
    return executor.error();
  }
  std::unique_ptr<Session> session(new Session());
  session->executor_ = std::move(*executor);
  session->executor_->setCapture(options.graph);
  session->seed_ = options.seed.value_or(0);
  session->shuffle_ = options.shuffle;
  session->rate_ = options.rate.value_or(RateSchedule{});
  if (Status status = session->load(options); !status) {
    return status.error();
  }
  session->observe(options);
  return session;
}

/// Reads weights and checkpoint, sets up the data, and initialises the
/// persistent tensors.
Status Session::load(const SessionOptions &options) {
  std::optional<Safetensors> files[2];
  const std::string *paths[2] = {options.resume.empty() ? &options.weights
                                                        : &options.resume,
                                 &options.planWeights};
  for (int i = 0; i < 2; ++i) {
    if (!paths[i]->empty()) {
      Result<Safetensors> file = Safetensors::read(*paths[i]);
      if (!file) {
        return file.error();
      }
      files[i] = std::move(*file);
    }
  }
  if (!options.resume.empty()) {
    if (Status status = adopt(*files[0], options); !status) {
      return Error{"cannot resume from '" + options.resume +
                   "': " + status.message()};
    }
  }
  FeedOptions feed{options.data, shuffle_, seed_, !training()};
  Result<Feed> created = Feed::create(executor_->schedule(), feed);
  if (!created) {
    return created.error();
  }
  feed_ = std::move(*created);
  if (!options.resume.empty()) {
    RunState state = *fromMetadata(files[0]->metadata());
    if (state.samples != feed_->samples() || state.batch != feed_->batch()) {
      return Error{
          format("cannot resume from '%s': it was made with %llu samples in "
                 "batches of %llu, got %llu in batches "
                 "of %llu: give the data and the plan it was made with",
                 options.resume.c_str(),
                 static_cast<unsigned long long>(state.samples),
                 static_cast<unsigned long long>(state.batch),
                 static_cast<unsigned long long>(feed_->samples()),
                 static_cast<unsigned long long>(feed_->batch()))};
    }
  }
  if (!executor_->device().computes()) {
    return {};
  }
  Result<std::vector<std::string>> notes =
      initialize(*executor_, {files[0] ? &*files[0] : nullptr,
                              files[1] ? &*files[1] : nullptr, seed_});
  if (!notes) {
    return notes.status();
  }
  notes_ = std::move(*notes);
  if (size_t count = schedule::countNondeterministic(executor_->schedule())) {
    notes_.push_back("results may differ in the last bits from run to run: " +
                     std::to_string(count) +
                     " kernels of the plan are nondeterministic");
  }
  return {};
}

/// Takes over the state of the run that wrote the checkpoint.
Status Session::adopt(const Safetensors &checkpoint,
                      const SessionOptions &options) {
  Result<RunState> state = fromMetadata(checkpoint.metadata());
  if (!state) {
    return Error{state.message() + ", so it is no checkpoint: give it with "
                                   "--weights to start from its weights"};
  }
  for (const auto &tensor : executor_->schedule().tensors) {
    if (isSaved(*tensor) && tensor->entry >= 0 &&
        !checkpoint.find(tensor->name)) {
      return Error{"it lacks '" + tensor->name +
                   "': resume with the plan that it was made with"};
    }
  }
  next_ = state->step;
  seed_ = options.seed.value_or(state->seed);
  shuffle_ = options.shuffle ? options.shuffle : state->shuffle;
  rate_ = options.rate.value_or(state->rate);
  return {};
}

void Session::observe(const SessionOptions &options) {
  // Delays come before poison, so that the poisoned range stays so until the
  // command.
  if (options.jitter) {
    observers_.push_back(createJitter(*options.jitter));
  }
  if (options.poison) {
    observers_.push_back(createPoison());
  }
  if (options.verifyCopies) {
    observers_.push_back(createCopyVerifier());
  }
  auto capture = [this](TensorFilter wanted) {
    std::unique_ptr<TensorTap> tap = createTensorTap(std::move(wanted));
    TensorTap *result = tap.get();
    observers_.push_back(std::move(tap));
    return result;
  };
  if (options.captureGradients) {
    gradientTap_ = capture([](const schedule::TensorT &tensor) {
      return tensor.role == schedule::Role::Gradient;
    });
  }
  if (options.captureTensors) {
    tensorTap_ = capture(options.captureTensors);
  }
  if (options.trace) {
    std::unique_ptr<TraceRecorder> trace = createTraceRecorder();
    trace_ = trace.get();
    observers_.push_back(std::move(trace));
  }
  for (const std::unique_ptr<Observer> &observer : observers_) {
    executor_->observe(*observer);
  }
}

void Session::setTotalSteps(uint64_t total) {
  if (rate_.kind == RateSchedule::Kind::Cosine && rate_.total == 0) {
    rate_.total = total;
  }
}

Status Session::step() {
  if (!executor_->device().computes()) {
    return run({});
  }
  if (Status status = fillInputs(); !status) {
    return status;
  }
  if (!feed_->stages()) {
    return run({});
  }
  Status status = run([this] { return feed_->stage(*executor_, next_ + 2); });
  if (status) {
    entered_ = next_;
  }
  return status;
}

/// What a step before has not brought: all but the staged inputs, unless there
/// was none.
Status Session::fillInputs() {
  if (feed_->stages() && entered_ != next_) {
    Status status = feed_->stage(*executor_, next_);
    status = status ? executor_->enterStaged() : status;
    status = status ? feed_->stage(*executor_, next_ + 1) : status;
    if (!status) {
      return status;
    }
  }
  return feed_->fill(*executor_, next_);
}

Status Session::stepWithoutData() {
  entered_.reset();
  return run({});
}

Status Session::run(const std::function<Status()> &beside) {
  bool computes = executor_->device().computes();
  if (computes) {
    if (Status status = feedScalars(); !status) {
      return status;
    }
  }
  int64_t begin = executor_->device().nowNs();
  if (Status status = executor_->step(beside); !status) {
    return Error{format("step %llu: ", static_cast<unsigned long long>(next_)) +
                 status.message()};
  }
  stepNs_ = executor_->endNs() - begin;
  ++next_;
  return computes ? readLoss() : Status();
}

Status Session::feedScalars() {
  const schedule::ScheduleT &schedule = executor_->schedule();
  for (uint32_t i = 0; i < schedule.tensors.size(); ++i) {
    const schedule::TensorT &tensor = *schedule.tensors[i];
    if (!isReserved(tensor)) {
      continue;
    }
    if (isStaged(tensor)) {
      return Error{"input '" + tensor.name +
                   "' is staged, but only known when its step begins; plan "
                   "again"};
    }
    bool isRate = tensor.name == "vdnn.rate";
    schedule::ElementType expected =
        isRate ? schedule::ElementType::F32 : schedule::ElementType::I64;
    if (tensor.type->element != expected ||
        tensor.bytes != schedule::elementBytes(expected)) {
      return Error{"input '" + tensor.name + "' has " +
                   formatShape(tensor.type->shape) + " of " +
                   elementName(tensor.type->element) + ", expected one " +
                   elementName(expected)};
    }
    std::span<std::byte> destination = executor_->inputBytes(i);
    if (isRate) {
      auto value = static_cast<float>(rate());
      std::memcpy(destination.data(), &value, sizeof(value));
    } else {
      uint64_t value = tensor.name == "vdnn.step" ? next_ : seed_;
      std::memcpy(destination.data(), &value, sizeof(value));
    }
  }
  return {};
}

Status Session::readLoss() {
  std::optional<uint32_t> index = executor_->find("loss");
  if (!index ||
      executor_->schedule().tensors[*index]->role != schedule::Role::Output) {
    return {};
  }
  Result<HostTensor> value = executor_->read(*index);
  if (!value) {
    return value.status();
  }
  if (elementCount(value->shape) == uint64_t{1}) {
    loss_ = toDoubles(*value, 0, 1)[0];
  }
  return {};
}

std::vector<HostTensor> Session::gradients() const {
  return gradientTap_ ? gradientTap_->tensors(executor_->schedule())
                      : std::vector<HostTensor>();
}

std::vector<HostTensor> Session::captured() const {
  return tensorTap_ ? tensorTap_->tensors(executor_->schedule())
                    : std::vector<HostTensor>();
}

Result<std::vector<HostTensor>> Session::persistent() {
  std::vector<HostTensor> values;
  const schedule::ScheduleT &schedule = executor_->schedule();
  for (uint32_t i = 0; i < schedule.tensors.size(); ++i) {
    const schedule::TensorT &tensor = *schedule.tensors[i];
    if (!isSaved(tensor) || tensor.exit < 0) {
      continue;
    }
    Result<HostTensor> value = executor_->read(i);
    if (!value) {
      return value.error();
    }
    values.push_back(std::move(*value));
  }
  return values;
}

Status Session::save(const std::string &path) {
  Result<std::vector<HostTensor>> values = persistent();
  if (!values) {
    return values.status();
  }
  return writeSafetensors(path, *values,
                          toMetadata({next_, seed_, shuffle_, feed_->samples(),
                                      feed_->batch(), rate_}));
}

Status Session::writeTrace(const std::string &path) const {
  return trace_ ? trace_->write(executor_->schedule(), path)
                : Error{"no trace was recorded"};
}

} // namespace vdnn::rt
