// The layers that are one aggregation and one or two Linears. Memory O(V).
#pragma once

#include "egc/kernels/aggregator.h"
#include "egc/nn/conv.h"
#include "egc/nn/linear.h"

namespace egc::nn {

// GCN (Kipf and Welling, ICLR 2017): y = S x W' + b with S the symmetrically normalised adjacency,
// self-loops included.
class GcnConv : public Conv {
 public:
  GcnConv(int64_t in_channels, int64_t out_channels);
  void reset_parameters(Rng& rng) override;  // Glorot, zero bias
  Tensor forward(Tape& tape, const Tensor& x, const Csr& graph,
                 const ops::EpilogueTensors& epilogue = {}) override;

  ParameterPtr bias;  // [out], added after the aggregation
  LinearPtr lin;      // without bias

 private:
  int64_t in_;
};

// GIN (Xu et al., ICLR 2019) with one Linear: y = W ((1 + eps) x_i + sum of x_j) + b, eps learned.
class GinConv : public Conv {
 public:
  GinConv(int64_t in_channels, int64_t out_channels);
  void reset_parameters(Rng& rng) override;
  Tensor forward(Tape& tape, const Tensor& x, const Csr& graph,
                 const ops::EpilogueTensors& epilogue = {}) override;

  ParameterPtr eps;  // [1]
  LinearPtr nn;

 private:
  int64_t in_;
};

// GraphSAGE (Hamilton et al., NeurIPS 2017): y = W_l agg(x_j) + b + W_r x_i, agg the mean or max.
class SageConv : public Conv {
 public:
  SageConv(int64_t in_channels, int64_t out_channels, Aggregator aggregator = Aggregator::kMean);
  Tensor forward(Tape& tape, const Tensor& x, const Csr& graph,
                 const ops::EpilogueTensors& epilogue = {}) override;

  LinearPtr lin_l;  // of the neighbours, with bias
  LinearPtr lin_r;  // of the node itself, without

 private:
  int64_t in_;
  int64_t out_;
  Aggregator aggregator_;
};

// A Linear of each node by itself: the layer that does not look at the graph.
class MlpConv : public Conv {
 public:
  MlpConv(int64_t in_channels, int64_t out_channels);
  Tensor forward(Tape& tape, const Tensor& x, const Csr& graph,
                 const ops::EpilogueTensors& epilogue = {}) override;

  LinearPtr lin;

 private:
  int64_t in_;
};

}  // namespace egc::nn
