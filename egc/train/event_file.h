// Curves for TensorBoard: a file of records, each an Event (a protobuf message) between checksums.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "egc/train/epoch_record.h"

namespace egc::train {

class EventFile {
 public:
  // Written anew with the given epochs; the last of them ends now.
  EventFile(std::filesystem::path path, std::span<const EpochRecord> history);
  void add(const EpochRecord& record);

 private:
  std::filesystem::path path_;
  double wall_time_ = 0;  // when the last epoch ended, in seconds since 1970
};

}  // namespace egc::train
