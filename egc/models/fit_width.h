// Networks of a given size, for comparisons at equal numbers of parameters.
#pragma once

#include <cstdint>

#include "egc/models/model_config.h"

namespace egc::models {

// The width that brings the network nearest to `parameters`, among the widths that its heads and
// towers allow. Throws kUsage where even the least has more than twice as many.
int64_t fit_width(ModelConfig config, int64_t parameters);

}  // namespace egc::models
