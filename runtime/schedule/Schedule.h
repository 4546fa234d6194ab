//===- Schedule.h - the schedule as plain structs -------------------------===//
//
// `ScheduleT`, `TensorT`, ... are generated from schedule.fbs; its comments are
// their documentation. A schedule that `load` returns is structurally sound:
// every index is in range, every required field is there. Whether it may run is
// the checker's to say.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_SCHEDULE_SCHEDULE_H
#define VDNN_RUNTIME_SCHEDULE_SCHEDULE_H

#include "runtime/schedule/schedule_generated.h"
#include "runtime/support/Error.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace vdnn::schedule {

/// The format's version; other versions are refused.
inline constexpr uint32_t kVersion = 1;

/// Reads a binary schedule from memory.
rt::Result<ScheduleT> parse(const uint8_t *data, size_t size);

/// Reads a schedule from its JSON form (for tests and people).
rt::Result<ScheduleT> parseJson(const std::string &text);

/// Reads a `.vdnn` file.
rt::Result<ScheduleT> load(const std::string &path);

/// The bytes of a `.vdnn` file. The same schedule gives the same bytes.
std::vector<uint8_t> serialize(const ScheduleT &schedule);

/// Structural soundness: indices in range, operand counts by command kind,
/// shapes whose bytes equal the declared ones.
rt::Status validate(const ScheduleT &schedule);

/// Bytes of one element.
uint64_t elementBytes(ElementType element);

/// Bytes of a dense tensor; an error where the product overflows or a dimension
/// is negative.
rt::Result<uint64_t> typeBytes(const TypeT &type);

/// A kernel's attributes by name. Each returns the fallback where the attribute
/// is absent.
const AttributeT *findAttribute(const KernelT &kernel, const std::string &name);
std::vector<int64_t> getInts(const KernelT &kernel, const std::string &name);
int64_t getInt(const KernelT &kernel, const std::string &name,
               int64_t fallback = 0);
double getNumber(const KernelT &kernel, const std::string &name,
                 double fallback = 0);
std::string getText(const KernelT &kernel, const std::string &name,
                    const std::string &fallback = "");

/// How many launches a step has whose results may differ in the last bits from
/// run to run.
size_t countNondeterministic(const ScheduleT &schedule);

/// Of a command's operands.
std::vector<const TypeT *> typesOf(const ScheduleT &schedule,
                                   std::span<const Operand> operands);

/// All that decides how a kernel can run, but its algorithm: kind, attributes,
/// program and the types of its operands, as one line of text that people can
/// read. Equal kernels have equal signatures.
std::string signature(const KernelT &kernel,
                      std::span<const TypeT *const> reads,
                      std::span<const TypeT *const> writes);

} // namespace vdnn::schedule

#endif
