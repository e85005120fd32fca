// MPNN with towers (Gilmer et al., ICML 2017): per tower a message Linear([x_i || x_j]), its sum or
// greatest over the neighbours, an update Linear([aggregate || x_i]); one Linear mixes the towers.
// Memory O(V), see towers.h.
#pragma once

#include "egc/kernels/aggregator.h"
#include "egc/nn/conv.h"
#include "egc/nn/towers.h"

namespace egc::nn {

class MpnnConvImpl : public ConvModule<MpnnConvImpl> {
 public:
  // aggregator: add or max.
  MpnnConvImpl(int64_t in_channels, int64_t out_channels, Aggregator aggregator,
               int64_t towers = 4);

  void reset() override;
  void reset_parameters() override;
  at::Tensor forward(const at::Tensor& x, const Csr& graph,
                     const ops::EpilogueTensors& epilogue = {}) override;

  std::vector<Linear> message_layer;
  std::vector<Linear> update_layer;
  Linear lin{nullptr};

 private:
  int64_t in_;
  int64_t out_;
  Aggregator aggregator_;
  int64_t num_towers_;
  Towers towers_;
};
TORCH_MODULE(MpnnConv);

}  // namespace egc::nn
