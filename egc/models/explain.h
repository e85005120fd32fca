// What carried the output of each EGC layer: the terms of its sum, node by node; and what its
// filters do to the frequencies of a graph.
#pragma once

#include <vector>

#include "egc/models/network.h"

namespace egc::models {

struct LayerTerms {
  AggregatorSet aggregators;
  int64_t heads = 0;
  int64_t bases = 0;
  Tensor norms;  // [N, heads * aggregators * bases], EgcConv's term_norms
  // What the layer makes of each frequency at each node, [N, K]: the norm of its linear map (of
  // add, mean and symnorm; the others are not linear) applied to a column of `waves`. Undefined
  // without waves, or without linear aggregators.
  Tensor gain;
};

// Of every layer, in inference; throws kUsage unless its layers are EGC.
// waves: [N, K], for instance the eigenvectors of the graph's Laplacian; may be undefined.
std::vector<LayerTerms> explain(Network& network, const ModelInput& input,
                                const Tensor& waves = {});

// The symmetrically normalised Laplacian's eigenvalues [N], rising, and eigenvectors [N, N], with
// every edge taken in both directions. For small graphs: it is dense.
std::pair<Tensor, Tensor> graph_spectrum(const Csr& graph);

}  // namespace egc::models
