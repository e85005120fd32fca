#include "egc/kernels/target.h"

#include <cstdlib>
#include <mutex>

#include "egc/core/named_table.h"
#include "egc/kernels/simd_targets.h"  // before Highway

#include <hwy/highway.h>

namespace egc::kernels {
namespace {

struct Available {
  std::string name;
  int64_t bit;
};

// Read before anything is forced: afterwards Highway reports only what is allowed.
const std::vector<Available>& machine_targets() {
  static const std::vector<Available> targets = [] {
    std::vector<Available> out;
    const int64_t supported = hwy::SupportedTargets() & HWY_TARGETS;
    for (int64_t bit = 1; bit > 0 && bit <= supported; bit <<= 1)
      if ((supported & bit) != 0) out.push_back({hwy::TargetName(bit), bit});
    return out;
  }();
  return targets;
}

void force(const std::string& name) {
  if (name.empty()) return hwy::SetSupportedTargetsForTest(0);
  std::vector<std::string> names;
  for (const Available& t : machine_targets()) {
    if (t.name == name) return hwy::SetSupportedTargetsForTest(t.bit);
    names.push_back(t.name);
  }
  fail(ErrorKind::kUsage, "unknown instruction set \"{}\"; this machine has: {}", name,
       fmt::join(names, ", "));
}

}  // namespace

void apply_target_from_environment() {
  static std::once_flag once;
  std::call_once(once, [] {
    machine_targets();
    if (const char* name = std::getenv("EGC_FORCE_TARGET")) force(name);
  });
}

std::vector<std::string> available_targets() {
  std::vector<std::string> names;
  for (const Available& t : machine_targets()) names.push_back(t.name);
  return names;
}

std::string current_target() {
  apply_target_from_environment();
  const int64_t allowed = hwy::SupportedTargets() & HWY_TARGETS;
  return hwy::TargetName(allowed & -allowed);  // the lowest bit is the best
}

void force_target(const std::string& name) {
  apply_target_from_environment();
  force(name);
}

}  // namespace egc::kernels
