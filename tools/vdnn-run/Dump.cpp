//===- Dump.cpp -----------------------------------------------------------===//

#include "Dump.h"

#include "runtime/support/Format.h"

#include <algorithm>
#include <regex>

namespace vdnn::tool {

namespace {

constexpr size_t kExamples = 6;

} // namespace

rt::Result<rt::TensorFilter> dumpFilter(const RunOptions &options) {
  if (options.dumpTensors.empty()) {
    return rt::TensorFilter();
  }
  try {
    std::regex pattern(options.dumpFilter);
    return rt::TensorFilter([pattern](const schedule::TensorT &tensor) {
      return std::regex_search(tensor.name, pattern);
    });
  } catch (const std::regex_error &error) {
    return rt::Error{
        "--dump-filter '" + options.dumpFilter +
        "' is not a regular expression (ECMAScript): " + error.what()};
  }
}

rt::Status checkDump(const RunOptions &options,
                     const schedule::ScheduleT &schedule) {
  const rt::TensorFilter &wanted = options.session.captureTensors;
  std::vector<const schedule::TensorT *> tensors =
      rt::computedTensors(schedule);
  if (!wanted ||
      std::any_of(tensors.begin(), tensors.end(),
                  [&](const auto *tensor) { return wanted(*tensor); })) {
    return {};
  }
  // From all over the step: names at its beginning tell little about its end.
  std::string names;
  size_t count = std::min(kExamples, tensors.size());
  for (size_t i = 0; i < count; ++i) {
    names += (i == 0 ? "'" : ", '") +
             tensors[i * tensors.size() / count]->name + "'";
  }
  return rt::Error{
      rt::format("--dump-filter '%s' matches none of the %zu tensors that the "
                 "plan computes; some of them: ",
                 options.dumpFilter.c_str(), tensors.size()) +
      names};
}

} // namespace vdnn::tool
