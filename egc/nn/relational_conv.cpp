#include "egc/nn/relational_conv.h"

#include "egc/ops/norm_act.h"

namespace egc::nn {

std::vector<at::Tensor> RelationalConv::forward_hetero(const std::vector<at::Tensor>& x,
                                                       const HeteroGraph& graph, int64_t only) {
  check_hetero_graph(schema_, graph);
  check(x.size() == schema_.node_types.size(), "{}: expected x of {} node types, got {}", layer_,
        schema_.node_types.size(), x.size());
  for (size_t t = 0; t < x.size(); ++t)
    check(x[t].dim() == 2 && x[t].size(0) == graph.num_nodes[t] && x[t].size(1) == in_channels_,
          "{}: x of \"{}\" must be [{}, {}], got [{}]", layer_, schema_.node_types[t],
          graph.num_nodes[t], in_channels_, fmt::join(x[t].sizes(), ", "));
  check(only >= kAllTypes && only < static_cast<int64_t>(x.size()), "{}: there is no node type {}",
        layer_, only);
  return forward_types(x, graph, only);
}

at::Tensor RelationalConv::forward_homogeneous(const at::Tensor& x, const Csr& graph,
                                               const ops::EpilogueTensors& epilogue) {
  check_conv_input(layer_, x, graph, in_channels_);
  return ops::apply_epilogue(forward_hetero({x}, HeteroGraph::homogeneous(graph))[0], epilogue);
}

}  // namespace egc::nn
