//===- TextLine.h - the tokens of one line of a planning text -------------===//

#ifndef VDNN_LIB_PLANNING_TEXTLINE_H
#define VDNN_LIB_PLANNING_TEXTLINE_H

#include "vdnn/Planning/ProblemText.h"

#include <charconv>

namespace vdnn::planning {

/// Reads one line token by token. The first error sticks; what is read after it
/// has no meaning.
class TextLine {
public:
  TextLine(std::string_view text, size_t number, TextError &error)
      : text(text), number(number), error(error) {
    skip();
  }

  bool failed() const { return !error.message.empty(); }
  bool atEnd() const { return failed() || at == text.size(); }

  bool accept(std::string_view word) {
    if (atEnd() || peek() != word) {
      return false;
    }
    at += word.size();
    skip();
    return true;
  }

  void expect(std::string_view word) {
    if (!accept(word)) {
      fail("expected '" + std::string(word) + "'");
    }
  }

  void expectEnd() {
    if (!atEnd()) {
      fail("unexpected '" + std::string(peek()) + "'");
    }
  }

  template <typename Number>
  Number readNumber() {
    Number value{};
    std::string_view word = atEnd() ? std::string_view() : peek();
    auto [end, code] =
        std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || code != std::errc() ||
        end != word.data() + word.size()) {
      fail("expected a number" +
           std::string(code == std::errc::result_out_of_range ? " that fits"
                                                              : ""));
      return value;
    }
    at += word.size();
    skip();
    return value;
  }

  /// %N or @N.
  uint32_t reference(char sigil) {
    if (atEnd() || text[at] != sigil) {
      fail(std::string("expected '") + sigil + "' and a number");
      return 0;
    }
    ++at;
    return readNumber<uint32_t>();
  }
  bool atReference(char sigil) const { return !atEnd() && text[at] == sigil; }

  std::string quoted() {
    std::string value;
    if (atEnd() || text[at] != '"') {
      fail("expected a string in double quotes");
      return value;
    }
    for (++at; at < text.size() && text[at] != '"'; ++at) {
      char c = text[at];
      if (c == '\\' && at + 1 < text.size()) {
        c = text[++at];
        c = c == 'n' ? '\n' : c == 'r' ? '\r' : c;
      }
      value += c;
    }
    if (at == text.size()) {
      fail("string without its closing quote");
      return value;
    }
    ++at;
    skip();
    return value;
  }

  /// One word of a list; its index.
  template <typename Names>
  size_t oneOf(const Names &names, const char *what) {
    for (size_t i = 0; i < std::size(names); ++i) {
      if (accept(names[i])) {
        return i;
      }
    }
    std::string all;
    for (const char *name : names) {
      all += std::string(all.empty() ? "" : ", ") + name;
    }
    fail(std::string("expected ") + what + " (" + all + ")");
    return 0;
  }

  void fail(std::string message) {
    if (!failed()) {
      error = {number, at + 1, std::move(message)};
    }
  }

private:
  std::string_view peek() const {
    size_t end = at;
    while (end < text.size() && text[end] != ' ' && text[end] != '\t') {
      ++end;
    }
    return text.substr(at, end - at);
  }

  void skip() {
    while (at < text.size() &&
           (text[at] == ' ' || text[at] == '\t' || text[at] == '\r')) {
      ++at;
    }
    if (at < text.size() && text[at] == '#') {
      at = text.size();
    }
  }

  std::string_view text;
  size_t number;
  TextError &error;
  size_t at = 0;
};

} // namespace vdnn::planning

#endif
