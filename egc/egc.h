// Everything a user of the library needs.
#pragma once

#include "egc/core/error.h"           // IWYU pragma: export
#include "egc/core/log.h"             // IWYU pragma: export
#include "egc/core/parallel.h"        // IWYU pragma: export
#include "egc/core/safetensors.h"     // IWYU pragma: export
#include "egc/graph/batch.h"          // IWYU pragma: export
#include "egc/graph/csr.h"            // IWYU pragma: export
#include "egc/nn/egc_conv.h"          // IWYU pragma: export
#include "egc/ops/fused_aggregate.h"  // IWYU pragma: export
#include "egc/ops/spmm.h"             // IWYU pragma: export
