// What stands in for groups of processes where egc was built without Gloo.
#include "egc/core/error.h"
#include "egc/distributed/group.h"

namespace egc::distributed {

struct Group::Content {};

Group::Group(const GroupAddress&, OnLost) {
  fail(ErrorKind::kSystem,
       "this egc was built without Gloo, which trains with several processes; install libgloo-dev "
       "and build it again");
}
Group::~Group() = default;
int Group::rank() const { return 0; }
int Group::size() const { return 1; }
void Group::leave() {}
std::vector<double> Group::gather(std::span<const double> local) {
  return {local.begin(), local.end()};
}
std::vector<std::string> Group::gather(const std::string& mine) { return {mine}; }
void Group::broadcast(std::string&) {}
void Group::broadcast(std::span<std::byte>) {}
std::unique_ptr<Group::Pending> Group::begin_sum(std::span<float>) { return nullptr; }
std::unique_ptr<Group::Pending> Group::begin_exchange(const void*, std::span<const int64_t>, void*,
                                                      std::span<const int64_t>) {
  return nullptr;
}
int64_t Group::bytes_exchanged() const { return 0; }

}  // namespace egc::distributed
