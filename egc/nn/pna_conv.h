// PNA (Corso et al., NeurIPS 2020) with towers: messages Linear([x_i || x_j]), four aggregators
// (mean, min, max, std) in one fused pass, three scalers of the degree (identity, amplification,
// attenuation), a Linear per tower over [x_i || 12 aggregates], one Linear that mixes the towers.
// Memory O(V), see towers.h.
#pragma once

#include "egc/nn/conv.h"
#include "egc/nn/towers.h"

namespace egc::nn {

class PnaConvImpl : public ConvModule<PnaConvImpl> {
 public:
  // A deviation whose square is not greater counts as 0, as in PyTorch Geometric.
  static constexpr double kLeastVariance = 1e-5;

  // mean_log_degree: the mean of log(degree + 1) over the nodes of the training set.
  PnaConvImpl(int64_t in_channels, int64_t out_channels, double mean_log_degree,
              int64_t towers = 4);

  void reset() override;
  void reset_parameters() override;
  at::Tensor forward(const at::Tensor& x, const Csr& graph,
                     const ops::EpilogueTensors& epilogue = {}) override;

  std::vector<Linear> pre_nns;
  std::vector<Linear> post_nns;
  Linear lin{nullptr};

 private:
  int64_t in_;
  int64_t out_;
  double mean_log_degree_;
  int64_t num_towers_;
  Towers towers_;
};
TORCH_MODULE(PnaConv);

// The mean of log(degree + 1); histogram[d] counts the nodes of degree d.
double mean_log_degree(const std::vector<int64_t>& histogram);

}  // namespace egc::nn
