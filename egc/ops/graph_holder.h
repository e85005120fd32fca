// torch.classes.egc.Graph: a graph as TorchScript and Python hold it.
#pragma once

#include <torch/custom_class.h>

#include "egc/graph/csr.h"

namespace egc::ops {

struct GraphHolder : torch::CustomClassHolder {
  explicit GraphHolder(Csr g) : graph(std::move(g)) {}
  Csr graph;
};
using GraphPtr = c10::intrusive_ptr<GraphHolder>;

}  // namespace egc::ops
