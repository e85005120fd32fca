// The one exception type. A message names the operation, what was expected and what came.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace egc {

// What kind of thing was wrong; the values are the program's exit codes.
enum class ErrorKind { kUsage = 2, kData = 3, kModel = 4, kSystem = 5, kVerification = 6 };

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message)
      : std::runtime_error(one_line(message)), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  // Messages quote names and fields of foreign files, which may have any bytes.
  static std::string one_line(std::string message) {
    for (char& c : message)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = c == '\t' ? ' ' : '?';
    return message;
  }

  ErrorKind kind_;
};

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

template <class... Args>
void check_data(bool ok, fmt::format_string<Args...> format, Args&&... args) {
  if (!ok) [[unlikely]]
    fail(ErrorKind::kData, format, std::forward<Args>(args)...);
}

}  // namespace egc
