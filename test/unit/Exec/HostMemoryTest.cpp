//===- HostMemoryTest.cpp - what a process may still take -----------------===//

#include "runtime/support/HostMemory.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace vdnn::rt;

namespace {

/// A /proc and a /sys of our own.
class HostMemoryTest : public testing::Test {
protected:
  void SetUp() override {
    root = testing::TempDir() + "host-memory";
    std::filesystem::remove_all(root);
    write("/proc/meminfo", "MemTotal: 900 kB\nMemAvailable:   700 kB\n");
  }

  void write(const std::string &path, const std::string &text) {
    std::filesystem::create_directories(
        std::filesystem::path(root + path).parent_path());
    std::ofstream(root + path) << text;
  }

  std::string root;
};

TEST_F(HostMemoryTest, WithoutGroupsItIsTheMachines) {
  EXPECT_EQ(availableHostBytes(root), 700u * 1024);
  EXPECT_EQ(availableHostBytes(root + "/nowhere"), std::nullopt);
  EXPECT_GT(availableHostBytes().value_or(0), 0u);
}

TEST_F(HostMemoryTest, EveryGroupAboveLimits) {
  write("/proc/self/cgroup", "0::/a/b\n");
  write("/sys/fs/cgroup/a/b/memory.max", "max\n");
  write("/sys/fs/cgroup/a/b/memory.current", "5\n");
  write("/sys/fs/cgroup/a/memory.max", "5000\n");
  write("/sys/fs/cgroup/a/memory.current", "4000\n");
  EXPECT_EQ(availableHostBytes(root), 1000u);
  write("/sys/fs/cgroup/a/memory.stat",
        "anon 1\ninactive_file 100\nactive_file 200\n");
  EXPECT_EQ(availableHostBytes(root), 1300u);
  write("/sys/fs/cgroup/memory.max", "50\n");
  write("/sys/fs/cgroup/memory.current", "60\n");
  EXPECT_EQ(availableHostBytes(root), 0u);
}

TEST_F(HostMemoryTest, TheFirstVersionOfGroups) {
  write("/proc/self/cgroup", "5:cpu:/x\n4:memory:/c\n0::/\n");
  write("/sys/fs/cgroup/memory/c/memory.limit_in_bytes", "3000\n");
  write("/sys/fs/cgroup/memory/c/memory.usage_in_bytes", "1000\n");
  EXPECT_EQ(availableHostBytes(root), 2000u);
}

} // namespace
