// What a caller gives for the edges of a graph, as the operator takes it.
#pragma once

#include "egc/c_api/layer_call.h"
#include "egc/ops/edge_term.h"
#include "egc/tensor/tape.h"

namespace egc::c_api {

// An edge term on the caller's memory. gradients: NULL, or where those that are wanted go.
class EdgeTensors {
 public:
  EdgeTensors(const char* function, const egc_graph& graph, const egc_edge_term& given,
              const egc_edge_gradients* gradients, int64_t columns, DType type);

  const ops::EdgeTerm& term() const { return term_; }
  // After the operator's backward pass: from the types of edges to the rows of the table.
  void finish_backward();

 private:
  Tape tape_;
  ops::EdgeTerm term_;
};

}  // namespace egc::c_api
