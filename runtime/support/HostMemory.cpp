//===- HostMemory.cpp -----------------------------------------------------===//

#include "runtime/support/HostMemory.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace vdnn::rt {

/// The number behind a word at the beginning of a line; without a word: the
/// file's first. Nothing where it is no number ("max").
static std::optional<uint64_t> readNumber(const std::string &path,
                                          const std::string &word = "") {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string first;
    if (!word.empty() && !(words >> first && first == word)) {
      continue;
    }
    uint64_t number = 0;
    return words >> number ? std::optional<uint64_t>(number) : std::nullopt;
  }
  return std::nullopt;
}

namespace {

/// Where a version of control groups says what.
struct Groups {
  const char *entry; ///< of /proc/self/cgroup, behind the first colon
  const char *folder, *limit, *usage;
  const char *caches[2]; ///< files in memory, which make room
};

constexpr Groups kVersions[] = {{":",
                                 "/sys/fs/cgroup",
                                 "memory.max",
                                 "memory.current",
                                 {"inactive_file", "active_file"}},
                                {"memory:",
                                 "/sys/fs/cgroup/memory",
                                 "memory.limit_in_bytes",
                                 "memory.usage_in_bytes",
                                 {"total_inactive_file", "total_active_file"}}};

} // namespace

/// The path of this process's group, "" where there is none.
static std::string groupOf(const std::string &root, const Groups &groups) {
  std::ifstream file(root + "/proc/self/cgroup");
  std::string line, entry = groups.entry;
  while (std::getline(file, line)) {
    size_t colon = line.find(':');
    if (colon != std::string::npos &&
        line.compare(colon + 1, entry.size(), entry) == 0) {
      return line.substr(colon + 1 + entry.size());
    }
  }
  return "";
}

std::optional<uint64_t> availableHostBytes(const std::string &root) {
  std::optional<uint64_t> kibibytes =
      readNumber(root + "/proc/meminfo", "MemAvailable:");
  if (!kibibytes) {
    return std::nullopt;
  }
  uint64_t available = *kibibytes * 1024;
  for (const Groups &groups : kVersions) {
    // Every group above limits too.
    for (std::string path = groupOf(root, groups);;
         path.erase(path.find_last_of('/'))) {
      std::string folder = root + groups.folder + path + "/";
      std::optional<uint64_t> limit = readNumber(folder + groups.limit);
      std::optional<uint64_t> usage = readNumber(folder + groups.usage);
      if (limit && usage) {
        uint64_t cache = 0;
        for (const char *word : groups.caches) {
          cache += readNumber(folder + "memory.stat", word).value_or(0);
        }
        uint64_t used = *usage - std::min(*usage, cache);
        available = std::min(available, *limit - std::min(*limit, used));
      }
      if (path.find('/') == std::string::npos) {
        break;
      }
    }
  }
  return available;
}

} // namespace vdnn::rt
