//===- Outputs.cpp --------------------------------------------------------===//

#include "Outputs.h"

#include "runtime/exec/files/Npy.h"
#include "runtime/exec/files/OnnxTensor.h"
#include "runtime/support/AtomicFile.h"
#include "runtime/support/Format.h"

#include <algorithm>

namespace vdnn::tool {

using rt::format;

rt::Result<OutputFiles>
OutputFiles::create(rt::Session &session,
                    const std::map<std::string, std::string> &files) {
  OutputFiles result;
  const schedule::ScheduleT &schedule = session.executor().schedule();
  for (const auto &[name, path] : files) {
    std::optional<uint32_t> index = session.executor().find(name);
    if (!index || schedule.tensors[*index]->role != schedule::Role::Output) {
      std::string names;
      for (const auto &tensor : schedule.tensors) {
        if (tensor->role == schedule::Role::Output) {
          names += (names.empty() ? "'" : ", '") + tensor->name + "'";
        }
      }
      return rt::Error{"the plan has no output '" + name +
                       "', its outputs are " +
                       (names.empty() ? "none" : names)};
    }
    if (!path.ends_with(".npy")) {
      return rt::Error{"output '" + name + "' goes to '" + path +
                       "', expected a .npy file"};
    }
    const schedule::TypeT &type = *schedule.tensors[*index]->type;
    if (rt::Result<std::string> header =
            rt::npyHeader(type.element, type.shape);
        !header) {
      return rt::Error{"output '" + name + "': " + header.message()};
    }
    bool batched =
        !type.shape.empty() &&
        static_cast<uint64_t>(type.shape[0]) == session.feed().batch();
    std::vector<int64_t> shape = type.shape;
    if (batched) {
      shape[0] = 0;
    } else {
      shape.insert(shape.begin(), 0);
    }
    result.entries_.push_back(
        {*index, path, type.element, std::move(shape), batched, {}});
  }
  return result;
}

rt::Status OutputFiles::collect(rt::Session &session, uint64_t step) {
  for (Entry &entry : entries_) {
    rt::Result<rt::HostTensor> value = session.executor().read(entry.tensor);
    if (!value) {
      return value.status();
    }
    uint64_t rows = entry.batched ? session.feed().samplesIn(step) : 1;
    uint64_t rowBytes = entry.batched
                            ? value->data.size() / session.feed().batch()
                            : value->data.size();
    std::span<const std::byte> kept = value->data.first(rows * rowBytes);
    entry.bytes.insert(entry.bytes.end(), kept.begin(), kept.end());
    entry.shape[0] += static_cast<int64_t>(rows);
  }
  return {};
}

rt::Status OutputFiles::write() const {
  for (const Entry &entry : entries_) {
    rt::Result<std::string> header = rt::npyHeader(entry.element, entry.shape);
    if (!header) {
      return header.status();
    }
    rt::Result<rt::AtomicFile> file = rt::AtomicFile::create(entry.path);
    if (!file) {
      return file.status();
    }
    if (rt::Status status = file->write(*header); !status) {
      return status;
    }
    if (rt::Status status =
            file->write(std::span<const std::byte>(entry.bytes));
        !status) {
      return status;
    }
    if (rt::Status status = file->commit(); !status) {
      return status;
    }
  }
  return {};
}

rt::Result<Accuracy> Accuracy::create(rt::Session &session,
                                      const std::string &path) {
  rt::Result<rt::HostTensor> labels =
      path.ends_with(".pb") ? rt::readOnnxTensor(path) : rt::readNpy(path);
  if (!labels) {
    return labels.error();
  }
  Accuracy result;
  result.labels_ = std::move(*labels);
  if (result.labels_.shape.size() != 1 ||
      !rt::convertsExactly(result.labels_.element,
                           schedule::ElementType::I64)) {
    return rt::Error{"'" + path + "' has shape " +
                     rt::formatShape(result.labels_.shape) + " of " +
                     rt::elementName(result.labels_.element) +
                     ", expected one integer label per sample"};
  }
  if (static_cast<uint64_t>(result.labels_.shape[0]) !=
      session.feed().samples()) {
    return rt::Error{
        format("'%s' holds %lld labels, the data %llu samples", path.c_str(),
               static_cast<long long>(result.labels_.shape[0]),
               static_cast<unsigned long long>(session.feed().samples()))};
  }
  const auto &tensors = session.executor().schedule().tensors;
  auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const auto &tensor) {
        return tensor->role == schedule::Role::Output &&
               tensor->type->element <= schedule::ElementType::F64 &&
               tensor->type->shape.size() >= 2 && tensor->type->shape[1] > 0 &&
               static_cast<uint64_t>(tensor->type->shape[0]) ==
                   session.feed().batch() &&
               tensor->bytes == schedule::elementBytes(tensor->type->element) *
                                    tensor->type->shape[0] *
                                    tensor->type->shape[1];
      });
  if (session.training() || found == tensors.end()) {
    return rt::Error{"--labels needs a plan for inference with an output of "
                     "shape [batch, classes]: plan the model without "
                     "a loss, and give the trained weights with --weights"};
  }
  result.tensor_ = static_cast<uint32_t>(found - tensors.begin());
  return result;
}

rt::Status Accuracy::collect(rt::Session &session, uint64_t step) {
  rt::Result<rt::HostTensor> scores = session.executor().read(tensor_);
  if (!scores) {
    return scores.status();
  }
  auto classes = static_cast<uint64_t>(scores->shape[1]);
  uint64_t samples = session.feed().samplesIn(step);
  uint64_t first =
      step % session.feed().stepsPerPass() * session.feed().batch();
  for (uint64_t i = 0; i < samples; ++i) {
    std::vector<double> row = rt::toDoubles(*scores, i * classes, classes);
    auto best = static_cast<double>(std::max_element(row.begin(), row.end()) -
                                    row.begin());
    right_ += best == rt::toDoubles(labels_, first + i, 1)[0];
  }
  total_ += samples;
  return {};
}

} // namespace vdnn::tool
