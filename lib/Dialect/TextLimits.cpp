//===- TextLimits.cpp - what may be given to MLIR's parser ----------------===//

#include "vdnn/Dialect/TextLimits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <cstdint>

using namespace llvm;

/// A plan nests about ten deep; a level takes up to some kilobytes of stack.
static constexpr unsigned kMaxDepth = 256;
/// How many times longer than the text what its aliases stand for may be.
static constexpr uint64_t kMaxGrowth = 64;

static bool isNameCharacter(char c) {
  return isAlnum(c) || c == '_' || c == '$' || c == '.';
}

namespace {

/// One pass over the characters; knows strings and comments, no grammar. What
/// is malformed may be measured wrongly: the parser stops there.
class TextLimits {
public:
  explicit TextLimits(StringRef text) : text(text) {}

  std::optional<std::string> check() {
    while (at < text.size()) {
      step();
      deepest = std::max(deepest, depth());
      if (deepest > kMaxDepth) {
        return "line " + std::to_string(1 + text.take_front(at).count('\n')) +
               " nests more than " + std::to_string(kMaxDepth) +
               " deep; write it flatter";
      }
      if (length > kMaxGrowth * (text.size() + 1024)) {
        return "its aliases stand for more than " + std::to_string(kMaxGrowth) +
               " times its own text; use each of them less often";
      }
    }
    return std::nullopt;
  }

private:
  struct Alias {
    unsigned depth = 0;
    uint64_t length = 0;
  };

  unsigned depth() const { return unsigned(sums.size()) - 1 + inSums; }

  void step() {
    char c = text[at];
    char next = at + 1 < text.size() ? text[at + 1] : '\0';
    size_t begin = at++;
    ++length;
    switch (c) {
    case '"':
      while (at < text.size() && text[at] != '"' && text[at] != '\n') {
        at += text[at] == '\\' ? 2 : 1;
      }
      ++at;
      break;
    case '/':
      if (next == '/') {
        at = std::min(text.find('\n', at), text.size());
      }
      break;
    case '(':
    case '[':
    case '{':
      sums.push_back(0);
      break;
    case '<':
      if (next != '=') {
        sums.push_back(0);
      }
      break;
    case ')':
    case ']':
    case '}':
      close();
      break;
    case '>':
      if (next != '=') {
        close();
      }
      break;
    case '-':
      if (next == '>') {
        ++at;
        break;
      }
      [[fallthrough]];
    case '+':
      ++sums.back();
      ++inSums;
      break;
    case ',':
    case '=':
    case ':':
      endSum();
      break;
    case '#':
    case '!':
      alias(begin);
      break;
    default:
      break;
    }
  }

  void endSum() {
    inSums -= sums.back();
    sums.back() = 0;
  }

  void close() {
    endSum();
    if (sums.size() > 1) {
      sums.pop_back();
    }
  }

  /// A use, which nests what the alias stands for, or a definition, which lasts
  /// until the next one.
  void alias(size_t begin) {
    while (at < text.size() && isNameCharacter(text[at])) {
      ++at;
    }
    StringRef name = text.slice(begin, at);
    if (sums.size() == 1 && text.substr(at).ltrim().starts_with("=")) {
      endDefinition();
      defined = name;
      return;
    }
    auto found = aliases.find(name);
    if (found != aliases.end()) {
      deepest = std::max(deepest, depth() + found->second.depth);
      length += found->second.length;
    }
  }

  void endDefinition() {
    if (!defined.empty()) {
      aliases[defined] = {deepest + 1, length - lengthBefore};
    }
    lengthBefore = length;
    deepest = 0;
    endSum();
  }

  StringRef text;
  size_t at = 0;
  /// One entry for each open bracket, and one outside of all: how many signs
  /// the expression there has had.
  SmallVector<unsigned> sums = {0};
  unsigned inSums = 0; ///< their sum
  StringMap<Alias> aliases;
  StringRef defined; ///< the alias whose definition this is, if any
  unsigned deepest = 0;
  uint64_t length = 0;       ///< with what aliases stand for
  uint64_t lengthBefore = 0; ///< before this definition
};

} // namespace

std::optional<std::string> vdnn::whyNotParse(StringRef text) {
  if (text.starts_with("ML\xEFR")) {
    return "it is bytecode, which is not accepted; mlir-opt makes text of it";
  }
  return TextLimits(text).check();
}
