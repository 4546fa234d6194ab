//===- LabelsTest.cpp - every invariant is documented, checked and tested -===//

#include "gtest/gtest.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::string textOf(const std::filesystem::path &path) {
  std::stringstream text;
  if (std::filesystem::is_directory(path)) {
    for (const auto &entry : std::filesystem::directory_iterator(path)) {
      text << textOf(entry.path());
    }
  } else {
    text << std::ifstream(path).rdbuf();
  }
  return text.str();
}

/// What follows `label` in the names of the tests of the suite `Invariants`.
std::vector<std::string> testsOf(const std::string &text,
                                 const std::string &label) {
  std::vector<std::string> names;
  std::string start = "TEST(Invariants, " + label;
  for (size_t at = text.find(start); at != std::string::npos;
       at = text.find(start, at + 1)) {
    size_t begin = at + start.size();
    std::string name = text.substr(begin, text.find(')', begin) - begin);
    if (!name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]))) {
      names.push_back(name);
    }
  }
  return names;
}

/// Tests run in the root of the source tree.
TEST(Labels, EveryInvariantIsDocumentedCheckedAndTested) {
  std::string docs = textOf("docs/invariants.md");
  std::string checker = textOf("runtime/check");
  std::string tests = textOf("test/unit/Check");
  for (int i = 1; i <= 12; ++i) {
    std::string label = "P" + std::to_string(i);
    EXPECT_NE(docs.find("| " + label + " |"), std::string::npos) << label;
    EXPECT_NE(checker.find("\"" + label + "\""), std::string::npos) << label;
    std::vector<std::string> names = testsOf(tests, label);
    EXPECT_TRUE(std::any_of(
        names.begin(), names.end(),
        [](const std::string &name) { return name.starts_with("Accepts"); }))
        << label;
    EXPECT_TRUE(std::any_of(names.begin(), names.end(),
                            [](const std::string &name) {
                              return name.find("Rejects") != std::string::npos;
                            }))
        << label;
  }
}

} // namespace
