// Log messages of the library. They go to the sink that the program sets; without one they are
// dropped, so the library never prints.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string_view>

namespace egc {

// Severity of a message.
enum class LogLevel { kDebug, kInfo, kWarning };

// Receives every message. May be called from any thread.
using LogSink = std::function<void(LogLevel, std::string_view)>;

// Replaces the sink; an empty one drops all messages. May be called from any thread.
void set_log_sink(LogSink sink);

// Sends a message to the sink.
void log_message(LogLevel level, std::string_view message);

// Formats and sends a message of level kInfo.
template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log_message(LogLevel::kInfo, fmt::format(format, std::forward<Args>(args)...));
}

// Formats and sends a message of level kWarning.
template <class... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log_message(LogLevel::kWarning, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace egc
