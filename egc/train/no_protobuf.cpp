// Stands in for event_file.cpp in a build without protobuf.
#include "egc/core/log.h"
#include "egc/train/event_file.h"

namespace egc::train {

// NOLINTNEXTLINE(performance-unnecessary-value-param)
EventFile::EventFile(std::filesystem::path, std::span<const EpochRecord>) {
  log_info("cannot write TensorBoard event files: this egc was built without protobuf");
}
void EventFile::add(const EpochRecord&) {}

}  // namespace egc::train
