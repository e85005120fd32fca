// The interface of layers for heterogeneous graphs. An ordinary graph is one with one type of nodes
// and one relation, so they are Convs too.
#pragma once

#include <vector>

#include "egc/graph/hetero_graph.h"
#include "egc/nn/conv.h"

namespace egc::nn {

class RelationalConv {
 public:
  virtual ~RelationalConv() = default;

  // x: per node type [N_t, in].   Result: per node type [N_t, out]; with `only`, an undefined
  // tensor for every type but that one.
  std::vector<at::Tensor> forward_hetero(const std::vector<at::Tensor>& x, const HeteroGraph& graph,
                                         int64_t only = kAllTypes);

  static constexpr int64_t kAllTypes = -1;

 protected:
  RelationalConv(const char* layer, HeteroSchema schema, int64_t in_channels)
      : schema_(std::move(schema)), layer_(layer), in_channels_(in_channels) {
    check_schema(schema_);
  }

  virtual std::vector<at::Tensor> forward_types(const std::vector<at::Tensor>& x,
                                                const HeteroGraph& graph, int64_t only) = 0;

  // forward of an ordinary graph.
  at::Tensor forward_homogeneous(const at::Tensor& x, const Csr& graph,
                                 const ops::EpilogueTensors& epilogue);

  static bool wanted(int64_t type, int64_t only) { return only == kAllTypes || only == type; }

  HeteroSchema schema_;

 private:
  const char* layer_;
  int64_t in_channels_;
};

}  // namespace egc::nn
