//===- Jitter.cpp - random delays on every stream -------------------------===//

#include "runtime/exec/Observers.h"
#include "runtime/support/Philox.h"

namespace vdnn::rt {

namespace {

class Jitter final : public Observer {
public:
  explicit Jitter(uint64_t seed) : seed_(seed) {}

  Status before(const schedule::ScheduleT &schedule, Device &device,
                uint32_t index) override {
    uint32_t random = philox(seed_, 0, count_++)[0];
    // Half of the commands run at once: always late is no more varied than
    // never late.
    if (random & 1) {
      return {};
    }
    return device.delay(schedule.commands[index]->stream,
                        (random >> 1) % 200000);
  }

private:
  uint64_t seed_;
  uint64_t count_ = 0;
};

} // namespace

std::unique_ptr<Observer> createJitter(uint64_t seed) {
  return std::make_unique<Jitter>(seed);
}

} // namespace vdnn::rt
