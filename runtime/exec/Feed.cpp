//===- Feed.cpp -----------------------------------------------------------===//

#include "runtime/exec/Feed.h"

#include "runtime/exec/Initialize.h"
#include "runtime/exec/Layout.h"
#include "runtime/exec/files/Npy.h"
#include "runtime/exec/files/OnnxTensor.h"
#include "runtime/support/Format.h"
#include "runtime/support/Philox.h"
#include "runtime/support/StreamCopy.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace vdnn::rt {

using schedule::ElementType;
using schedule::Role;

namespace {

/// From here on a batch is more than one thread can copy beside a step of a
/// GPU, and more than a cache should hold.
constexpr uint64_t kLargeBytes = 16 << 20;

void copyBytes(std::byte *destination, const std::byte *source, size_t bytes) {
  std::copy_n(source, bytes, destination);
}

Result<HostTensor> readTensorFile(const std::string &path) {
  if (path.ends_with(".npy")) {
    return readNpy(path);
  }
  if (path.ends_with(".pb")) {
    return readOnnxTensor(path);
  }
  return Error{"'" + path + "' is neither a .npy nor a .pb file"};
}

/// Integers of an input that a loss takes as class indices must name a class;
/// others are 0 or 1.
int64_t integerRange(const schedule::ScheduleT &schedule, uint32_t tensor) {
  for (const auto &command : schedule.commands) {
    if (command->kind != schedule::CommandKind::Launch ||
        !schedule.kernels[command->kernel]->kind.starts_with(
            "softmax_cross_entropy") ||
        command->reads.size() < 2) {
      continue;
    }
    const std::vector<int64_t> &logits =
        schedule.types[command->reads[0].type()]->shape;
    bool reads =
        std::any_of(command->reads.begin() + 1, command->reads.end(),
                    [&](const schedule::Operand &operand) {
                      return schedule.buffers[operand.buffer()]->tensor ==
                             static_cast<int32_t>(tensor);
                    });
    if (reads && logits.size() >= 2) {
      return std::max<int64_t>(logits[1], 1);
    }
  }
  return 2;
}

} // namespace

Result<Feed> Feed::create(const schedule::ScheduleT &schedule,
                          const FeedOptions &options) {
  Feed feed;
  feed.seed_ = options.shuffle;
  std::map<std::string, std::string> sources = options.sources;
  std::string names;
  for (uint32_t i = 0; i < schedule.tensors.size(); ++i) {
    const schedule::TensorT &tensor = *schedule.tensors[i];
    if (tensor.role != Role::Input || isReserved(tensor)) {
      continue;
    }
    names += (names.empty() ? "'" : ", '") + tensor.name + "'";
    auto found = sources.find(tensor.name);
    std::string source = found == sources.end() ? "synthetic" : found->second;
    if (found != sources.end()) {
      sources.erase(found);
    }
    Status status = source == "synthetic"
                        ? feed.addSynthetic(schedule, i, options.seed)
                        : feed.addSource(schedule, i, source);
    if (!status) {
      return status.error();
    }
  }
  if (!sources.empty()) {
    return Error{"the plan has no input '" + sources.begin()->first +
                 "', its inputs are " + (names.empty() ? "none" : names)};
  }
  if (Status status = feed.agree(schedule, options.partial); !status) {
    return status.error();
  }
  return feed;
}

Status Feed::addSource(const schedule::ScheduleT &schedule, uint32_t index,
                       const std::string &path) {
  const schedule::TensorT &tensor = *schedule.tensors[index];
  Result<HostTensor> data = readTensorFile(path);
  if (!data) {
    return data.error();
  }
  const std::vector<int64_t> &shape = tensor.type->shape;
  bool batched = !shape.empty();
  bool fits = data->shape.size() == shape.size() &&
              (shape.empty() || std::equal(shape.begin() + 1, shape.end(),
                                           data->shape.begin() + 1));
  if (!fits) {
    return Error{"'" + path + "' has shape " + formatShape(data->shape) +
                 ", input '" + tensor.name + "' takes batches of " +
                 formatShape(shape) +
                 ": all but the first dimension must agree"};
  }
  if (!convertsExactly(data->element, tensor.type->element)) {
    return Error{
        "'" + path + "' holds " + elementName(data->element) + ", input '" +
        tensor.name + "' takes " + elementName(tensor.type->element) +
        ": not every value would stay exact, so convert it when saving"};
  }
  sources_.push_back({index, std::move(*data), batched, isStaged(tensor), {}});
  return {};
}

