#include "egc/nn/conv.h"

namespace egc::nn {

void check_conv_input(const char* layer, const at::Tensor& x, const Csr& graph,
                      int64_t in_channels) {
  check(x.dim() == 2 && x.size(0) == graph.num_targets() && x.size(1) == in_channels,
        "{}: x must be [{}, {}], got [{}]", layer, graph.num_targets(), in_channels,
        fmt::join(x.sizes(), ", "));
  check(graph.rows_are_sources(),
        "{}: the graph's targets must be its sources, got {} targets and {} other sources", layer,
        graph.num_targets(), graph.num_sources());
}

}  // namespace egc::nn
