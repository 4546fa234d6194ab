//===- Error.h - results that can fail ------------------------------------===//
//
// No exception crosses an interface of the runtime. A message is one line:
// lower case, no full stop, names in single quotes, expected and found value,
// and the fix where there is one.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_SUPPORT_ERROR_H
#define VDNN_RUNTIME_SUPPORT_ERROR_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace vdnn::rt {

/// What went wrong, for a person to read.
struct Error {
  std::string message;
};

/// Success, or an Error. Thread-compatible.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const std::string &message() const {
    assert(error_ && "a success has no message");
    return error_->message;
  }
  Error error() const { return *error_; }

private:
  std::optional<Error> error_;
};

/// A value, or an Error. Thread-compatible.
template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : value_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : value_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return value_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T &operator*() { return std::get<0>(value_); }
  const T &operator*() const { return std::get<0>(value_); }
  T *operator->() { return &std::get<0>(value_); }
  const T *operator->() const { return &std::get<0>(value_); }
  const std::string &message() const { return std::get<1>(value_).message; }
  Error error() const { return std::get<1>(value_); }
  Status status() const { return ok() ? Status() : Status(error()); }

private:
  std::variant<T, Error> value_;
};

} // namespace vdnn::rt

#endif