Status Feed::addSynthetic(const schedule::ScheduleT &schedule, uint32_t index,
                          uint64_t seed) {
  const schedule::TensorT &tensor = *schedule.tensors[index];
  ElementType element = tensor.type->element;
  std::vector<std::byte> bytes(tensor.bytes);
  uint64_t stream = hashName(tensor.name);
  size_t size = schedule::elementBytes(element);
  bool floating = element == ElementType::F32 || element == ElementType::F64 ||
                  element == ElementType::F16 || element == ElementType::BF16;
  if (floating) {
    if (Status status = fillRandom(schedule::InitialKind::Normal, 0, 1, seed,
                                   stream, element, bytes);
        !status) {
      return status;
    }
  } else {
    auto range = static_cast<uint64_t>(std::min<int64_t>(
        integerRange(schedule, index), size == 1 ? 128 : 32768));
    for (size_t i = 0; i < bytes.size() / size; ++i) {
      uint64_t value = philox(seed, stream, i)[0] % range;
      std::memcpy(bytes.data() + i * size, &value, size); // little endian
    }
  }
  synthetic_.push_back(tensor.name);
  sources_.push_back({index,
                      makeHostTensor(tensor.name, element, tensor.type->shape,
                                     std::move(bytes)),
                      /*batched=*/false,
                      isStaged(tensor),
                      {}});
  return {};
}

Status Feed::agree(const schedule::ScheduleT &schedule, bool partial) {
  const Source *first = nullptr;
  for (const Source &source : sources_) {
    const schedule::TensorT &tensor = *schedule.tensors[source.tensor];
    if (!source.batched) {
      if (!first && !tensor.type->shape.empty()) {
        batch_ = samples_ = static_cast<uint64_t>(tensor.type->shape[0]);
      }
      continue;
    }
    auto rows = static_cast<uint64_t>(source.data.shape[0]);
    auto batch = static_cast<uint64_t>(tensor.type->shape[0]);
    if (!first) {
      first = &source;
      samples_ = rows;
      batch_ = batch;
    } else if (rows != samples_ || batch != batch_) {
      return Error{format(
          "'%s' holds %llu samples for batches of %llu, but '%s' holds %llu "
          "for batches of %llu",
          source.data.name.c_str(), static_cast<unsigned long long>(rows),
          static_cast<unsigned long long>(batch), first->data.name.c_str(),
          static_cast<unsigned long long>(samples_),
          static_cast<unsigned long long>(batch_))};
    }
  }
  if (first &&
      (samples_ == 0 || batch_ == 0 || (!partial && samples_ < batch_))) {
    return Error{format("'%s' holds %llu samples, fewer than one batch of "
                        "%llu: plan with a smaller --batch",
                        first->data.name.c_str(),
                        static_cast<unsigned long long>(samples_),
                        static_cast<unsigned long long>(batch_))};
  }
  if (first) {
    stepsPerPass_ =
        partial ? (samples_ + batch_ - 1) / batch_ : samples_ / batch_;
  }
  return {};
}

uint64_t Feed::samplesIn(uint64_t step) const {
  return std::min(batch_,
                  samples_ - std::min(samples_, step % stepsPerPass_ * batch_));
}

void Feed::shuffle(uint64_t pass) {
  if (!seed_ || orderPass_ == pass) {
    return;
  }
  order_.resize(samples_);
  std::iota(order_.begin(), order_.end(), 0);
  for (uint64_t i = samples_; i > 1; --i) {
    std::array<uint32_t, 4> bits = philox(*seed_, pass, i);
    uint64_t random = static_cast<uint64_t>(bits[0]) << 32 | bits[1];
    std::swap(order_[i - 1], order_[random % i]);
  }
  orderPass_ = pass;
}

