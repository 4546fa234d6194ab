//===- CompileTest.cpp - NVRTC and the cache of machine code --------------===//

#include "runtime/backend/cuda/Compile.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <optional>
#include <unistd.h>

namespace fs = std::filesystem;

namespace vdnn::rt::cuda {

namespace {

const char *const kSource =
    "extern \"C\" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }\n";

/// An empty cache.
class CompileTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/vdnn-cache.XXXXXX";
    ASSERT_TRUE(::mkdtemp(pattern.data()));
    // The folder itself is for the cache to make.
    root_ = pattern;
    folder_ = root_ / "cache";
    if (const char *old = std::getenv("VDNN_CACHE_DIR")) {
      old_ = old;
    }
    ::setenv("VDNN_CACHE_DIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    if (old_) {
      ::setenv("VDNN_CACHE_DIR", old_->c_str(), 1);
    } else {
      ::unsetenv("VDNN_CACHE_DIR");
    }
    fs::remove_all(root_);
  }

  std::vector<fs::path> entries() const {
    std::vector<fs::path> paths;
    for (const auto &entry : fs::directory_iterator(folder_)) {
      paths.push_back(entry.path());
    }
    return paths;
  }

  /// How many compilations it takes to get the code, which must be `expected`.
  uint64_t compileAgain(const std::string &expected) const {
    uint64_t before = compilations();
    Result<std::string> again = compile(kSource, 90);
    EXPECT_TRUE(again.ok()) << again.message();
    EXPECT_TRUE(again.ok() && *again == expected);
    return compilations() - before;
  }

  fs::path root_, folder_;
  std::optional<std::string> old_;
};

} // namespace

static std::string readAll(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

static void writeAll(const fs::path &path, const std::string &text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

TEST_F(CompileTest, GivesMachineCodeAndKeepsIt) {
  Result<std::string> cubin = compile(kSource, 90);
  ASSERT_TRUE(cubin.ok()) << cubin.message();
  EXPECT_TRUE(cubin->starts_with("\x7f"
                                 "ELF"));
  EXPECT_EQ(entries().size(), 1u);
  EXPECT_EQ(compileAgain(*cubin), 0u);
}

TEST_F(CompileTest, OtherSourcesAndDevicesAreOtherEntries) {
  ASSERT_TRUE(compile(kSource, 90).ok());
  ASSERT_TRUE(compile(kSource, 80).ok());
  ASSERT_TRUE(compile(std::string(kSource) + "// Another.\n", 90).ok());
  EXPECT_EQ(entries().size(), 3u);
}

TEST_F(CompileTest, ReplacesDamagedEntries) {
  Result<std::string> cubin = compile(kSource, 90);
  ASSERT_TRUE(cubin.ok());
  fs::path path = entries().at(0);
  const std::string whole = readAll(path);
  std::string flipped = whole;
  flipped[whole.size() - 100] ^= 1;
  std::string otherKey = whole;
  otherKey[whole.find("twice")] = 'T';
  for (const std::string &damaged :
       {std::string(), whole.substr(0, 10), whole.substr(0, 40),
        whole.substr(0, whole.size() / 2), whole.substr(0, whole.size() - 1),
        whole + "x", flipped, otherKey, std::string(whole.size(), '\xff')}) {
    writeAll(path, damaged);
    EXPECT_EQ(compileAgain(*cubin), 1u);
    EXPECT_EQ(readAll(path), whole);
    EXPECT_EQ(compileAgain(*cubin), 0u);
  }
}

TEST_F(CompileTest, DoesWithoutAFolder) {
  // A file stands where the folder would be.
  writeAll(folder_, "");
  Result<std::string> cubin = compile(kSource, 90);
  ASSERT_TRUE(cubin.ok()) << cubin.message();
  EXPECT_EQ(compileAgain(*cubin), 1u);
}

TEST_F(CompileTest, SaysWhatIsWrong) {
  Result<std::string> cubin = compile("__global__ void f() { nothing(); }", 90);
  ASSERT_FALSE(cubin.ok());
  EXPECT_NE(cubin.message().find("\"nothing\" is undefined"), std::string::npos)
      << cubin.message();
  EXPECT_FALSE(fs::exists(folder_) && !entries().empty());
}

TEST(CacheFolderTest, FollowsTheEnvironment) {
  auto keep = [](const char *name) {
    const char *value = std::getenv(name);
    return std::pair(std::string(name), std::string(value ? value : ""));
  };
  std::vector<std::pair<std::string, std::string>> old = {
      keep("VDNN_CACHE_DIR"), keep("XDG_CACHE_HOME"), keep("HOME")};
  ::setenv("VDNN_CACHE_DIR", "/a", 1);
  ::setenv("XDG_CACHE_HOME", "/b", 1);
  ::setenv("HOME", "/c", 1);
  EXPECT_EQ(cacheFolder(), "/a");
  ::unsetenv("VDNN_CACHE_DIR");
  EXPECT_EQ(cacheFolder(), "/b/vdnn");
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(cacheFolder(), "/c/.cache/vdnn");
  ::unsetenv("HOME");
  EXPECT_EQ(cacheFolder(), "");
  for (const auto &[name, value] : old) {
    if (!value.empty()) {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
}

} // namespace vdnn::rt::cuda
