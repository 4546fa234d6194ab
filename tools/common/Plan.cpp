//===- Plan.cpp -----------------------------------------------------------===//

#include "tools/common/Plan.h"

#include "runtime/support/MappedFile.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace vdnn::tool {

namespace fs = std::filesystem;

namespace {

/// A folder that disappears with its contents.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::error_code code;
    std::string pattern =
        (fs::temp_directory_path(code) / "vdnn.XXXXXX").string();
    if (!code && ::mkdtemp(pattern.data())) {
      path_ = pattern;
    }
  }
  ~TemporaryFolder() {
    std::error_code code;
    if (!path_.empty()) {
      fs::remove_all(path_, code);
    }
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  const fs::path &path() const { return path_; }

private:
  fs::path path_;
};

std::string readAll(int descriptor) {
  std::string text;
  std::array<char, 4096> chunk;
  ssize_t count;
  while ((count = ::read(descriptor, chunk.data(), chunk.size())) > 0 ||
         (count < 0 && errno == EINTR)) {
    text.append(chunk.data(), count > 0 ? static_cast<size_t>(count) : 0);
  }
  return text;
}

/// Runs a program with its standard error captured; an error carries what it
/// printed.
rt::Status runProgram(const std::vector<std::string> &arguments) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return rt::Error{std::string("cannot make a pipe: ") +
                     std::strerror(errno)};
  }
  std::vector<char *> argv;
  for (const std::string &argument : arguments) {
    argv.push_back(const_cast<char *>(argument.c_str()));
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t child = 0;
  int code =
      ::posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (code != 0) {
    ::close(ends[0]);
    return rt::Error{"cannot run '" + arguments[0] +
                     "': " + std::strerror(code)};
  }
  std::string output = readAll(ends[0]);
  ::close(ends[0]);
  int state = 0;
  while (::waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(state) || WEXITSTATUS(state) != 0) {
    return rt::Error{"'" + arguments[0] + "' failed\n" + output};
  }
  std::fputs(output.c_str(), stderr); // warnings
  return {};
}

} // namespace

rt::Result<schedule::ScheduleT>
compilePlan(const std::string &path, const std::vector<std::string> &options) {
  std::error_code code;
  fs::path program =
      fs::read_symlink("/proc/self/exe", code).parent_path() / "vdnn-opt";
  if (code || !fs::exists(program, code)) {
    return rt::Error{
        "'" + path + "' needs the compiler, but there is no '" +
        program.string() +
        "': build vdnn-opt, or give the .vdnn file that 'vdnn-opt " + path +
        " -o plan.vdnn' writes"};
  }
  TemporaryFolder folder;
  if (folder.path().empty()) {
    return rt::Error{"cannot make a temporary folder"};
  }
  std::string binary = (folder.path() / "plan.vdnn").string();
  std::vector<std::string> arguments = {program.string(), path, "-o", binary};
  arguments.insert(arguments.end(), options.begin(), options.end());
  if (rt::Status status = runProgram(arguments); !status) {
    return status.error();
  }
  return schedule::load(binary);
}

rt::Result<schedule::ScheduleT> loadPlan(const std::string &path) {
  std::error_code code;
  if (!fs::exists(path, code)) {
    return rt::Error{"there is no file '" + path + "'"};
  }
  if (path.ends_with(".mlir")) {
    return compilePlan(path, {});
  }
  if (path.ends_with(".json")) {
    rt::Result<rt::MappedFile> file = rt::MappedFile::open(path);
    if (!file) {
      return file.error();
    }
    rt::Result<schedule::ScheduleT> parsed = schedule::parseJson(file->text());
    return parsed ? std::move(parsed)
                  : rt::Error{"'" + path + "': " + parsed.message()};
  }
  if (path.ends_with(".onnx")) {
    return rt::Error{"'" + path +
                     "' is a model, expected a plan: make one with 'vdnn-opt " +
                     path + " -o plan.mlir'"};
  }
  return schedule::load(path);
}

} // namespace vdnn::tool
