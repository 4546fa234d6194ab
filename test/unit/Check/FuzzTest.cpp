//===- FuzzTest.cpp - damaged plans end in an error, never in a crash -----===//
//
// Seeded and short; meant for the build with AddressSanitizer and
// UndefinedBehaviorSanitizer.
//
//===----------------------------------------------------------------------===//

#include "Expect.h"

#include <chrono>
#include <cstring>
#include <numeric>
#include <random>

using namespace vdnn::rt;
using namespace vdnn::rt::test;
using namespace vdnn::schedule;

namespace {

using Bytes = std::vector<uint8_t>;

/// Whatever `parse` takes must be fit for the checker, and for writing.
void parseAndCheck(const Bytes &bytes) {
  Result<ScheduleT> schedule = parse(bytes.data(), bytes.size());
  if (!schedule) {
    EXPECT_FALSE(schedule.message().empty());
    return;
  }
  check(*schedule);
  checkDevice(*schedule, "cpu", "");
  serialize(*schedule);
}

class Fuzz : public testing::Test {
protected:
  static constexpr double kSeconds = 2;

  bool goesOn() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         begin_)
               .count() < kSeconds;
  }
  size_t below(size_t limit) { return random_() % limit; }

  std::mt19937_64 random_{20};
  std::chrono::steady_clock::time_point begin_ =
      std::chrono::steady_clock::now();
};

TEST_F(Fuzz, EveryTruncationIsRefused) {
  Bytes bytes = serialize(trainingStep());
  for (size_t size = 0; size < bytes.size(); ++size) {
    // A copy of just that size, so that a read beyond it is seen.
    Bytes part(bytes.begin(), bytes.begin() + size);
    Result<ScheduleT> schedule = parse(part.data(), part.size());
    // The strings at the end may be cut by padding only.
    EXPECT_TRUE(!schedule || size + 8 > bytes.size()) << size;
  }
}

/// Every bit where time allows, spread over the file where sanitizers make it
/// slow.
TEST_F(Fuzz, BitFlips) {
  Bytes bytes = serialize(trainingStep());
  size_t bits = bytes.size() * 8;
  std::vector<size_t> order(bits);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random_);
  for (size_t i = 0; i < bits && goesOn(); ++i) {
    bytes[order[i] / 8] ^= 1 << order[i] % 8;
    parseAndCheck(bytes);
    bytes[order[i] / 8] ^= 1 << order[i] % 8;
  }
}

TEST_F(Fuzz, ManyBytesAndWords) {
  const Bytes original = serialize(deepPlan(5));
  while (goesOn()) {
    Bytes bytes = original;
    for (size_t i = 0, count = 1 + below(8); i < count; ++i) {
      if (below(2) == 0) {
        bytes[below(bytes.size())] = random_();
        continue;
      }
      // Offsets and lengths are words: small, huge, or another word of the
      // file.
      uint32_t words[] = {0,
                          1,
                          0xffffffff,
                          0x7fffffff,
                          0x80000000,
                          uint32_t(bytes.size()),
                          uint32_t(random_())};
      uint32_t word = words[below(std::size(words))];
      std::memcpy(&bytes[below(bytes.size() / 4) * 4], &word, 4);
    }
    parseAndCheck(bytes);
  }
}

/// Valid encodings of schedules that make no sense: these reach the checker.
TEST_F(Fuzz, HostileFields) {
  const ScheduleT original = trainingStep();
  size_t accepted = 0;
  while (goesOn()) {
    ScheduleT plan = original;
    auto number = [&] {
      uint64_t numbers[] = {0,
                            1,
                            16,
                            64,
                            192,
                            ~uint64_t(0),
                            ~uint64_t(0) - 63,
                            uint64_t(1) << 63,
                            random_()};
      return numbers[below(std::size(numbers))];
    };
    auto index = [&](size_t size) {
      return static_cast<int32_t>(below(size + 2)) - 1;
    };
    for (size_t i = 0, count = 1 + below(4); i < count; ++i) {
      BufferT &buffer = *plan.buffers[below(plan.buffers.size())];
      TensorT &tensor = *plan.tensors[below(plan.tensors.size())];
      CommandT &command = *plan.commands[below(plan.commands.size())];
      switch (below(14)) {
      case 0:
        buffer.offset = number();
        break;
      case 1:
        buffer.bytes = number();
        break;
      case 2:
        buffer.alignment = number();
        break;
      case 3:
        buffer.tensor = index(plan.tensors.size());
        break;
      case 4:
        buffer.arena = static_cast<Arena>(below(3));
        break;
      case 5:
        tensor.entry = index(plan.buffers.size());
        break;
      case 6:
        tensor.exit = index(plan.buffers.size());
        break;
      case 7:
        tensor.role = static_cast<Role>(below(8));
        break;
      case 8:
        command.stream = below(4);
        break;
      case 9:
        command.kind = static_cast<CommandKind>(below(5));
        break;
      case 10:
        command.event = index(plan.event_count);
        break;
      case 11:
        command.workspace = index(plan.buffers.size());
        break;
      case 12:
        command.in_place.emplace_back(below(3), below(3));
        break;
      case 13:
        if (!command.reads.empty()) {
          setBuffer(command.reads[0], below(plan.buffers.size() + 1));
        }
        break;
      }
    }
    accepted += check(plan).empty();
    parseAndCheck(serialize(plan));
  }
  EXPECT_GT(accepted, 0u); // some changes are harmless; none means that this
                           // test has gone stale
}

TEST_F(Fuzz, Json) {
  const std::string original = R"({
  "version": 1, "target": {"kind": "cpu"}, "device_arena": 16, "event_count": 1,
  "types": [{"shape": [4]}],
  "tensors": [{"name": "a", "type": {"shape": [4]}, "bytes": 16}],
  "buffers": [{"name": "a", "tensor": 0, "bytes": 16, "alignment": 16}],
  "streams": [{"name": "compute"}], "kernels": [{"kind": "k", "program": [{"code": "constant"}], "program_results": [0]}],
  "commands": [{"kernel": 0, "writes": [{"buffer": 0, "type": 0}], "location": "x"}]
})";
  ASSERT_TRUE(parseJson(original).ok()) << parseJson(original).message();
  static constexpr char kCharacters[] =
      "{}[]:,\"0123456789-+.eE \\/uabn\x80\xff";
  while (goesOn()) {
    std::string text = original;
    for (size_t i = 0, count = 1 + below(4); i < count; ++i) {
      size_t at = below(text.size());
      switch (below(4)) {
      case 0:
        text[at] = kCharacters[below(sizeof(kCharacters) - 1)];
        break;
      case 1:
        text.erase(at, 1 + below(8));
        break;
      case 2:
        text.insert(at, text.substr(below(text.size()), 1 + below(32)));
        break;
      case 3:
        text.insert(at, std::string(1 + below(300), kCharacters[below(4)]));
        break;
      }
    }
    if (Result<ScheduleT> schedule = parseJson(text)) {
      check(*schedule);
    }
  }
}

} // namespace
