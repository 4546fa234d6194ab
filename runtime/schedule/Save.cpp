//===- Save.cpp - writes schedules ----------------------------------------===//

#include "runtime/schedule/Schedule.h"
#include "runtime/support/AtomicFile.h"

#include <string_view>

namespace vdnn::schedule {

std::vector<uint8_t> serialize(const ScheduleT &schedule) {
  flatbuffers::FlatBufferBuilder builder;
  FinishScheduleBuffer(builder, Schedule::Pack(builder, &schedule));
  return {builder.GetBufferPointer(),
          builder.GetBufferPointer() + builder.GetSize()};
}

rt::Status save(const ScheduleT &schedule, const std::string &path) {
  if (rt::Status status = validate(schedule); !status) {
    return rt::Error{"refusing to write '" + path + "': " + status.message()};
  }
  std::vector<uint8_t> bytes = serialize(schedule);
  return rt::writeFile(
      path, std::string_view(reinterpret_cast<const char *>(bytes.data()),
                             bytes.size()));
}

} // namespace vdnn::schedule
