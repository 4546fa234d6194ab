//===- TextLimitsTest.cpp - what MLIR's parser would not survive ----------===//

#include "vdnn/Dialect/TextLimits.h"

#include <gtest/gtest.h>

using namespace vdnn;

namespace {

std::string repeat(const std::string &text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) {
    result += text;
  }
  return result;
}

void expectRefused(const std::string &text, const std::string &part) {
  std::optional<std::string> reason = whyNotParse(text);
  ASSERT_TRUE(reason) << text.substr(0, 80);
  EXPECT_NE(reason->find(part), std::string::npos) << *reason;
}

TEST(TextLimits, BracketsOfEveryKind) {
  for (std::string open : {"module {", "[", "tuple<", "("}) {
    EXPECT_FALSE(whyNotParse(repeat(open, 200)));
    expectRefused(repeat(open, 300), "line 1 nests more than 256 deep");
    expectRefused("\n" + repeat(open, 300), "line 2");
  }
}

/// Arrows and comparisons close nothing.
TEST(TextLimits, ArrowsAndComparisons) {
  expectRefused(repeat("(-> ", 300), "nests");
  expectRefused(repeat("(>= ", 300), "nests");
}

TEST(TextLimits, ClosedBracketsAndTextDoNotCount) {
  EXPECT_FALSE(whyNotParse(repeat("f(g[h<i{}>])\n", 1000)));
  EXPECT_FALSE(whyNotParse(repeat("a <= b", 1000)));
  EXPECT_FALSE(whyNotParse("\"" + repeat("\\\"(", 1000) + "\""));
  EXPECT_FALSE(whyNotParse("// " + repeat("(", 1000)));
}

TEST(TextLimits, SumsInOneExpression) {
  expectRefused("affine_map<(d0)->(" + repeat("d0 + ", 300), "nests");
  expectRefused("affine_map<(d0)->(" + repeat("-", 300), "nests");
  EXPECT_FALSE(whyNotParse("dense<[" + repeat("-1, ", 1000) + "1]>"));
  EXPECT_FALSE(whyNotParse(repeat("f {a = -1 : i64}\n", 1000)));
}

TEST(TextLimits, AliasesOfAliases) {
  std::string chain = "#a0 = [1]\n";
  for (int i = 1; i < 300; ++i) {
    chain +=
        "#a" + std::to_string(i) + " = [#a" + std::to_string(i - 1) + "]\n";
  }
  expectRefused(chain, "nests");
  std::string doubling = "#a0 = [1]\n";
  for (int i = 1; i < 40; ++i) {
    std::string before = "#a" + std::to_string(i - 1);
    doubling +=
        "#a" + std::to_string(i) + " = [" + before + ", " + before + "]\n";
  }
  expectRefused(doubling, "aliases stand for");
  EXPECT_FALSE(whyNotParse("#l = loc(\"x\")\nmodule {" +
                           repeat("f loc(#l)\n", 1000) +
                           "}\n#m = loc(\"y\"(#l))\n"));
}

TEST(TextLimits, Bytecode) { expectRefused("ML\xEFR\x06", "bytecode"); }

TEST(TextLimits, AnyTextIsMeasured) {
  EXPECT_FALSE(whyNotParse(""));
  EXPECT_FALSE(whyNotParse("\""));
  EXPECT_FALSE(whyNotParse("\"\\"));
  EXPECT_FALSE(whyNotParse("/"));
  EXPECT_FALSE(whyNotParse("#"));
  EXPECT_FALSE(whyNotParse("))))>>>"));
}

} // namespace
