//===- Replay.cpp - runs the streams of a plan ----------------------------===//

#include "Replay.h"

#include <algorithm>

namespace vdnn::rt::test {

using namespace schedule;

std::optional<std::string> Replay::run(const Pick &pick) {
  reset();
  while (!harm_) {
    hostActs();
    std::vector<uint32_t> ready;
    for (uint32_t stream = 0; stream < s_.streams.size(); ++stream) {
      if (isReady(stream)) {
        ready.push_back(stream);
      }
    }
    if (ready.empty()) {
      break;
    }
    advance(pick(ready));
  }
  if (!harm_ && completed_ != s_.commands.size() * steps_) {
    harm_ = "the streams wait for each other for ever";
  }
  if (!harm_) {
    checkKept();
  }
  return harm_;
}

void Replay::reset() {
  cells_.assign(cellAddress_.size(), {});
  states_.assign(s_.streams.size(), {});
  done_.assign(s_.commands.size() * steps_, false);
  hostStep_.assign(hostPlaces_.size(), 0);
  hostLeft_.assign(steps_ * hostPlaces_.size(), 0);
  completed_ = 0;
  nextGarbage_ = garbage_;
  harm_ = broken_;
  for (size_t place = 0; place < hostPlaces_.size(); ++place) {
    for (unsigned step = 0; step < steps_; ++step) {
      hostLeft_[step * hostPlaces_.size() + place] =
          hostPlaces_[place].touching.size();
    }
  }
  for (const auto &tensor : s_.tensors) {
    if (tensor->entry >= 0) {
      const BufferT &entry = *s_.buffers[tensor->entry];
      put(rangeOf(entry, entry.bytes), values_[0][tensor->entry]);
    }
    if (tensor->staging >= 0) {
      const BufferT &staging = *s_.buffers[tensor->staging];
      put(rangeOf(staging, staging.bytes), values_[0][tensor->staging]);
    }
  }
}

void Replay::hostActs() {
  for (size_t place = 0; place < hostPlaces_.size(); ++place) {
    unsigned &step = hostStep_[place];
    while (step < steps_ && hostLeft_[step * hostPlaces_.size() + place] == 0) {
      const HostPlace &host = hostPlaces_[place];
      ++step;
      if (host.filled) {
        put(host.range, values_[step][host.buffer]);
      } else {
        expect({host.buffer, host.range}, step - 1, "the host");
      }
    }
  }
}

uint64_t Replay::submission(uint32_t stream) const {
  const State &state = states_[stream];
  uint64_t step = state.next / queues_[stream].size();
  return step * s_.commands.size() +
         queues_[stream][state.next % queues_[stream].size()];
}

bool Replay::isReady(uint32_t stream) const {
  const State &state = states_[stream];
  if (state.running) {
    return true;
  }
  if (queues_[stream].empty() ||
      state.next == queues_[stream].size() * steps_) {
    return false;
  }
  uint64_t at = submission(stream);
  if (target_[at] >= 0 && !done_[target_[at]]) {
    return false;
  }
  unsigned step = at / s_.commands.size();
  const std::vector<uint32_t> &places =
      work_[at % s_.commands.size()].hostPlaces;
  return std::all_of(places.begin(), places.end(),
                     [&](uint32_t place) { return hostStep_[place] >= step; });
}

void Replay::advance(uint32_t stream) {
  State &state = states_[stream];
  uint64_t at = submission(stream);
  uint32_t id = at % s_.commands.size();
  unsigned step = at / s_.commands.size();
  CommandKind kind = s_.commands[id]->kind;
  bool works = kind == CommandKind::Launch || kind == CommandKind::Copy;
  if (works && !state.running) {
    start(id, step);
    state.running = true;
    return;
  }
  if (works) {
    finish(id, step);
  }
  state.running = false;
  ++state.next;
  done_[at] = true;
  ++completed_;
  for (uint32_t place : work_[id].hostPlaces) {
    --hostLeft_[step * hostPlaces_.size() + place];
  }
}

void Replay::start(uint32_t id, unsigned step) {
  Work &work = work_[id];
  for (const Access &read : work.reads) {
    expect(read, step, s_.commands[id]->location);
  }
  // While it runs, what it writes is neither the old value nor the new one.
  for (const Access &write : work.writes) {
    put(write.range, nextGarbage_++);
  }
  for (const Access &scratch : work.scratch) {
    put(scratch.range, nextGarbage_);
    scratchValue_[id] = nextGarbage_++;
  }
}

void Replay::finish(uint32_t id, unsigned step) {
  Work &work = work_[id];
  for (size_t i = 0; i < work.reads.size(); ++i) {
    if (!work.readInPlace[i]) {
      expect(work.reads[i], step, s_.commands[id]->location);
    }
  }
  for (const Access &scratch : work.scratch) {
    check(scratch, scratchValue_[id], s_.commands[id]->location);
    put(scratch.range, nextGarbage_++);
  }
  for (const Access &write : work.writes) {
    put(write.range, values_[step][write.buffer]);
  }
}

void Replay::put(const Range &range, Value value) {
  for (uint32_t cell = range.begin; cell < range.end; ++cell) {
    cells_[cell] = {value,
                    static_cast<int64_t>(cellAddress_[cell]) - range.address};
  }
}

void Replay::expect(const Access &access, unsigned step,
                    const std::string &who) {
  check(access, values_[step][access.buffer], who);
}

void Replay::check(const Access &access, Value value, const std::string &who) {
  for (uint32_t cell = access.range.begin; cell < access.range.end; ++cell) {
    int64_t place =
        static_cast<int64_t>(cellAddress_[cell]) - access.range.address;
    if ((cells_[cell].value != value || cells_[cell].place != place) &&
        !harm_) {
      harm_ = "'" + who + "' finds another value in buffer '" +
              s_.buffers[access.buffer]->name + "'";
    }
  }
}

void Replay::checkKept() {
  for (const auto &tensor : s_.tensors) {
    int32_t left = tensor->staging >= 0          ? tensor->staging
                   : tensor->role == Role::Input ? -1
                                                 : tensor->exit;
    if (left >= 0 && tensor->entry >= 0) {
      const BufferT &entry = *s_.buffers[tensor->entry];
      check({static_cast<uint32_t>(tensor->entry), rangeOf(entry, entry.bytes)},
            values_[steps_ - 1][left], "the next step");
    }
  }
}

} // namespace vdnn::rt::test
