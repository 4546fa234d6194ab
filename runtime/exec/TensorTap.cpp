//===- TensorTap.cpp - values of tensors, in time -------------------------===//

#include "runtime/exec/Layout.h"
#include "runtime/exec/Observers.h"

namespace vdnn::rt {

namespace {

class TensorTapImpl final : public TensorTap {
public:
  explicit TensorTapImpl(TensorFilter wanted) : wanted_(std::move(wanted)) {}

  // Only launches count: copies of a tensor that travels hold the same value.
  Status after(const schedule::ScheduleT &schedule, Device &device,
               uint32_t index) override {
    const schedule::CommandT &command = *schedule.commands[index];
    if (command.kind != schedule::CommandKind::Launch) {
      return {};
    }
    for (const schedule::Operand &write : command.writes) {
      const schedule::BufferT &buffer = *schedule.buffers[write.buffer()];
      if (buffer.tensor < 0 || !wanted_(*schedule.tensors[buffer.tensor])) {
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
  tensors(const schedule::ScheduleT &schedule) const override {
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
  TensorFilter wanted_;
  std::map<int32_t, std::vector<std::byte>> values_; // by tensor
};

} // namespace

std::unique_ptr<TensorTap> createTensorTap(TensorFilter wanted) {
  return std::make_unique<TensorTapImpl>(std::move(wanted));
}

std::vector<const schedule::TensorT *>
computedTensors(const schedule::ScheduleT &schedule) {
  std::vector<bool> computed(schedule.tensors.size());
  for (const auto &command : schedule.commands) {
    if (command->kind != schedule::CommandKind::Launch) {
      continue;
    }
    for (const schedule::Operand &write : command->writes) {
      int32_t tensor = schedule.buffers[write.buffer()]->tensor;
      if (tensor >= 0) {
        computed[tensor] = true;
      }
    }
  }
  std::vector<const schedule::TensorT *> result;
  for (size_t i = 0; i < computed.size(); ++i) {
    if (computed[i]) {
      result.push_back(schedule.tensors[i].get());
    }
  }
  return result;
}

} // namespace vdnn::rt
