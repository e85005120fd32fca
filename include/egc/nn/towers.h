// Towers: a layer's columns cut into groups, each with weights of its own, and messages that are
// linear in both ends.
//
// A message W [x_i || x_j] + b is the sum of a part of the target and a part of the source. What is
// the same for all neighbours of i can be taken out of every aggregator (sum, mean, max, min move
// with it, the variance does not see it), so only the source's part is aggregated, in the fused
// pass, and no message is ever stored: memory O(V) instead of O(E).
#pragma once

#include <vector>

#include "egc/kernels/aggregator.h"
#include "egc/nn/conv.h"
#include "egc/nn/linear.h"

namespace egc::nn {

struct Towers {
  int64_t count = 4;
  int64_t in = 0;  // columns of a tower
  int64_t out = 0;
};

// MPNN (Gilmer et al., ICML 2017): per tower a message Linear([x_i || x_j]), its sum or greatest
// over the neighbours, an update Linear([aggregate || x_i]); one Linear mixes the towers.
class MpnnConv : public Conv {
 public:
  // aggregator: add or max.
  MpnnConv(int64_t in_channels, int64_t out_channels, Aggregator aggregator, int64_t towers = 4);
  Tensor forward(Tape& tape, const Tensor& x, const Csr& graph,
                 const ops::EpilogueTensors& epilogue = {}) override;

  std::vector<LinearPtr> message_layer;
  std::vector<LinearPtr> update_layer;
  LinearPtr lin;

 private:
  int64_t in_;
  int64_t out_;
  Aggregator aggregator_;
  Towers towers_;
};

// PNA (Corso et al., NeurIPS 2020): messages Linear([x_i || x_j]), four aggregators (mean, min,
// max, std) in one fused pass, three scalers of the degree (identity, amplification, attenuation),
// a Linear per tower over [x_i || 12 aggregates], one Linear that mixes the towers.
class PnaConv : public Conv {
 public:
  // A deviation whose square is not greater counts as 0, as in PyTorch Geometric.
  static constexpr double kMinVariance = 1e-5;

  // mean_log_degree: the mean of log(degree + 1) over the nodes of the training set.
  PnaConv(int64_t in_channels, int64_t out_channels, double mean_log_degree, int64_t towers = 4);
  Tensor forward(Tape& tape, const Tensor& x, const Csr& graph,
                 const ops::EpilogueTensors& epilogue = {}) override;

  std::vector<LinearPtr> pre_nns;
  std::vector<LinearPtr> post_nns;
  LinearPtr lin;

 private:
  Tensor scaled_updates(Tape& tape, const Tensor& x, const Tensor& aggregates) const;

  int64_t in_;
  int64_t out_;
  double mean_log_degree_;
  Towers towers_;
};

// The mean of log(degree + 1); histogram[d] counts the nodes of degree d.
double mean_log_degree(const std::vector<int64_t>& histogram);

}  // namespace egc::nn
