//===- Cupti.cpp ----------------------------------------------------------===//
//
// CUPTI's activity records. Each call that submits work bears the number of the
// command that it is for (an external correlation), and every record the number
// of the call.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/cuda/Cupti.h"

#if __has_include(<cupti.h>)

#include "runtime/backend/common/Checks.h"
#include "runtime/backend/cuda/Check.h"

#include <algorithm>
#include <cstdlib>
#include <cupti.h>
#include <cxxabi.h>
#include <dlfcn.h>
#include <mutex>
#include <type_traits>
#include <unordered_map>

namespace vdnn::rt::cuda {

namespace {

constexpr CUpti_ActivityKind kKinds[] = {
    // Correlations come with the records of calls.
    CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
    CUPTI_ACTIVITY_KIND_RUNTIME,
    CUPTI_ACTIVITY_KIND_DRIVER,
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
    CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMSET};

constexpr size_t kBufferBytes = 1 << 20;

// Of the versions of a record the first that has all that is read here; later
// ones add fields behind.
using KernelRecord = CUpti_ActivityKernel9;
using CopyRecord = CUpti_ActivityMemcpy5;
using FillRecord = CUpti_ActivityMemset4;

/// The functions of the library, which stays loaded.
struct Cupti {
  decltype(&cuptiGetResultString) getResultString;
  decltype(&cuptiActivityRegisterCallbacks) registerCallbacks;
  decltype(&cuptiActivityEnable) enable;
  decltype(&cuptiActivityDisable) disable;
  decltype(&cuptiActivityFlushAll) flushAll;
  decltype(&cuptiActivityGetNextRecord) getNextRecord;
  decltype(&cuptiActivityGetNumDroppedRecords) getNumDroppedRecords;
  decltype(&cuptiActivityPushExternalCorrelationId) push;
  decltype(&cuptiActivityPopExternalCorrelationId) pop;

  Status toStatus(CUptiResult code, const char *what) const {
    if (code == CUPTI_SUCCESS) {
      return {};
    }
    const char *text = nullptr;
    getResultString(code, &text);
    return Error{
        std::string("CUPTI cannot trace: ") + what +
        " failed: " + (text ? text : std::to_string(code).c_str()) +
        "; end other profilers of this process, and see that the "
        "driver lets users trace (NVreg_RestrictProfilingToAdminUsers)"};
  }
};

Result<Cupti> loadCupti() {
  std::string name = "libcupti.so." + std::to_string(CUDART_VERSION / 1000);
  void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::string why = dlerror();
    library = dlopen(("/usr/local/cuda/extras/CUPTI/lib64/" + name).c_str(),
                     RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      return Error{"CUPTI cannot be loaded: " + why +
                   "; install it (it comes with the CUDA toolkit, and as the "
                   "wheel nvidia-cuda-cupti) and add its folder to "
                   "LD_LIBRARY_PATH"};
    }
  }
  Cupti api{};
  std::string missing;
  auto find = [&](auto &function, const char *symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        dlsym(library, symbol));
    if (!function && missing.empty()) {
      missing = symbol;
    }
  };
  find(api.getResultString, "cuptiGetResultString");
  find(api.registerCallbacks, "cuptiActivityRegisterCallbacks");
  find(api.enable, "cuptiActivityEnable");
  find(api.disable, "cuptiActivityDisable");
  find(api.flushAll, "cuptiActivityFlushAll");
  find(api.getNextRecord, "cuptiActivityGetNextRecord");
  find(api.getNumDroppedRecords, "cuptiActivityGetNumDroppedRecords");
  find(api.push, "cuptiActivityPushExternalCorrelationId");
  find(api.pop, "cuptiActivityPopExternalCorrelationId");
  if (!missing.empty()) {
    return Error{"'" + name + "' has no function '" + missing +
                 "': it is not CUPTI of CUDA " +
                 std::to_string(CUDART_VERSION / 1000)};
  }
  return api;
}

std::string demangle(const char *name) {
  int status = 0;
  char *text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string result = status == 0 ? text : name;
  std::free(text);
  return result;
}

/// What has arrived, of threads of CUPTI's own.
struct Records {
  std::mutex mutex;
  const Cupti *api = nullptr;
  struct Entry {
    uint32_t correlation;
    Activity activity;
  };
  std::vector<Entry> entries;
  std::unordered_map<uint32_t, uint32_t> commands; ///< by correlation

  void add(const CUpti_Activity *record);
};

/// CUPTI's callbacks know no object.
Records &records() {
  static Records instance;
  return instance;
}

