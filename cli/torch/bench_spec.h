// The layer that the options of `egc bench layer` speak of.
#pragma once

#include "cli/torch_module.h"
#include "egc/nn/conv_table.h"

namespace egc::cli {

nn::ConvSpec bench_spec(const LayerBenchOptions& options, int64_t hidden);

}  // namespace egc::cli
