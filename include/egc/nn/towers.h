// Layers with towers, MPNN and PNA: columns are cut into groups, each with its own weights.
//
// A message W [x_i || x_j] + b is a term of the target plus a term of the source. The target's term
// is the same for all neighbours and can be taken out of every aggregator, so only the source's
// term is aggregated, in the fused pass. No message is stored: O(V) memory instead of O(E). Edge
// features add a third term, W' e_ij, in the same pass.
#pragma once

#include <vector>

#include "egc/kernels/aggregator.h"
#include "egc/nn/conv.h"
#include "egc/nn/edge_encoder.h"
#include "egc/nn/linear.h"

namespace egc::nn {

// How columns are cut into towers.
struct Towers {
  int64_t count = 4;  // number of towers
  int64_t in = 0;     // input columns of a tower
  int64_t out = 0;    // output columns of a tower
};

// MPNN (Gilmer et al., ICML 2017). Per tower: messages Linear([x_i || x_j]), aggregated, then an
// update Linear([aggregate || x_i]). A last linear layer combines the towers.
class MpnnConv : public Conv {
 public:
  // aggregator: add or max. Widths must be divisible by `towers`.
  MpnnConv(int64_t in_channels, int64_t out_channels, Aggregator aggregator, int64_t towers = 4,
           const EdgeSchema& edge_schema = {});
  Tensor forward(Tape& tape, const Tensor& x, const Csr& graph,
                 const ops::EpilogueTensors& epilogue = {}) override;

  std::vector<LinearPtr> message_layer;  // of each tower
  std::vector<LinearPtr> update_layer;   // of each tower
  LinearPtr lin;                         // combines the towers
  EdgeEncoderPtr edges;                  // of the towers' messages; null without edge features

 private:
  int64_t in_;
  int64_t out_;
  Aggregator aggregator_;
  Towers towers_;
};

// PNA (Corso et al., NeurIPS 2020): messages Linear([x_i || x_j]), four aggregators (mean, min,
// max, std) in one pass, three degree scalers (identity, amplification, attenuation), per tower a
// linear layer of [x_i || 12 aggregates], and a last one that combines the towers.
class PnaConv : public Conv {
 public:
  // Variances up to this value give a standard deviation of 0, as in PyTorch Geometric.
  static constexpr double kMinVariance = 1e-5;

  // mean_log_degree: the mean of log(degree + 1) over the nodes of the training set.
  PnaConv(int64_t in_channels, int64_t out_channels, double mean_log_degree, int64_t towers = 4,
          const EdgeSchema& edge_schema = {});
  Tensor forward(Tape& tape, const Tensor& x, const Csr& graph,
                 const ops::EpilogueTensors& epilogue = {}) override;

  std::vector<LinearPtr> pre_nns;   // messages of each tower
  std::vector<LinearPtr> post_nns;  // updates of each tower
  LinearPtr lin;                    // combines the towers
  EdgeEncoderPtr edges;             // of the towers' messages; null without edge features

 private:
  Tensor scaled_updates(Tape& tape, const Tensor& x, const Tensor& aggregates) const;

  int64_t in_;
  int64_t out_;
  double mean_log_degree_;
  Towers towers_;
};

// The mean of log(degree + 1); histogram[d] is the number of nodes of degree d.
double mean_log_degree(const std::vector<int64_t>& histogram);

}  // namespace egc::nn
