//===- FakeCupti.cpp ------------------------------------------------------===//
//
// CUPTI's own functions, as far as the backend uses them, over records that
// the test makes. A record is delivered by the next flush, in buffers that hold
// three.
//
//===----------------------------------------------------------------------===//

#include "FakeCupti.h"

#include <algorithm>
#include <cstring>
#include <cupti.h>
#include <set>
#include <string>
#include <vector>

namespace vdnn::test {

namespace {

struct State {
  FakeCupti control;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::set<CUpti_ActivityKind> enabled;
  std::vector<uint64_t> ids;
  uint32_t correlation = 0;
  std::vector<std::string> records;
};

State &state() {
  static State instance;
  return instance;
}

CUptiResult result(const char *call) {
  const FakeCupti &control = state().control;
  return std::string(control.failing) == call
             ? static_cast<CUptiResult>(control.failure)
             : CUPTI_SUCCESS;
}

template <typename Record>
void deliver(const Record &record) {
  if (state().enabled.count(record.kind) > 0) {
    state().records.emplace_back(reinterpret_cast<const char *>(&record),
                                 sizeof(record));
  }
}

template <typename Record>
Record makeRecord(CUpti_ActivityKind kind) {
  Record record;
  std::memset(&record, 0, sizeof(record));
  record.kind = kind;
  return record;
}

/// A call and, before it, what was pushed for it; the call's number.
uint32_t call() {
  State &all = state();
  ++all.correlation;
  if (!all.ids.empty() && all.enabled.count(CUPTI_ACTIVITY_KIND_RUNTIME) > 0) {
    auto external = makeRecord<CUpti_ActivityExternalCorrelation>(
        CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
    external.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
    external.externalId = all.ids.back();
    external.correlationId = all.correlation;
    deliver(external);
  }
  auto api = makeRecord<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
  api.correlationId = all.correlation;
  deliver(api);
  return all.correlation;
}

template <typename Record>
void work(Record record, uint64_t start, uint64_t end, uint32_t graph) {
  record.start = start;
  record.end = end;
  record.graphId = graph;
  record.correlationId = call();
  deliver(record);
}

size_t bytesOf(CUpti_ActivityKind kind) {
  switch (kind) {
  case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
    return sizeof(CUpti_ActivityExternalCorrelation);
  case CUPTI_ACTIVITY_KIND_RUNTIME:
    return sizeof(CUpti_ActivityAPI);
  case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    return sizeof(CUpti_ActivityKernel9);
  case CUPTI_ACTIVITY_KIND_MEMCPY:
    return sizeof(CUpti_ActivityMemcpy5);
  default:
    return sizeof(CUpti_ActivityMemset4);
  }
}

} // namespace

FakeCupti &fakeCupti() { return state().control; }

void fakeKernel(const char *name, uint64_t start, uint64_t end,
                uint32_t graph) {
  auto record =
      makeRecord<CUpti_ActivityKernel9>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  record.name = name;
  work(record, start, end, graph);
}

void fakeCopy(int copyKind, uint64_t start, uint64_t end, uint32_t graph) {
  auto record = makeRecord<CUpti_ActivityMemcpy5>(CUPTI_ACTIVITY_KIND_MEMCPY);
  record.copyKind = static_cast<uint8_t>(copyKind);
  work(record, start, end, graph);
}

void fakeFill(uint64_t start, uint64_t end, uint32_t graph) {
  work(makeRecord<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET), start,
       end, graph);
}

} // namespace vdnn::test

using vdnn::test::result;
using vdnn::test::state;

extern "C" {

CUptiResult cuptiGetResultString(CUptiResult code, const char **text) {
  *text = code == CUPTI_SUCCESS ? "no error" : "the fake failed";
  return CUPTI_SUCCESS;
}

CUptiResult
cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                               CUpti_BuffersCallbackCompleteFunc complete) {
  state().request = request;
  state().complete = complete;
  return result("register");
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  state().enabled.insert(kind);
  state().control.enabled = static_cast<int>(state().enabled.size());
  return result("enable");
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  state().enabled.erase(kind);
  state().control.enabled = static_cast<int>(state().enabled.size());
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t) {
  constexpr size_t kRecords = 3;
  std::vector<std::string> records;
  records.swap(state().records);
  for (size_t begin = 0; begin < records.size(); begin += kRecords) {
    uint8_t *buffer = nullptr;
    size_t size = 0, most = 0, used = 0;
    state().request(&buffer, &size, &most);
    for (size_t i = begin; i < std::min(begin + kRecords, records.size());
         ++i) {
      std::memcpy(buffer + used, records[i].data(), records[i].size());
      used += records[i].size();
    }
    state().complete(nullptr, 0, buffer, size, used);
  }
  return result("flush");
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t validBytes,
                                       CUpti_Activity **record) {
  uint8_t *next = *record ? reinterpret_cast<uint8_t *>(*record) +
                                vdnn::test::bytesOf((*record)->kind)
                          : buffer;
  if (next >= buffer + validBytes) {
    return CUPTI_ERROR_MAX_LIMIT_REACHED;
  }
  *record = reinterpret_cast<CUpti_Activity *>(next);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t,
                                              size_t *dropped) {
  *dropped = state().control.dropped;
  return CUPTI_SUCCESS;
}

CUptiResult
cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind,
                                       uint64_t id) {
  state().ids.push_back(id);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind,
                                                  uint64_t *) {
  if (state().ids.empty()) {
    return CUPTI_ERROR_QUEUE_EMPTY;
  }
  state().ids.pop_back();
  return CUPTI_SUCCESS;
}
}
