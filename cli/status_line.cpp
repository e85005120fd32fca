#include "cli/status_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <chrono>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string_view>

namespace egc::cli::status_line {
namespace {

std::mutex mutex;  // threads that read ahead warn
bool is_there = false;

bool look() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && (no_color == nullptr || *no_color == 0) && term != nullptr &&
         *term != 0 && std::string_view(term) != "dumb";
}

// The last column stays empty: some terminals begin a new line when it is written.
size_t columns() {
  winsize size = {};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return std::min<size_t>(known ? size.ws_col : 80, 80) - 1;
}

}  // namespace

bool is_possible() {
  static const bool possible = look();
  return possible;
}

void show(const std::vector<std::string>& parts) {
  if (!is_possible()) return;
  const size_t width = columns();
  std::string line;
  for (const std::string& part : parts) {
    const size_t space = line.empty() ? 0 : 2;
    if (part.empty() || line.size() + space + part.size() > width) continue;
    line.append(space, ' ').append(part);
  }
  const std::lock_guard lock(mutex);
  fmt::print(stderr, "\r{}\x1b[K", line);
  std::fflush(stderr);
  is_there = true;
}

OnProgress counts(std::string what, bool quiet) {
  if (quiet || !is_possible()) return {};
  using Clock = std::chrono::steady_clock;
  return [what = std::move(what), last = Clock::time_point()](int64_t done, int64_t total) mutable {
    if (const auto now = Clock::now(); now - last >= std::chrono::milliseconds(100))
      last = now;
    else
      return;
    show({total > 0 ? fmt::format("{} of {} {} ({:.0f} %)", done, total, what,
                                  100.0 * static_cast<double>(done) / static_cast<double>(total))
                    : fmt::format("{} {}", done, what)});
  };
}

void clear() {
  const std::lock_guard lock(mutex);
  if (is_there) fmt::print(stderr, "\r\x1b[K");
  is_there = false;
}

}  // namespace egc::cli::status_line
