// Layers for heterogeneous graphs. An ordinary graph is one with one type of nodes and one
// relation, so they are Convs too.
#pragma once

#include <vector>

#include "egc/graph/hetero_graph.h"
#include "egc/kernels/aggregator.h"
#include "egc/nn/conv.h"
#include "egc/nn/linear.h"

namespace egc::nn {

class RelationalConv : public Conv {
 public:
  Tensor forward(Tape& tape, const Tensor& x, const Csr& graph,
                 const ops::EpilogueTensors& epilogue = {}) override;

  // x: per node type [N_t, in].   Result: per node type [N_t, out]; with `only`, an undefined
  // tensor for every type but that one.
  std::vector<Tensor> forward_hetero(Tape& tape, const std::vector<Tensor>& x,
                                     const HeteroGraph& graph, int64_t only = kAllTypes);

  static constexpr int64_t kAllTypes = -1;

 protected:
  RelationalConv(const char* layer, HeteroSchema schema, int64_t in_channels)
      : schema_(std::move(schema)), layer_(layer), in_channels_(in_channels) {
    check_schema(schema_);
  }

  virtual std::vector<Tensor> forward_types(Tape& tape, const std::vector<Tensor>& x,
                                            const HeteroGraph& graph, int64_t only) = 0;
  static bool wanted(int64_t type, int64_t only) { return only == kAllTypes || only == type; }

  HeteroSchema schema_;

 private:
  const char* layer_;
  int64_t in_channels_;
};

// R-GCN (Schlichtkrull et al., ESWC 2018) with node types: per relation a Linear without bias of
// the neighbours' mean, per node type a root Linear. Memory O(V).
class RgcnConv : public RelationalConv {
 public:
  RgcnConv(int64_t in_channels, int64_t out_channels,
           HeteroSchema schema = HeteroSchema::homogeneous());

  std::vector<LinearPtr> rel_lins;   // "rel_lins.<relation>"
  std::vector<LinearPtr> root_lins;  // "root_lins.<node type>"

 protected:
  std::vector<Tensor> forward_types(Tape& tape, const std::vector<Tensor>& x,
                                    const HeteroGraph& graph, int64_t only) override;

 private:
  int64_t out_;
};

struct RegcConvOptions {
  RegcConvOptions(int64_t in, int64_t out) : in_channels(in), out_channels(out) {}

  int64_t in_channels;
  int64_t out_channels;  // must be divisible by heads
  int64_t heads = 4;
  int64_t bases = 4;
  AggregatorSet aggregators = {Aggregator::kMean, Aggregator::kMax};
  HeteroSchema schema = HeteroSchema::homogeneous();
};

// R-EGC, the relational EGC of the paper's appendix: one set of bases for everything; a weighting
// of its own for each node type's root and for each relation, computed from the target node.
//   y_i = sum_b w_root[h,b] bases[i,b] + sum_r sum_{a,b} w_r[h,a,b] agg_a over N_r(i) of bases[.,b]
// Memory O(V).
class RegcConv : public RelationalConv {
 public:
  explicit RegcConv(RegcConvOptions options);

  void reset_parameters(Rng& rng) override;  // Glorot for the bases

  RegcConvOptions options;
  LinearPtr bases_lin;                // [B*L, in], without bias
  std::vector<LinearPtr> rel_combs;   // "rel_combs.<relation>", rows ordered (h, a, b)
  std::vector<LinearPtr> root_combs;  // "root_combs.<node type>", rows ordered (h, b)

 protected:
  std::vector<Tensor> forward_types(Tape& tape, const std::vector<Tensor>& x,
                                    const HeteroGraph& graph, int64_t only) override;
};

}  // namespace egc::nn
