#include "egc/distributed/address.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

#include "egc/core/error.h"

namespace egc::distributed {
namespace {

constexpr int kLastPort = 65535;

// Any of them may be another program's, if only for the minute that a closed connection keeps it.
constexpr int kPortsBesideLaunchers = 8;

bool launcher_has_port() {
  const char* value = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
  return value != nullptr && std::string_view(value) == "True";
}

int number_from(const char* name, const char* text, int least, int most) {
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto [at, error] = std::from_chars(text, end, value);
  check(error == std::errc() && at == end && value >= least && value <= most,
        "{} must be an integer from {} to {}, got \"{}\"", name, least, most, text);
  return value;
}

}  // namespace

std::vector<int> GroupAddress::ports() const {
  if (!launcher_has_port) return {port};
  const int step = port + kPortsBesideLaunchers <= kLastPort ? 1 : -1;
  std::vector<int> out;
  for (int k = 1; k <= kPortsBesideLaunchers; ++k) out.push_back(port + k * step);
  return out;
}

std::optional<GroupAddress> address_from_environment() {
  constexpr const char* kNames[] = {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"};
  const char* values[std::size(kNames)];
  bool any = false;
  for (size_t k = 0; k < std::size(kNames); ++k) {
    values[k] = std::getenv(kNames[k]);
    any = any || values[k] != nullptr;
  }
  if (!any) return std::nullopt;
  for (size_t k = 0; k < std::size(kNames); ++k)
    check(values[k] != nullptr,
          "distributed training needs RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT; {} is not set",
          kNames[k]);
  GroupAddress out;
  out.size = number_from(kNames[1], values[1], 1, 4096);
  out.rank = number_from(kNames[0], values[0], 0, out.size - 1);
  out.address = values[2];
  out.port = number_from(kNames[3], values[3], 1, kLastPort);
  out.launcher_has_port = launcher_has_port();
  return out;
}

}  // namespace egc::distributed
