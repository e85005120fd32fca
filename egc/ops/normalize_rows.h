// The part of layer norm that looks along rows.
#pragma once

#include "egc/tensor/tape.h"

namespace egc::ops {

// Each row minus its mean, over its deviation: (x - mean) / sqrt(biased variance + eps).   x: [N,
// C].
Tensor normalize_rows(Tape& tape, const Tensor& x, double eps);

}  // namespace egc::ops
