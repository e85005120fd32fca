#include "egc/nn/conv.h"

namespace egc::nn {

void check_conv_input(const char* layer, const Tensor& x, const Csr& graph, int64_t in_channels) {
  expect_matrix(layer, "x", x, graph.num_targets(), in_channels);
  check(graph.rows_are_sources(),
        "{}: the graph's targets must be its sources, got {} targets and {} other sources", layer,
        graph.num_targets(), graph.num_sources());
}

}  // namespace egc::nn
