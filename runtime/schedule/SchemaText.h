//===- SchemaText.h - the text of schedule.fbs, embedded at build time ----===//

#ifndef VDNN_RUNTIME_SCHEDULE_SCHEMATEXT_H
#define VDNN_RUNTIME_SCHEDULE_SCHEMATEXT_H

namespace vdnn::schedule {

/// schedule.fbs, zero-terminated: the JSON reader parses by it.
extern const char *const kSchemaText;

} // namespace vdnn::schedule

#endif
