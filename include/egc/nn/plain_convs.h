// Layers that are one aggregation and one or two linear layers, in O(V) memory.
#pragma once

#include "egc/kernels/aggregator.h"
#include "egc/nn/conv.h"
#include "egc/nn/edge_encoder.h"
#include "egc/nn/linear.h"

namespace egc::nn {

// GCN (Kipf and Welling, ICLR 2017): y = S x W' + b, S the symmetrically normalized adjacency with
// self-loops. With edge features the messages are ReLU(W x_j + e_ij) instead of W x_j, as in the
// Open Graph Benchmark's example.
class GcnConv : public Conv {
 public:
  // Columns of input and output.
  GcnConv(int64_t in_channels, int64_t out_channels, const EdgeSchema& edge_schema = {});
  void reset_parameters(Rng& rng) override;  // Glorot, zero bias
  Tensor forward(Tape& tape, const Tensor& x, const Csr& graph,
                 const ops::EpilogueTensors& epilogue = {}) override;

  ParameterPtr bias;     // [out], added after the aggregation
  LinearPtr lin;         // [out, in], without bias
  EdgeEncoderPtr edges;  // of out columns; null without edge features

 private:
  int64_t in_;
};

// GIN (Xu et al., ICLR 2019) with one linear layer: y = W ((1 + eps) x_i + sum of x_j) + b, eps
// learned. With edge features GINE (Hu et al., ICLR 2020): messages ReLU(x_j + e_ij).
class GinConv : public Conv {
 public:
  // Columns of input and output.
  GinConv(int64_t in_channels, int64_t out_channels, const EdgeSchema& edge_schema = {});
  void reset_parameters(Rng& rng) override;  // eps 0, the linear layer as PyTorch's
  Tensor forward(Tape& tape, const Tensor& x, const Csr& graph,
                 const ops::EpilogueTensors& epilogue = {}) override;

  ParameterPtr eps;      // [1]
  LinearPtr nn;          // [out, in], with bias
  EdgeEncoderPtr edges;  // of in columns; null without edge features

 private:
  int64_t in_;
};

// GraphSAGE (Hamilton et al., NeurIPS 2017): y = W_l agg(x_j) + b + W_r x_i.
class SageConv : public Conv {
 public:
  // aggregator: mean or max.
  SageConv(int64_t in_channels, int64_t out_channels, Aggregator aggregator = Aggregator::kMean);
  Tensor forward(Tape& tape, const Tensor& x, const Csr& graph,
                 const ops::EpilogueTensors& epilogue = {}) override;

  LinearPtr lin_l;  // of the aggregate, with bias
  LinearPtr lin_r;  // of the node itself, without bias

 private:
  int64_t in_;
  int64_t out_;
  Aggregator aggregator_;
};

// A linear layer for each node by itself: a baseline that ignores the graph.
class MlpConv : public Conv {
 public:
  MlpConv(int64_t in_channels, int64_t out_channels);  // columns of input and output
  Tensor forward(Tape& tape, const Tensor& x, const Csr& graph,
                 const ops::EpilogueTensors& epilogue = {}) override;

  LinearPtr lin;  // [out, in], with bias

 private:
  int64_t in_;
};

}  // namespace egc::nn
