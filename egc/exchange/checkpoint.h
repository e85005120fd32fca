// A checkpoint of Python's PyTorch: the tensors of its network, and the settings beside them.
// Nothing in the file is executed.
#pragma once

#include <filesystem>
#include <optional>

#include "egc/tensor/nd_array.h"

namespace egc::exchange {

struct Checkpoint {
  State state;
  std::optional<double> lr, wd;  // from the authors' "hparams"
  std::optional<int64_t> batch;
};

// A file of torch.save with a state dictionary, or with a dictionary that has one as "model" (the
// authors' release), "state_dict" or "model_state_dict"; or safetensors. Whatever is wrong with it
// is ErrorKind::kModel.
Checkpoint read_checkpoint(const std::filesystem::path& path);

}  // namespace egc::exchange
