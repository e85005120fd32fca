// What a layer makes of edge features: a row for every category, a linear map of numbers.
#pragma once

#include <memory>
#include <vector>

#include "egc/graph/csr.h"
#include "egc/nn/linear.h"
#include "egc/nn/module.h"
#include "egc/ops/edge_term.h"

namespace egc::nn {

// Features of edges that a layer takes: categorical ones, numbers, or both.
struct EdgeSchema {
  std::vector<int64_t> categories;  // number of categories of each categorical feature
  int64_t numbers = 0;              // float features

  bool empty() const { return categories.empty() && numbers == 0; }  // whether it takes none
  bool operator==(const EdgeSchema&) const = default;                // compares all fields
};

// "2 categorical features (of 4 and 6 categories) and 3 numbers", for messages.
std::string describe(const EdgeSchema& schema);

// The parameters of an edge encoder; each may be undefined.
struct EdgeEncoderTensors {
  Tensor table;      // [sum of categories, C]
  Tensor linear;     // [C, numbers]
  Tensor bias;       // [1, C]
  Tensor self_edge;  // [1, C]
};
// What they make of the edges of a graph. Throws kData unless these have the features of the
// schema.
ops::EdgeTerm edge_term(Tape& tape, const Csr& graph, const EdgeSchema& schema,
                        const EdgeEncoderTensors& tensors, bool relu);

// e_ij, of C columns: the sum of one embedding for every categorical feature, plus a Linear of the
// numbers. The message of an added self-loop has an embedding of its own.
class EdgeEncoder : public Module {
 public:
  // has_loops: whether the layer adds self-loops.
  EdgeEncoder(EdgeSchema schema, int64_t columns, bool has_loops);

  // Glorot for every table, PyTorch's Linear, zeros for self-loops.
  void reset_parameters(Rng& rng) override;
  // For the edges of a graph. Throws kData unless they have the features of the schema.
  ops::EdgeTerm term(Tape& tape, const Csr& graph, bool relu) const;

  EdgeSchema schema;       // as given
  ParameterPtr table;      // [sum of categories, C], one feature's rows after the other; or null
  LinearPtr lin;           // [C, numbers]; or null
  ParameterPtr self_edge;  // [C]; or null
};
using EdgeEncoderPtr = std::shared_ptr<EdgeEncoder>;  // shared, as modules are

// Null for an empty schema.
EdgeEncoderPtr make_edge_encoder(const EdgeSchema& schema, int64_t columns, bool has_loops);
// Absent without an encoder.
inline ops::EdgeTerm edge_term(const EdgeEncoderPtr& encoder, Tape& tape, const Csr& graph,
                               bool relu) {
  return encoder ? encoder->term(tape, graph, relu) : ops::EdgeTerm{};
}

}  // namespace egc::nn
