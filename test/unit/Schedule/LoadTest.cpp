//===- LoadTest.cpp - reading and writing schedules -----------------------===//

#include "Example.h"

#include "runtime/schedule/Schedule.h"

#include "gtest/gtest.h"

#include <cstring>
#include <filesystem>
#include <fstream>

using namespace vdnn;
using namespace vdnn::schedule;
using vdnn::schedule::test::kExample;

namespace {

ScheduleT example() {
  rt::Result<ScheduleT> schedule = parseJson(kExample);
  EXPECT_TRUE(schedule.ok()) << schedule.message();
  return std::move(*schedule);
}

std::string temporary(const std::string &name) {
  return (std::filesystem::path(testing::TempDir()) /
          (std::to_string(getpid()) + "." + name))
      .string();
}

void expectError(const rt::Result<ScheduleT> &result, const std::string &part) {
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.message().find(part), std::string::npos) << result.message();
}

TEST(Load, JsonHasEveryField) {
  ScheduleT s = example();
  EXPECT_EQ(s.target->fingerprint, "f");
  EXPECT_EQ(s.link->duplex_factor, 1.0);
  EXPECT_EQ(s.tensors[0]->decision, Decision::Offload);
  EXPECT_EQ(s.tensors[0]->initial->b, 0.5);
  EXPECT_EQ(s.buffers[1]->arena, Arena::Host);
  EXPECT_EQ(s.commands[3]->writes[0].buffer(), 1u);
  EXPECT_EQ(s.commands[0]->workspace, -1);
}

TEST(Load, BinaryKeepsEverything) {
  ScheduleT s = example();
  std::vector<uint8_t> bytes = serialize(s);
  rt::Result<ScheduleT> again = parse(bytes.data(), bytes.size());
  ASSERT_TRUE(again.ok()) << again.message();
  EXPECT_EQ(serialize(*again), bytes);
}

TEST(Load, BinaryMayLieAtAnyAddress) {
  std::vector<uint8_t> bytes = serialize(example());
  bytes.insert(bytes.begin(), 0);
  EXPECT_TRUE(parse(bytes.data() + 1, bytes.size() - 1).ok());
}

TEST(Load, FileRoundTrip) {
  std::string path = temporary("plan.vdnn");
  std::vector<uint8_t> bytes = serialize(example());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  rt::Result<ScheduleT> again = load(path);
  ASSERT_TRUE(again.ok()) << again.message();
  EXPECT_EQ(serialize(*again), bytes);
  std::filesystem::remove(path);
}

TEST(Load, MissingFile) {
  expectError(load("/nonexistent.vdnn"), "'/nonexistent.vdnn'");
}

TEST(Load, NotAFile) {
  expectError(load(testing::TempDir()), "not a file");
  expectError(load("/dev/zero"), "not a file");
}

TEST(Load, EmptyAndForeignData) {
  expectError(parse(nullptr, 0), "0 bytes");
  const char text[] = "hello, this is no schedule at all";
  expectError(parse(reinterpret_cast<const uint8_t *>(text), sizeof(text)),
              "identifier 'VDNN'");
}

TEST(Load, OtherVersion) {
  ScheduleT s = example();
  s.version = 2;
  std::vector<uint8_t> bytes = serialize(s);
  expectError(parse(bytes.data(), bytes.size()), "version 2, expected 1");
}

TEST(Load, OffsetBeyondTheFile) {
  std::vector<uint8_t> bytes = serialize(example());
  uint32_t root = 0x7ffffff0;
  std::memcpy(bytes.data(), &root, 4);
  expectError(parse(bytes.data(), bytes.size()), "damaged");
}

/// The offset of a `[long]` moved by four bytes: what then stands for its
/// length is aligned, as the encoding asks, its elements are not.
TEST(Load, MisalignedElements) {
  ScheduleT s = example();
  ASSERT_FALSE(s.types.empty());
  s.types[0]->shape = {1, 1}; // the first number becomes the length
  std::vector<uint8_t> bytes = serialize(s);
  const Type *type = GetSchedule(bytes.data())->types()->Get(0);
  size_t field =
      reinterpret_cast<const flatbuffers::Table *>(type)->GetAddressOf(
          Type::VT_SHAPE) -
      bytes.data();
  auto offset = flatbuffers::ReadScalar<flatbuffers::uoffset_t>(&bytes[field]);
  flatbuffers::WriteScalar(&bytes[field], offset + 4);
  expectError(parse(bytes.data(), bytes.size()), "multiple of their size");
}

/// Ten thousand commands that are all the same table, which has ten thousand
/// operands: unpacked, a hundred million.
TEST(Load, SharedTablesDoNotMultiply) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<Operand> operands(10000);
  auto reads = builder.CreateVectorOfStructs(operands);
  CommandBuilder commandBuilder(builder);
  commandBuilder.add_reads(reads);
  std::vector<flatbuffers::Offset<Command>> commands(10000,
                                                     commandBuilder.Finish());
  auto commandVector = builder.CreateVector(commands);
  auto device = CreateDeviceDirect(builder, "cpu");
  ScheduleBuilder scheduleBuilder(builder);
  scheduleBuilder.add_version(kVersion);
  scheduleBuilder.add_target(device);
  scheduleBuilder.add_commands(commandVector);
  FinishScheduleBuffer(builder, scheduleBuilder.Finish());
  expectError(parse(builder.GetBufferPointer(), builder.GetSize()),
              "share content");
}

TEST(Load, JsonErrors) {
  expectError(parseJson("{"), "JSON");
  expectError(parseJson("{}"), "target");
  expectError(
      parseJson(R"({"version": 1, "target": {"kind": "cpu"}, "unknown": 1})"),
      "unknown");
  expectError(parseJson(std::string("{}\0", 3)), "zero byte");
  expectError(parseJson(std::string(100000, '[')), "JSON");
  expectError(parseJson("include \"/etc/passwd\"; {}"), "JSON");
}

} // namespace
