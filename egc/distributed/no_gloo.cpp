// What stands in for groups of processes where egc was built without Gloo.
#include "egc/core/error.h"
#include "egc/distributed/process_group.h"

namespace egc::distributed {

struct ProcessGroup::Content {};

// NOLINTNEXTLINE(performance-unnecessary-value-param)
ProcessGroup::ProcessGroup(const GroupAddress&, OnLost) {
  fail(ErrorKind::kSystem,
       "cannot train with several ranks: this egc was built without Gloo; install libgloo-dev and "
       "rebuild");
}
ProcessGroup::~ProcessGroup() = default;
int ProcessGroup::rank() const { return 0; }
int ProcessGroup::size() const { return 1; }
void ProcessGroup::leave() {}
std::vector<double> ProcessGroup::gather(std::span<const double> local) {
  return {local.begin(), local.end()};
}
std::vector<std::string> ProcessGroup::gather(const std::string& text) { return {text}; }
void ProcessGroup::broadcast(std::string&) {}
void ProcessGroup::broadcast(std::span<std::byte>) {}
std::unique_ptr<ProcessGroup::Pending> ProcessGroup::begin_sum(std::span<float>) { return nullptr; }
std::unique_ptr<ProcessGroup::Pending> ProcessGroup::begin_exchange(const void*,
                                                                    std::span<const int64_t>, void*,
                                                                    std::span<const int64_t>) {
  return nullptr;
}
int64_t ProcessGroup::bytes_exchanged() const { return 0; }

}  // namespace egc::distributed
