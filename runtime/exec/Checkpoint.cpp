//===- Checkpoint.cpp -----------------------------------------------------===//

#include "runtime/exec/Checkpoint.h"

#include "runtime/support/Format.h"

#include <charconv>

namespace vdnn::rt {

const char *rateKindName(RateSchedule::Kind kind) {
  switch (kind) {
  case RateSchedule::Kind::Constant:
    return "constant";
  case RateSchedule::Kind::Step:
    return "step";
  case RateSchedule::Kind::Cosine:
    return "cosine";
  }
  return "constant";
}

std::optional<RateSchedule::Kind> parseRateKind(const std::string &name) {
  for (auto kind : {RateSchedule::Kind::Constant, RateSchedule::Kind::Step,
                    RateSchedule::Kind::Cosine}) {
    if (name == rateKindName(kind)) {
      return kind;
    }
  }
  return std::nullopt;
}

std::map<std::string, std::string> toMetadata(const RunState &state) {
  std::map<std::string, std::string> metadata = {
      {"vdnn.step", std::to_string(state.step)},
      {"vdnn.seed", std::to_string(state.seed)},
      {"vdnn.samples", std::to_string(state.samples)},
      {"vdnn.batch", std::to_string(state.batch)},
      {"vdnn.rate", format("%.17g", state.rate.base)},
      {"vdnn.rate_schedule", rateKindName(state.rate.kind)},
      {"vdnn.rate_factor", format("%.17g", state.rate.factor)},
      {"vdnn.rate_every", std::to_string(state.rate.every)},
      {"vdnn.rate_total", std::to_string(state.rate.total)}};
  if (state.shuffle) {
    metadata["vdnn.shuffle"] = std::to_string(*state.shuffle);
  }
  return metadata;
}

namespace {

class MetadataReader {
public:
  explicit MetadataReader(const std::map<std::string, std::string> &metadata)
      : metadata_(metadata) {}

  bool has(const std::string &name) const { return metadata_.count(name) != 0; }

  template <typename Number>
  void read(const std::string &name, Number &number) {
    auto found = metadata_.find(name);
    if (found == metadata_.end()) {
      fail(name);
      return;
    }
    const std::string &text = found->second;
    auto [end, code] =
        std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc() || end != text.data() + text.size()) {
      fail(name);
    }
  }

  std::string text(const std::string &name) const {
    auto found = metadata_.find(name);
    return found == metadata_.end() ? "" : found->second;
  }

  void fail(const std::string &name) { bad_ = bad_.empty() ? name : bad_; }
  const std::string &bad() const { return bad_; }

private:
  const std::map<std::string, std::string> &metadata_;
  std::string bad_;
};

} // namespace

Result<RunState>
fromMetadata(const std::map<std::string, std::string> &metadata) {
  MetadataReader reader(metadata);
  RunState state;
  reader.read("vdnn.step", state.step);
  reader.read("vdnn.seed", state.seed);
  reader.read("vdnn.samples", state.samples);
  reader.read("vdnn.batch", state.batch);
  reader.read("vdnn.rate", state.rate.base);
  reader.read("vdnn.rate_factor", state.rate.factor);
  reader.read("vdnn.rate_every", state.rate.every);
  reader.read("vdnn.rate_total", state.rate.total);
  if (reader.has("vdnn.shuffle")) {
    reader.read("vdnn.shuffle", state.shuffle.emplace());
  }
  if (std::optional<RateSchedule::Kind> kind =
          parseRateKind(reader.text("vdnn.rate_schedule"))) {
    state.rate.kind = *kind;
  } else {
    reader.fail("vdnn.rate_schedule");
  }
  if (!reader.bad().empty()) {
    return Error{"its metadata entry '" + reader.bad() +
                 "' is missing or malformed"};
  }
  return state;
}

} // namespace vdnn::rt
