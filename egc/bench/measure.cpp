#include "egc/bench/measure.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>

#include "egc/core/error.h"
#include "egc/core/huge_buffer.h"

namespace egc::bench {
namespace {

double once_ms(const std::function<void()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - begin;
  return elapsed.count();
}

Timing summarise(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const size_t n = times.size();
  Timing t;
  t.median_ms = n % 2 == 1 ? times[n / 2] : 0.5 * (times[n / 2 - 1] + times[n / 2]);
  t.min_ms = times.front();
  t.p90_ms = times[(n * 9) / 10 < n ? (n * 9) / 10 : n - 1];
  t.reps = static_cast<int>(n);
  return t;
}

// A line of /proc/self/status, in kB.
double status_kb(const std::string& key) {
  std::ifstream file("/proc/self/status");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(key + ":")) continue;
    double kb = 0;
    std::istringstream(line.substr(key.size() + 1)) >> kb;
    return kb;
  }
  fail(ErrorKind::kSystem, "/proc/self/status: expected a line \"{}\"", key);
}

}  // namespace

std::vector<Timing> measure(const std::vector<Contestant>& contestants, int reps, bool warm) {
  std::vector<std::vector<double>> times(contestants.size());
  for (int rep = -1; rep < reps; ++rep)
    for (size_t k = 0; k < contestants.size(); ++k) {
      if (warm) contestants[k].run();
      const double ms = once_ms(contestants[k].run);
      if (rep >= 0) times[k].push_back(ms);
    }
  std::vector<Timing> out;
  for (auto& t : times) out.push_back(summarise(std::move(t)));
  return out;
}

double peak_extra_mb(const std::function<void()>& run) {
  huge_trim();
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;  // resets the high-water mark
  const double before = status_kb("VmRSS");
  run();
  return (status_kb("VmHWM") - before) * 1024e-6;
}

}  // namespace egc::bench
