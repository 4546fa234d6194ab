//===- LabelsTest.cpp - every invariant is documented, checked and tested
//-----------------------------------------===//

#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

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

/// Tests run in the root of the source tree.
TEST(Labels, EveryInvariantIsDocumentedCheckedAndTested) {
  std::string docs = textOf("docs/invariants.md");
  std::string checker = textOf("runtime/check");
  std::string tests = textOf("test/unit/Check/InvariantsTest.cpp");
  for (int i = 1; i <= 12; ++i) {
    std::string label = "P" + std::to_string(i);
    EXPECT_NE(docs.find("| " + label + " |"), std::string::npos) << label;
    EXPECT_NE(checker.find("\"" + label + "\""), std::string::npos) << label;
    std::regex accepts("TEST\\(Invariants, " + label + "Accepts"),
        rejects(label + "(Accepts)?(And)?[A-Za-z]*Rejects");
    EXPECT_TRUE(std::regex_search(tests, accepts)) << label;
    EXPECT_TRUE(std::regex_search(tests, rejects)) << label;
  }
}

} // namespace
