//===- vdnn.cpp - fuzzes the reader of schedules and the checker ----------===//

#include "runtime/check/Check.h"
#include "runtime/schedule/Schedule.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  vdnn::rt::Result<vdnn::schedule::ScheduleT> schedule =
      vdnn::schedule::parse(data, size);
  if (schedule.ok()) {
    vdnn::rt::toString(vdnn::rt::check(*schedule));
  }
  return 0;
}
