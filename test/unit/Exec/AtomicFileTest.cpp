//===- AtomicFileTest.cpp - a process that dies leaves the old file -------===//

#include "runtime/support/AtomicFile.h"
#include "runtime/support/MappedFile.h"

#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace vdnn::rt;
namespace fs = std::filesystem;

namespace {

class AtomicFileTest : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "atomic" + std::to_string(::getpid());
    fs::create_directory(folder);
    path = folder + "/file";
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string content() const {
    Result<MappedFile> file = MappedFile::open(path);
    return file.ok() ? std::string(
                           reinterpret_cast<const char *>(file->bytes().data()),
                           file->bytes().size())
                     : file.message();
  }

  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder),
                                             fs::directory_iterator()));
  }

  std::string folder;
  std::string path;
};

TEST_F(AtomicFileTest, ReplacesTheFileAtCommit) {
  ASSERT_TRUE(writeFile(path, "old").ok());
  {
    Result<AtomicFile> file = AtomicFile::create(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write("new").ok());
    EXPECT_EQ(content(), "old");
    ASSERT_TRUE(file->commit().ok());
  }
  EXPECT_EQ(content(), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, ReplacesWhatALinkLeadsTo) {
  fs::create_directory(folder + "/elsewhere");
  std::string real = folder + "/elsewhere/real";
  ASSERT_TRUE(writeFile(real, "old").ok());
  fs::create_symlink("elsewhere/real", path);
  ASSERT_TRUE(writeFile(path, "new").ok());
  EXPECT_TRUE(fs::is_symlink(path));
  EXPECT_EQ(content(), "new");
  // A link to nothing is no place to write to.
  fs::remove(real);
  ASSERT_TRUE(writeFile(path, "new").ok());
  EXPECT_FALSE(fs::is_symlink(path));
}

TEST_F(AtomicFileTest, LeavesNothingWithoutCommit) {
  ASSERT_TRUE(writeFile(path, "old").ok());
  {
    Result<AtomicFile> file = AtomicFile::create(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write("half").ok());
  }
  EXPECT_EQ(content(), "old");
  EXPECT_EQ(files(), 1u);
}

// The process is killed after each number of written pieces, and right before
// the rename: the old content is whole.
TEST_F(AtomicFileTest, KilledBetweenLeavesTheOldFile) {
  ASSERT_TRUE(writeFile(path, "old").ok());
  for (int pieces = 0; pieces < 4; ++pieces) {
    pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Result<AtomicFile> file = AtomicFile::create(path);
      for (int i = 0; i < pieces; ++i) {
        static_cast<void>(file->write("piece").ok());
      }
      ::raise(SIGKILL);
    }
    int state = 0;
    ASSERT_EQ(::waitpid(child, &state, 0), child);
    ASSERT_TRUE(WIFSIGNALED(state));
    EXPECT_EQ(content(), "old");
  }
}

TEST_F(AtomicFileTest, SaysWhereItCannotWrite) {
  Status status = writeFile(folder + "/absent/file", "text");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("absent"), std::string::npos);
}

TEST_F(AtomicFileTest, MappedFileRefusesFolders) {
  EXPECT_FALSE(MappedFile::open(folder).ok());
  EXPECT_FALSE(MappedFile::open(path).ok());
  ASSERT_TRUE(writeFile(path, "").ok());
  Result<MappedFile> empty = MappedFile::open(path);
  ASSERT_TRUE(empty.ok());
  EXPECT_TRUE(empty->bytes().empty());
}

} // namespace
