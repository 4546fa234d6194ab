//===- ReplaySetup.cpp - what commands read and write, and what they must -===//

#include "Replay.h"

#include <algorithm>

namespace vdnn::rt::test {

using namespace schedule;

uint64_t Replay::operandBytes(const Operand &operand) const {
  return *typeBytes(*s_.types[operand.type()]);
}

void Replay::buildCells() {
  std::vector<uint64_t> edges[2];
  auto add = [&](const BufferT &buffer, uint64_t bytes) {
    edges[static_cast<int>(buffer.arena)].push_back(buffer.offset);
    edges[static_cast<int>(buffer.arena)].push_back(buffer.offset + bytes);
  };
  for (const auto &buffer : s_.buffers) {
    add(*buffer, buffer->bytes);
  }
  for (const auto &command : s_.commands) {
    for (const std::vector<Operand> *operands :
         {&command->reads, &command->writes}) {
      for (const Operand &operand : *operands) {
        add(*s_.buffers[operand.buffer()], operandBytes(operand));
      }
    }
  }
  for (int arena : {0, 1}) {
    std::sort(edges[arena].begin(), edges[arena].end());
    edges[arena].erase(std::unique(edges[arena].begin(), edges[arena].end()),
                       edges[arena].end());
    firstCell_[arena] = cellAddress_.size();
    cellAddress_.insert(cellAddress_.end(), edges[arena].begin(),
                        edges[arena].end());
    edges_[arena] = std::move(edges[arena]);
  }
}

Range Replay::rangeOf(const BufferT &buffer, uint64_t bytes) const {
  int arena = static_cast<int>(buffer.arena);
  auto cell = [&](uint64_t address) {
    auto found =
        std::lower_bound(edges_[arena].begin(), edges_[arena].end(), address);
    return static_cast<uint32_t>(firstCell_[arena] +
                                 (found - edges_[arena].begin()));
  };
  return {cell(buffer.offset), cell(buffer.offset + bytes),
          static_cast<int64_t>(buffer.offset)};
}

Replay::Access Replay::accessOf(uint32_t buffer, uint64_t bytes) {
  const BufferT &b = *s_.buffers[buffer];
  uint64_t arena = b.arena == Arena::Device ? s_.device_arena : s_.host_arena;
  if (b.offset + bytes > arena) {
    broken_ = "buffer '" + b.name + "' is used beyond its arena";
  }
  return {buffer, rangeOf(b, bytes)};
}

bool Replay::mayOverwrite(const CommandT &c, const InPlace &pair, uint32_t read,
                          uint32_t write) const {
  if (pair.write() != write ||
      c.reads[pair.read()].buffer() != c.reads[read].buffer()) {
    return false;
  }
  const TypeT &a = *s_.types[c.reads[pair.read()].type()];
  const TypeT &b = *s_.types[c.reads[read].type()];
  return pair.read() == read ||
         (a.element == b.element && a.shape == b.shape && a.layout == b.layout);
}

void Replay::checkElements(const CommandT &c) {
  for (const std::vector<Operand> *operands : {&c.reads, &c.writes}) {
    for (const Operand &operand : *operands) {
      const BufferT &b = *s_.buffers[operand.buffer()];
      if (b.tensor >= 0 && s_.tensors[b.tensor]->type->element !=
                               s_.types[operand.type()]->element) {
        broken_ = "'" + c.location + "' takes the elements of buffer '" +
                  b.name + "' as another type";
      }
    }
  }
}

void Replay::buildCommands() {
  work_.resize(s_.commands.size());
  queues_.resize(s_.streams.size());
  for (uint32_t id = 0; id < s_.commands.size(); ++id) {
    const CommandT &c = *s_.commands[id];
    checkElements(c);
    Work &work = work_[id];
    for (const Operand &operand : c.reads) {
      work.reads.push_back(accessOf(operand.buffer(), operandBytes(operand)));
    }
    for (const Operand &operand : c.writes) {
      work.writes.push_back(accessOf(operand.buffer(), operandBytes(operand)));
    }
    if (c.workspace >= 0) {
      work.scratch.push_back(
          accessOf(c.workspace, s_.buffers[c.workspace]->bytes));
    }
    work.readInPlace.resize(c.reads.size());
    for (uint32_t read = 0; read < c.reads.size(); ++read) {
      for (uint32_t write = 0; write < c.writes.size(); ++write) {
        const Range &from = work.reads[read].range;
        const Range &to = work.writes[write].range;
        bool declared = std::any_of(c.in_place.begin(), c.in_place.end(),
                                    [&](const InPlace &pair) {
                                      return mayOverwrite(c, pair, read, write);
                                    });
        if (declared && from.begin == to.begin && from.end == to.end) {
          work.readInPlace[read] = true;
        }
      }
    }
    queues_[c.stream].push_back(id);
  }
  // What each wait of each step means: the place of a record in the
  // submission of all steps.
  std::vector<int64_t> latest(s_.event_count, -1);
  target_.resize(s_.commands.size() * steps_, -1);
  for (uint64_t at = 0; at < target_.size(); ++at) {
    const CommandT &c = *s_.commands[at % s_.commands.size()];
    if (c.kind == CommandKind::Record) {
      latest[c.event] = static_cast<int64_t>(at);
    } else if (c.kind == CommandKind::Wait) {
      target_[at] = latest[c.event];
    }
  }
}

void Replay::buildHostPlaces() {
  for (const auto &tensor : s_.tensors) {
    if (tensor->staging >= 0) {
      addHostPlace(tensor->staging, /*filled=*/true);
    } else if (tensor->role == Role::Input && tensor->entry >= 0) {
      addHostPlace(tensor->entry, /*filled=*/true);
    } else if (tensor->role == Role::Output && tensor->exit >= 0) {
      addHostPlace(tensor->exit, /*filled=*/false);
    }
  }
}

void Replay::addHostPlace(uint32_t buffer, bool filled) {
  HostPlace place{rangeOf(*s_.buffers[buffer], s_.buffers[buffer]->bytes),
                  buffer,
                  filled,
                  {}};
  // A staging buffer is filled beside whatever commands run, once its own copy
  // is over.
  bool staging = std::any_of(
      s_.tensors.begin(), s_.tensors.end(), [&](const auto &tensor) {
        return tensor->staging == static_cast<int32_t>(buffer);
      });
  for (uint32_t id = 0; id < work_.size(); ++id) {
    bool touches = false;
    for (const std::vector<Access> *list :
         {&work_[id].reads, &work_[id].writes, &work_[id].scratch}) {
      for (const Access &access : *list) {
        touches = touches || (staging ? access.buffer == buffer
                                      : access.range.overlaps(place.range));
      }
    }
    if (touches) {
      place.touching.push_back(id);
      work_[id].hostPlaces.push_back(hostPlaces_.size());
    }
  }
  hostPlaces_.push_back(std::move(place));
}

void Replay::buildValues() {
  values_.assign(steps_ + 1, std::vector<Value>(s_.buffers.size(), 0));
  Value fresh = 1;
  for (unsigned step = 0; step <= steps_; ++step) {
    std::vector<Value> &now = values_[step];
    std::vector<Value> made(s_.tensors.size(), 0);
    for (const auto &tensor : s_.tensors) {
      // What a staged input's next step begins with is what the host staged.
      int32_t source = tensor->staging >= 0          ? tensor->staging
                       : tensor->role == Role::Input ? -1
                                                     : tensor->exit;
      if (tensor->entry >= 0) {
        bool kept = step > 0 && source >= 0;
        now[tensor->entry] = kept ? values_[step - 1][source] : fresh++;
      }
      if (tensor->staging >= 0) {
        now[tensor->staging] = fresh++;
      }
    }
    for (const auto &c : s_.commands) {
      for (const Operand &operand : c->writes) {
        now[operand.buffer()] =
            c->kind == CommandKind::Copy ? now[c->reads[0].buffer()] : fresh++;
        int64_t tensor = s_.buffers[operand.buffer()]->tensor;
        if (c->kind == CommandKind::Launch && tensor >= 0) {
          made[tensor] = now[operand.buffer()];
        }
      }
    }
    for (size_t tensor = 0; tensor < made.size(); ++tensor) {
      int32_t exit = s_.tensors[tensor]->exit;
      if (made[tensor] != 0 && exit >= 0 && now[exit] != made[tensor]) {
        broken_ = "what the kernels make of tensor '" +
                  s_.tensors[tensor]->name + "' is not what the step leaves";
      }
    }
  }
  garbage_ = fresh;
}

} // namespace vdnn::rt::test
