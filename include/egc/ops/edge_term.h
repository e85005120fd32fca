// What edges add to messages: m = phi(x_j + e_ij), where e_ij comes from the edge features of a
// graph, and phi is the identity or ReLU. Nothing of the size of edges times columns is computed.
#pragma once

#include <span>

#include "egc/graph/csr.h"
#include "egc/tensor/tensor.h"

namespace egc::ops {

// e_ij = table[type] + linear * numbers + bias, of C columns. Each part is optional.
struct EdgeTerm {
  Tensor table;       // [types of the graph's edges, C]
  Tensor linear;      // [C, numbers of an edge]
  Tensor bias;        // [1, C], of every edge of the graph
  Tensor self_edge;   // [1, C], of added self-loops; undefined: zeros
  bool relu = false;  // phi

  // Whether messages are anything but x_j.
  bool present() const {
    return relu || table.defined() || linear.defined() || bias.defined() || self_edge.defined();
  }
};

// The rows of a table of all categories [sum of categories, C], one feature's rows after the other,
// that make each type of edge: a graph from these rows to the types. Throws kData where a category
// is out of range.
Csr rows_of_types(const EdgeTypes& types, std::span<const int64_t> categories);

}  // namespace egc::ops
