// Everything a user of the library needs.
#pragma once

#include "egc/core/error.h"            // IWYU pragma: export
#include "egc/core/log.h"              // IWYU pragma: export
#include "egc/core/parallel.h"         // IWYU pragma: export
#include "egc/core/safetensors.h"      // IWYU pragma: export
#include "egc/graph/batch.h"           // IWYU pragma: export
#include "egc/graph/csr.h"             // IWYU pragma: export
#include "egc/graph/hetero_graph.h"    // IWYU pragma: export
#include "egc/models/foreign_state.h"  // IWYU pragma: export
#include "egc/models/model_config.h"   // IWYU pragma: export
#include "egc/models/model_file.h"     // IWYU pragma: export
#include "egc/models/network.h"        // IWYU pragma: export
#include "egc/nn/batch_norm.h"         // IWYU pragma: export
#include "egc/nn/conv_table.h"         // IWYU pragma: export
#include "egc/nn/egc_conv.h"           // IWYU pragma: export
#include "egc/nn/gat_conv.h"           // IWYU pragma: export
#include "egc/nn/gatv2_conv.h"         // IWYU pragma: export
#include "egc/nn/gcn_conv.h"           // IWYU pragma: export
#include "egc/nn/gin_conv.h"           // IWYU pragma: export
#include "egc/nn/linear.h"             // IWYU pragma: export
#include "egc/nn/mlp.h"                // IWYU pragma: export
#include "egc/nn/mlp_conv.h"           // IWYU pragma: export
#include "egc/nn/mpnn_conv.h"          // IWYU pragma: export
#include "egc/nn/pna_conv.h"           // IWYU pragma: export
#include "egc/nn/regc_conv.h"          // IWYU pragma: export
#include "egc/nn/rgcn_conv.h"          // IWYU pragma: export
#include "egc/nn/sage_conv.h"          // IWYU pragma: export
#include "egc/ops/fused_aggregate.h"   // IWYU pragma: export
#include "egc/ops/spmm.h"              // IWYU pragma: export
