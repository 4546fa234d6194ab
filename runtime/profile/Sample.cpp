//===- Sample.cpp ---------------------------------------------------------===//

#include "runtime/profile/Sample.h"

#include "runtime/support/Half.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace vdnn::rt {

using schedule::ElementType;

static constexpr uint32_t kCompute = 0;

Status poisonOutputs(Device &device, const Task &task) {
  Status status;
  for (size_t i = 0; status && i < task.writes.size(); ++i) {
    Result<uint64_t> bytes = schedule::typeBytes(*task.writes[i]);
    status = bytes ? device.fill(kCompute, schedule::Arena::Device,
                                 task.writeOffsets[i], *bytes, std::byte{0xff})
                   : bytes.status();
  }
  return status ? device.synchronize() : status;
}

static float toFloat(ElementType element, const std::byte *bytes) {
  if (element == ElementType::F32) {
    float value;
    std::memcpy(&value, bytes, sizeof(value));
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, bytes, sizeof(bits));
  return element == ElementType::BF16 ? bfloatToFloat(bits) : halfToFloat(bits);
}

Result<Sample> sampleOutputs(Device &device, const Task &task) {
  constexpr uint64_t kPiece = 2048; // elements: every way is compared with all
  Sample sample;
  for (size_t i = 0; i < task.writes.size(); ++i) {
    const schedule::TypeT &type = *task.writes[i];
    if (!isFloat(type)) {
      continue;
    }
    Result<uint64_t> bytes = schedule::typeBytes(type);
    if (!bytes) {
      return bytes.error();
    }
    uint64_t size = type.element == ElementType::F32 ? 4 : 2,
             all = *bytes / size, piece = std::min(all, kPiece);
    for (uint64_t begin : {uint64_t{0}, (all - piece) / 2, all - piece}) {
      std::vector<std::byte> read(piece * size);
      if (Status status =
              device.download(task.writeOffsets[i] + begin * size, read);
          !status) {
        return status.error();
      }
      for (uint64_t at = 0; at < read.size(); at += size) {
        sample.push_back(toFloat(type.element, &read[at]));
      }
    }
  }
  return sample;
}

bool agree(const Sample &a, const Sample &b) {
  constexpr double kMost = 0.05;
  if (a.size() != b.size()) {
    return false;
  }
  double difference = 0, normA = 0, normB = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(a[i]) != std::isfinite(b[i])) {
      return false;
    }
    if (std::isfinite(a[i])) {
      double x = a[i], y = b[i];
      difference += (x - y) * (x - y);
      normA += x * x;
      normB += y * y;
    }
  }
  return std::sqrt(difference) <= kMost * std::sqrt(std::max(normA, normB));
}

size_t findLeader(std::span<const Sample> samples) {
  auto count = [&](const Sample &sample) {
    return std::ranges::count_if(
        samples, [&](const Sample &other) { return agree(sample, other); });
  };
  return static_cast<size_t>(std::ranges::max_element(samples, {}, count) -
                             samples.begin());
}

} // namespace vdnn::rt
