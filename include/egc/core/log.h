// Where the library's remarks go. The library never prints: without a sink they are dropped.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string_view>

namespace egc {

enum class LogLevel { kDebug, kInfo, kWarning };

using LogSink = std::function<void(LogLevel, std::string_view)>;

// Replaces the sink (an empty one silences). May be called from any thread.
void set_log_sink(LogSink sink);

void log_message(LogLevel level, std::string_view message);

template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log_message(LogLevel::kInfo, fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log_message(LogLevel::kWarning, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace egc