bool Feed::stages() const {
  return std::any_of(sources_.begin(), sources_.end(),
                     [](const Source &source) { return source.staged; });
}

Status Feed::fill(Executor &executor, uint64_t step, bool staged) {
  uint64_t pass = step / stepsPerPass_;
  for (Source &source : sources_) {
    if (source.staged != staged) {
      continue;
    }
    Rows rows;
    if (source.batched) {
      rows = {seed_ ? pass : 0, step % stepsPerPass_ * batch_};
    }
    Filled wanted{rows, executor.inputRevision(source.tensor)};
    if (source.filled == wanted) {
      continue;
    }
    shuffle(pass);
    fillRows(source, *executor.schedule().tensors[source.tensor], rows.first,
             executor.inputBytes(source.tensor));
    source.filled = {rows, executor.inputRevision(source.tensor)};
  }
  return {};
}

uint64_t Feed::rowAt(const Source &source, uint64_t position) const {
  if (!source.batched) {
    return position;
  }
  position %= samples_;
  return order_.empty() ? position : order_[position];
}

/// Rows are converted one by one: with one sample, a batch's type is the
/// sample's but for the first dimension. What is the same in every step is cut
/// along that dimension too, where the layout lets it.
void Feed::fillRows(const Source &source, const schedule::TensorT &tensor,
                    uint64_t begin, std::span<std::byte> destination) {
  schedule::TypeT rowType = *tensor.type;
  uint64_t rows = 1;
  if (!rowType.shape.empty() && rowType.shape[0] > 0) {
    rows = static_cast<uint64_t>(rowType.shape[0]);
    rowType.shape[0] = 1;
  }
  size_t rowFrom = source.data.data.size() / (source.batched ? samples_ : rows);
  size_t rowTo = destination.size() / rows;
  bool converts = source.data.element != tensor.type->element;
  bool moves = !isRowMajor(rowType);
  auto convertRows = [&](uint64_t first, uint64_t last) {
    std::vector<std::byte> scratch(converts && moves ? rowTo : 0);
    for (uint64_t i = first; i < last; ++i) {
      auto from =
          source.data.data.subspan(rowAt(source, begin + i) * rowFrom, rowFrom);
      auto to = destination.subspan(i * rowTo, rowTo);
      if (converts) {
        convert(from, source.data.element, moves ? scratch : to,
                tensor.type->element);
      }
      if (moves) {
        fromRowMajor(rowType, converts ? scratch : from, to);
      }
    }
  };
  // What lies side by side in the source is copied at once.
  auto copy = destination.size() < kLargeBytes ? copyBytes : streamCopy;
  auto copyRows = [&](uint64_t first, uint64_t last) {
    while (first < last) {
      uint64_t row = rowAt(source, begin + first);
      uint64_t count = 1;
      while (first + count < last &&
             rowAt(source, begin + first + count) == row + count) {
        ++count;
      }
      copy(destination.data() + first * rowTo,
           source.data.data.data() + row * rowFrom, count * rowTo);
      first += count;
    }
  };
  inParts(rows, destination.size(), [&](uint64_t first, uint64_t last) {
    converts || moves ? convertRows(first, last) : copyRows(first, last);
  });
}

/// Parts are small, so that a thread that is held up holds no other up.
void Feed::inParts(uint64_t rows, uint64_t bytes,
                   const std::function<void(uint64_t, uint64_t)> &work) {
  constexpr uint64_t kPartBytes = 1 << 20;
  constexpr unsigned kMostThreads = 16; // memory keeps up with no more
  if (bytes < kLargeBytes) {
    work(0, rows);
    return;
  }
  if (!workers_) {
    // Where there are many cores, some are left to the threads through which
    // the device tells how far it is.
    unsigned cores = usableCores();
    workers_ =
        std::make_unique<Workers>(std::min(cores - cores / 8, kMostThreads));
  }
  uint64_t size = std::max<uint64_t>(kPartBytes * rows / bytes, 1);
  workers_->run((rows + size - 1) / size, [&](uint64_t part) {
    work(part * size, std::min(rows, (part + 1) * size));
  });
}

} // namespace vdnn::rt
