// Layers for heterogeneous graphs. They are Convs too: an ordinary graph has one node type and one
// relation.
#pragma once

#include <vector>

#include "egc/graph/hetero_graph.h"
#include "egc/kernels/aggregator.h"
#include "egc/nn/conv.h"
#include "egc/nn/linear.h"

namespace egc::nn {

// Base class of R-GCN and R-EGC.
class RelationalConv : public Conv {
 public:
  // For an ordinary graph; throws kUsage if the schema has several types or relations.
  Tensor forward(Tape& tape, const Tensor& x, const Csr& graph,
                 const ops::EpilogueTensors& epilogue = {}) override;

  // x: per node type [N_t, in].   Result: per node type [N_t, out]; with `only`, tensors of all
  // other types are undefined.
  std::vector<Tensor> forward_hetero(Tape& tape, const std::vector<Tensor>& x,
                                     const HeteroGraph& graph, int64_t only = kAllTypes);

  static constexpr int64_t kAllTypes = -1;  // compute all node types

 protected:
  // `layer` is the name in error messages.
  RelationalConv(const char* layer, HeteroSchema schema, int64_t in_channels)
      : schema_(std::move(schema)), layer_(layer), in_channels_(in_channels) {
    check_schema(schema_);
  }

  // The computation; arguments are checked and as in forward_hetero().
  virtual std::vector<Tensor> forward_types(Tape& tape, const std::vector<Tensor>& x,
                                            const HeteroGraph& graph, int64_t only) = 0;
  // Whether this type is to be computed.
  static bool wanted(int64_t type, int64_t only) { return only == kAllTypes || only == type; }

  HeteroSchema schema_;  // node types and relations

 private:
  const char* layer_;
  int64_t in_channels_;
};

// R-GCN (Schlichtkrull et al., ESWC 2018) with node types: per relation a linear layer of the
// neighbours' mean, per node type one of the node itself. O(V) memory.
class RgcnConv : public RelationalConv {
 public:
  // Makes the layer; the default is for ordinary graphs.
  RgcnConv(int64_t in_channels, int64_t out_channels,
           HeteroSchema schema = HeteroSchema::homogeneous());

  std::vector<LinearPtr> rel_lins;   // `rel_lins.<relation>`: [out, in], without bias
  std::vector<LinearPtr> root_lins;  // `root_lins.<node type>`: [out, in]

 protected:
  std::vector<Tensor> forward_types(Tape& tape, const std::vector<Tensor>& x,
                                    const HeteroGraph& graph, int64_t only) override;

 private:
  int64_t out_;
};

// Options of RegcConv.
struct RegcConvOptions {
  // Default options for these widths.
  RegcConvOptions(int64_t in, int64_t out) : in_channels(in), out_channels(out) {}

  int64_t in_channels;                                                // columns of the input
  int64_t out_channels;                                               // H*L, divisible by heads
  int64_t heads = 4;                                                  // H
  int64_t bases = 4;                                                  // B
  AggregatorSet aggregators = {Aggregator::kMean, Aggregator::kMax};  // A of them
  HeteroSchema schema = HeteroSchema::homogeneous();                  // node types and relations
};

// R-EGC, the relational EGC of the paper's appendix. All node types and relations share the bases;
// each node type (root) and each relation has its own combination weights, computed from the
// target:
//   y_i = sum_b w_root[h,b] bases[i,b] + sum_r sum_{a,b} w_r[h,a,b] agg_a over N_r(i) of bases[.,b]
// O(V) memory.
class RegcConv : public RelationalConv {
 public:
  // Throws kUsage unless the options make sense together.
  explicit RegcConv(RegcConvOptions options);

  // Glorot for the bases, PyTorch's Linear for the rest.
  void reset_parameters(Rng& rng) override;

  RegcConvOptions options;            // as given
  LinearPtr bases_lin;                // [B*L, in], without bias
  std::vector<LinearPtr> rel_combs;   // `rel_combs.<relation>`, rows ordered (h, a, b)
  std::vector<LinearPtr> root_combs;  // `root_combs.<node type>`, rows ordered (h, b)

 protected:
  std::vector<Tensor> forward_types(Tape& tape, const std::vector<Tensor>& x,
                                    const HeteroGraph& graph, int64_t only) override;
};

}  // namespace egc::nn
