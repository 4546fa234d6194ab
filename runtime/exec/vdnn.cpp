//===- vdnn.cpp - the C interface over Session ----------------------------===//

#include "runtime/exec/vdnn.h"

#include "runtime/exec/Open.h"
#include "runtime/exec/Session.h"
#include "runtime/support/Format.h"

#include <cstring>

using namespace vdnn;
using namespace vdnn::rt;

struct vdnn_run {
  std::unique_ptr<Session> session;
};

static thread_local std::string lastError;

static int fail(const std::string &message) {
  lastError = message;
  return 1;
}

static int finish(const Status &status) {
  return status ? 0 : fail(status.message());
}

const char *vdnn_error(void) { return lastError.c_str(); }

vdnn_run *vdnn_load(const char *plan, const vdnn_options *options) {
  vdnn_options chosen = options ? *options : vdnn_options{};
  Result<schedule::ScheduleT> schedule = schedule::load(plan);
  if (!schedule) {
    fail(schedule.message());
    return nullptr;
  }
  Result<std::unique_ptr<Device>> device =
      openDevice(chosen.device ? chosen.device : "", *schedule, chosen.threads);
  if (!device) {
    fail(device.message());
    return nullptr;
  }
  SessionOptions sessionOptions;
  sessionOptions.weights = chosen.weights ? chosen.weights : "";
  sessionOptions.resume = chosen.resume ? chosen.resume : "";
  if (chosen.seed) {
    sessionOptions.seed = *chosen.seed;
  }
  sessionOptions.graph = chosen.no_graph == 0;
  sessionOptions.planWeights = weightsBeside(plan);
  Result<std::unique_ptr<Session>> session =
      Session::create(std::move(*schedule), std::move(*device), sessionOptions);
  if (!session) {
    fail(session.message());
    return nullptr;
  }
  return new vdnn_run{std::move(*session)};
}

void vdnn_destroy(vdnn_run *run) { delete run; }

/// The tensor of that name, if it has that many bytes.
static Result<uint32_t> findTensor(const vdnn_run *run, const char *name,
                                   size_t bytes) {
  std::optional<uint32_t> index = run->session->executor().find(name);
  if (!index) {
    return Error{std::string("the plan has no tensor '") + name + "'"};
  }
  uint64_t expected =
      run->session->executor().schedule().tensors[*index]->bytes;
  if (bytes != expected) {
    return Error{format("tensor '%s' has %llu bytes, got %zu", name,
                        static_cast<unsigned long long>(expected), bytes)};
  }
  return *index;
}

int vdnn_set_input(vdnn_run *run, const char *name, const void *data,
                   size_t bytes) {
  Result<uint32_t> index = findTensor(run, name, bytes);
  if (!index) {
    return fail(index.message());
  }
  const schedule::TensorT &tensor =
      *run->session->executor().schedule().tensors[*index];
  if (tensor.role != schedule::Role::Input) {
    return fail(std::string("tensor '") + name + "' is no input");
  }
  HostTensor value{name,
                   tensor.type->element,
                   tensor.type->shape,
                   {static_cast<const std::byte *>(data), bytes},
                   nullptr};
  return finish(run->session->executor().write(*index, value));
}

int vdnn_set_rate(vdnn_run *run, double rate) {
  RateSchedule schedule;
  schedule.base = rate;
  run->session->setRate(schedule);
  return 0;
}

int vdnn_step(vdnn_run *run) { return finish(run->session->stepWithoutData()); }

int vdnn_loss(const vdnn_run *run, double *loss) {
  std::optional<double> value = run->session->loss();
  if (!value) {
    return fail(
        "there is no loss: the plan has no output 'loss', or no step was run");
  }
  *loss = *value;
  return 0;
}

size_t vdnn_bytes(const vdnn_run *run, const char *name) {
  std::optional<uint32_t> index = run->session->executor().find(name);
  return index ? run->session->executor().schedule().tensors[*index]->bytes : 0;
}

int vdnn_get(vdnn_run *run, const char *name, void *data, size_t bytes) {
  Result<uint32_t> index = findTensor(run, name, bytes);
  if (!index) {
    return fail(index.message());
  }
  Result<HostTensor> value = run->session->executor().read(*index);
  if (!value) {
    return fail(value.message());
  }
  std::memcpy(data, value->data.data(), bytes);
  return 0;
}

int vdnn_save(vdnn_run *run, const char *path) {
  return finish(run->session->save(path));
}
