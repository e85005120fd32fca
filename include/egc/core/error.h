// The exception that egc throws. A message names the operation, what was expected and what was
// found.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace egc {

// The cause of an error. The values are the program's exit codes: wrong arguments, invalid data, an
// invalid model file, a failing system (memory, disk, network), a failed verification (a NaN loss,
// data that differ from the published ones).
enum class ErrorKind { kUsage = 2, kData = 3, kModel = 4, kSystem = 5, kVerification = 6 };

// An error with its kind. The message is a single line: control characters are replaced.
class Error : public std::runtime_error {
 public:
  // Makes an error from its kind and message.
  Error(ErrorKind kind, const std::string& message)
      : std::runtime_error(one_line(message)), kind_(kind) {}
  ErrorKind kind() const { return kind_; }  // the cause of the error

 private:
  // Messages quote names and fields of foreign files, which may have any bytes.
  static std::string one_line(std::string message) {
    for (char& c : message)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = c == '\t' ? ' ' : '?';
    return message;
  }

  ErrorKind kind_;
};

// Throws an Error with the formatted message.
template <class... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

// Throws ErrorKind::kUsage with the formatted message unless `ok`.
template <class... Args>
void check(bool ok, fmt::format_string<Args...> format, Args&&... args) {
  if (!ok) [[unlikely]]
    fail(ErrorKind::kUsage, format, std::forward<Args>(args)...);
}

// Throws ErrorKind::kData with the formatted message unless `ok`.
template <class... Args>
void check_data(bool ok, fmt::format_string<Args...> format, Args&&... args) {
  if (!ok) [[unlikely]]
    fail(ErrorKind::kData, format, std::forward<Args>(args)...);
}

}  // namespace egc
