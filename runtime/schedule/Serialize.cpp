//===- Serialize.cpp - schedules as bytes ---------------------------------===//

#include "runtime/schedule/Schedule.h"

namespace vdnn::schedule {

std::vector<uint8_t> serialize(const ScheduleT &schedule) {
  flatbuffers::FlatBufferBuilder builder;
  FinishScheduleBuffer(builder, Schedule::Pack(builder, &schedule));
  return {builder.GetBufferPointer(),
          builder.GetBufferPointer() + builder.GetSize()};
}

} // namespace vdnn::schedule
