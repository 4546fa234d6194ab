//===- SafetensorsTest.cpp ------------------------------------------------===//

#include "TestFiles.h"

#include "runtime/exec/files/Safetensors.h"
#include "runtime/support/MappedFile.h"

#include <gtest/gtest.h>

using namespace vdnn;
using namespace vdnn::rt;
using namespace vdnn::test;

namespace {

Result<Safetensors> parse(const std::string &header,
                          const std::string &elements) {
  static std::string file; // the tensors are views of it
  file = safetensorsFile(header, elements);
  return Safetensors::parse(bytesOf(file), "a.safetensors", nullptr);
}

TEST(Safetensors, ReadsTensorsAndMetadata) {
  Result<Safetensors> file = parse(R"({"__metadata__":{"step":"3"},
    "w":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}, "n":{"dtype":"I64","shape":[],"data_offsets":[0,8]}}  )",
                                   raw(int64_t{5}) + raw(1.0f) + raw(2.0f));
  ASSERT_TRUE(file.ok()) << file.message();
  EXPECT_EQ(file->metadata().at("step"), "3");
  ASSERT_TRUE(file->find("w"));
  EXPECT_EQ(toDoubles(*file->find("w"), 0, 2), (std::vector<double>{1, 2}));
  EXPECT_EQ(toDoubles(*file->find("n"), 0, 1), (std::vector<double>{5}));
  EXPECT_FALSE(file->find("x"));
}

TEST(Safetensors, RemembersTypesThatItDoesNotHave) {
  Result<Safetensors> file = parse(
      R"({"q":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}})", "ab");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->unsupported().at("q"), "F8_E4M3");
  EXPECT_FALSE(file->find("q"));
}

TEST(Safetensors, WritesWhatItReads) {
  std::vector<HostTensor> tensors;
  for (auto [name, element, count] :
       {std::tuple{"b", schedule::ElementType::U8, 3},
        std::tuple{"a", schedule::ElementType::F32, 2},
        std::tuple{"c", schedule::ElementType::F64, 1}}) {
    std::vector<std::byte> bytes(static_cast<size_t>(count) *
                                     schedule::elementBytes(element),
                                 std::byte{7});
    tensors.push_back(makeHostTensor(name, element, {count}, bytes));
  }
  std::string path = testing::TempDir() + "written.safetensors";
  ASSERT_TRUE(
      writeSafetensors(path, tensors, {{"key", "value \"quoted\""}}).ok());
  Result<Safetensors> file = Safetensors::read(path);
  ASSERT_TRUE(file.ok()) << file.message();
  EXPECT_EQ(file->metadata().at("key"), "value \"quoted\"");
  for (const HostTensor &tensor : tensors) {
    const HostTensor *found = file->find(tensor.name);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->shape, tensor.shape);
    EXPECT_TRUE(std::equal(found->data.begin(), found->data.end(),
                           tensor.data.begin(), tensor.data.end()));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(found->data.data()) %
                  schedule::elementBytes(found->element),
              0u)
        << "aligned for its type";
  }
  auto content = [&] {
    Result<MappedFile> mapped = MappedFile::open(path);
    return std::string(reinterpret_cast<const char *>(mapped->bytes().data()),
                       mapped->bytes().size());
  };
  std::string first = content();
  std::swap(tensors[0], tensors[2]);
  ASSERT_TRUE(
      writeSafetensors(path, tensors, {{"key", "value \"quoted\""}}).ok());
  EXPECT_EQ(content(), first) << "the same tensors give the same bytes";
}

TEST(Safetensors, RefusesTwoTensorsOfOneName) {
  HostTensor tensor = makeHostTensor("a", schedule::ElementType::U8, {1},
                                     std::vector<std::byte>(1));
  EXPECT_FALSE(writeSafetensors(testing::TempDir() + "two.safetensors",
                                std::vector<HostTensor>{tensor, tensor}, {})
                   .ok());
}

TEST(Safetensors, RefusesWithTheReason) {
  struct Case {
    const char *header;
    const char *reason;
  };
  const Case cases[] = {
      {"", "JSON"},
      {"[]", "JSON"},
      {"{", "JSON"},
      {R"({"__metadata__":{"a":1}})", "metadata 'a'"},
      {R"({"__metadata__":"a"})", "metadata"},
      {R"({"w":1})", "malformed"},
      {R"({"w":{"dtype":"F32","shape":[2]}})", "malformed"},
      {R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8,9]}})",
       "malformed"},
      {R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})",
       "malformed"},
      {R"({"w":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})",
       "malformed"},
      {R"({"w":{"dtype":"F32","shape":[2.5],"data_offsets":[0,8]}})",
       "malformed"},
      {R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,800]}})",
       "outside"},
      {R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "8 bytes"},
      {R"({"w":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})",
       "0 bytes"},
      {R"({"w":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,8]}})",
       "malformed"},
      {R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"v":{"dtype":"U8","shape":[1],"data_offsets":[7,8]}})",
       "share"},
  };
  for (const Case &c : cases) {
    Result<Safetensors> file = parse(c.header, std::string(8, '\0'));
    ASSERT_FALSE(file.ok()) << c.header;
    EXPECT_NE(file.message().find(c.reason), std::string::npos)
        << file.message();
  }
  for (const std::string &text :
       {std::string("short"), raw(uint64_t{1} << 40) + "{}", raw(UINT64_MAX)}) {
    EXPECT_FALSE(Safetensors::parse(bytesOf(text), "a", nullptr).ok());
  }
}

} // namespace
