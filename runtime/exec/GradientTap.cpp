//===- GradientTap.cpp - gradients, before their memory is used again
//---------------------------------------===//

#include "runtime/exec/Layout.h"
#include "runtime/exec/Observers.h"

namespace vdnn::rt {

namespace {

class GradientTapImpl final : public GradientTap {
public:
  // Only launches count: copies of a gradient that travels hold the same value.
  Status after(const schedule::ScheduleT &schedule, Device &device,
               uint32_t index) override {
    const schedule::CommandT &command = *schedule.commands[index];
    if (command.kind != schedule::CommandKind::Launch) {
      return {};
    }
    for (const schedule::Operand &write : command.writes) {
      const schedule::BufferT &buffer = *schedule.buffers[write.buffer()];
      if (buffer.tensor < 0 ||
          schedule.tensors[buffer.tensor]->role != schedule::Role::Gradient) {
        continue;
      }
      // A gradient that is summed up is written by several launches; the last
      // one's value stays.
      std::vector<std::byte> &bytes = values_[buffer.tensor];
      bytes.resize(schedule.tensors[buffer.tensor]->bytes);
      if (Status status =
              device.tap(command.stream, buffer.arena, buffer.offset, bytes);
          !status) {
        return status;
      }
    }
    return {};
  }

  std::vector<HostTensor>
  gradients(const schedule::ScheduleT &schedule) const override {
    std::vector<HostTensor> result;
    for (const auto &[index, bytes] : values_) {
      const schedule::TensorT &tensor = *schedule.tensors[index];
      std::vector<std::byte> rowMajor(bytes.size());
      toRowMajor(*tensor.type, bytes, rowMajor);
      result.push_back(makeHostTensor(tensor.name, tensor.type->element,
                                      tensor.type->shape, std::move(rowMajor)));
    }
    return result;
  }

private:
  std::map<int32_t, std::vector<std::byte>> values_; // by tensor
};

} // namespace

std::unique_ptr<GradientTap> createGradientTap() {
  return std::make_unique<GradientTapImpl>();
}

} // namespace vdnn::rt