void Records::add(const CUpti_Activity *record) {
  auto note = [this](const auto &one, Activity::Kind kind, std::string name) {
    if (one.end < one.start || one.start == 0) {
      return; // No times were taken.
    }
    Activity activity;
    activity.kind = kind;
    activity.startNs = static_cast<int64_t>(one.start);
    activity.endNs = static_cast<int64_t>(one.end);
    activity.replayed = one.graphId != 0;
    activity.name = std::move(name);
    entries.push_back({one.correlationId, std::move(activity)});
  };
  switch (record->kind) {
  case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
    const auto &one =
        *reinterpret_cast<const CUpti_ActivityExternalCorrelation *>(record);
    if (one.externalKind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0) {
      commands[one.correlationId] = static_cast<uint32_t>(one.externalId);
    }
    break;
  }
  case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
  case CUPTI_ACTIVITY_KIND_KERNEL: {
    const auto &one = *reinterpret_cast<const KernelRecord *>(record);
    note(one, Activity::Kind::Work, one.name ? demangle(one.name) : "kernel");
    break;
  }
  case CUPTI_ACTIVITY_KIND_MEMCPY: {
    const auto &one = *reinterpret_cast<const CopyRecord *>(record);
    switch (one.copyKind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      note(one, Activity::Kind::CopyToHost, "");
      break;
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      note(one, Activity::Kind::CopyToDevice, "");
      break;
    default:
      note(one, Activity::Kind::Work, "copy on the device");
    }
    break;
  }
  case CUPTI_ACTIVITY_KIND_MEMSET:
    note(*reinterpret_cast<const FillRecord *>(record), Activity::Kind::Work,
         "fill");
    break;
  default:
    break;
  }
}

void CUPTIAPI giveBuffer(uint8_t **buffer, size_t *size, size_t *maxRecords) {
  *buffer = static_cast<uint8_t *>(std::malloc(kBufferBytes));
  *size = *buffer ? kBufferBytes : 0;
  *maxRecords = 0;
}

void CUPTIAPI takeBuffer(CUcontext, uint32_t, uint8_t *buffer, size_t,
                         size_t validBytes) {
  Records &all = records();
  std::lock_guard lock(all.mutex);
  CUpti_Activity *record = nullptr;
  while (validBytes > 0 && all.api &&
         all.api->getNextRecord(buffer, validBytes, &record) == CUPTI_SUCCESS) {
    all.add(record);
  }
  std::free(buffer);
}

class CuptiTracer final : public ActivityTracer {
public:
  explicit CuptiTracer(const Cupti &api) : api_(api) {}
  ~CuptiTracer() override;

  Status start();
  Status enter(uint32_t command) override {
    return api_.toStatus(
        api_.push(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, command),
        "cuptiActivityPushExternalCorrelationId");
  }
  Status leave() override {
    return api_.toStatus(
        api_.pop(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, nullptr),
        "cuptiActivityPopExternalCorrelationId");
  }
  Result<std::vector<Activity>> take() override;

private:
  const Cupti &api_;
};

Status CuptiTracer::start() {
  {
    Records &all = records();
    std::lock_guard lock(all.mutex);
    all.api = &api_;
    all.entries.clear();
    all.commands.clear();
  }
  VDNN_TRY(api_.toStatus(api_.registerCallbacks(giveBuffer, takeBuffer),
                         "cuptiActivityRegisterCallbacks"));
  for (CUpti_ActivityKind kind : kKinds) {
    VDNN_TRY(api_.toStatus(api_.enable(kind), "cuptiActivityEnable"));
  }
  return {};
}

CuptiTracer::~CuptiTracer() {
  // An error is of no use here: nobody traces any more.
  for (CUpti_ActivityKind kind : kKinds) {
    static_cast<void>(api_.disable(kind));
  }
  static_cast<void>(api_.flushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
}

Result<std::vector<Activity>> CuptiTracer::take() {
  VDNN_TRY(api_.toStatus(api_.flushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED),
                         "cuptiActivityFlushAll"));
  size_t dropped = 0;
  VDNN_TRY(api_.toStatus(api_.getNumDroppedRecords(nullptr, 0, &dropped),
                         "cuptiActivityGetNumDroppedRecords"));
  if (dropped > 0) {
    return Error{"CUPTI lost " + std::to_string(dropped) +
                 " records for want of host memory: free some"};
  }
  Records &all = records();
  std::lock_guard lock(all.mutex);
  std::vector<Activity> activities;
  for (Records::Entry &entry : all.entries) {
    auto found = all.commands.find(entry.correlation);
    if (found != all.commands.end()) {
      entry.activity.command = found->second;
    }
    activities.push_back(std::move(entry.activity));
  }
  all.entries.clear();
  all.commands.clear();
  std::stable_sort(activities.begin(), activities.end(),
                   [](const Activity &a, const Activity &b) {
                     return a.startNs < b.startNs;
                   });
  return activities;
}

} // namespace

Result<std::unique_ptr<ActivityTracer>> createCuptiTracer() {
  static const Result<Cupti> api = loadCupti();
  VDNN_TRY(api.status());
  auto tracer = std::make_unique<CuptiTracer>(*api);
  VDNN_TRY(tracer->start());
  return std::unique_ptr<ActivityTracer>(std::move(tracer));
}

} // namespace vdnn::rt::cuda

#else

namespace vdnn::rt::cuda {

Result<std::unique_ptr<ActivityTracer>> createCuptiTracer() {
  return Error{
      "this build knows no CUPTI: build where cupti.h is (it comes with "
      "the CUDA toolkit, in extras/CUPTI/include)"};
}

} // namespace vdnn::rt::cuda

#endif
