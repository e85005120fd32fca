// The state of a run in a file, from which it resumes bit-for-bit. Damaged or foreign files are
// ErrorKind::kModel.
#pragma once

#include <filesystem>

#include "egc/train/trainer.h"

namespace egc::train {

void save_checkpoint(const std::filesystem::path& path, const Trainer& trainer);
// Into a trainer of the same configuration.
void load_checkpoint(const std::filesystem::path& path, Trainer& trainer);

}  // namespace egc::train
