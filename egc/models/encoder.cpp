#include "egc/models/encoder.h"

#include <algorithm>
#include <numeric>

#include "egc/core/error.h"
#include "egc/ops/aggregate.h"

namespace egc::models {

LinearEncoder::LinearEncoder(int64_t features, int64_t hidden)
    : lin_(add_module("lin", std::make_shared<nn::Linear>(features, hidden))) {}

Tensor LinearEncoder::forward(Tape& tape, const ModelInput& input) {
  check(input.x.defined(), "encoder: float features are needed, got {}",
        input.categories.defined() ? "categories" : "none");
  return lin_->forward(tape, input.x);
}

CategoricalEncoder::CategoricalEncoder(std::vector<int64_t> categories, int64_t hidden, bool glorot,
                                       bool clip_last)
    : categories_(std::move(categories)),
      glorot_(glorot),
      clip_last_(clip_last),
      weight_(add_parameter(
          "weight",
          {std::accumulate(categories_.begin(), categories_.end(), int64_t{0}), hidden})) {}

void CategoricalEncoder::reset_parameters(Rng& rng) {
  if (!glorot_) return nn::normal(weight_->value, rng);
  with_type(weight_->value.dtype(), [&](auto zero) {
    auto* to = weight_->value.data<decltype(zero)>();
    for (const int64_t count : categories_) {
      const Tensor table = Tensor::empty(count, weight_->value.columns(), weight_->value.dtype());
      nn::glorot_uniform(table, rng);
      to = std::copy_n(table.data<decltype(zero)>(), table.size(), to);
    }
  });
}

// Rows of the table by node.
Csr CategoricalEncoder::lookup(const Categories& x) const {
  const auto features = static_cast<int64_t>(categories_.size());
  const int64_t nodes = x.rows();
  std::vector<int32_t> rows(x.values.size());
  for (int64_t i = 0; i < nodes; ++i) {
    int64_t first = 0;
    for (int64_t f = 0; f < features; ++f) {
      int64_t v = x.values[i * features + f];
      if (clip_last_ && f + 1 == features) v = std::min(v, categories_[f] - 1);
      check_data(v >= 0 && v < categories_[f],
                 "encoder: node {}, feature {}: expected a category from 0 to {}, got {}", i, f,
                 categories_[f] - 1, v);
      rows[i * features + f] = static_cast<int32_t>(first + v);
      first += categories_[f];
    }
  }
  std::vector<int64_t> offsets(static_cast<size_t>(nodes) + 1);
  for (int64_t i = 0; i <= nodes; ++i) offsets[i] = i * features;
  return {nodes, weight_->value.rows(), std::move(offsets), std::move(rows)};
}

Tensor CategoricalEncoder::forward(Tape& tape, const ModelInput& input) {
  const Categories& x = input.categories;
  check(x.columns == std::ssize(categories_),
        "encoder: {} categories of each node are needed, got {}", categories_.size(),
        x.defined()         ? std::to_string(x.columns)
        : input.x.defined() ? "float features"
                            : "none");
  return ops::spmm(tape, lookup(x), weight_->value);
}

EncodingModule::EncodingModule(std::vector<std::string> names, int64_t hidden)
    : names_(std::move(names)),
      columns_(num_columns(parse_encodings(names_))),
      norm_(add_module("norm", std::make_shared<nn::NormActResidual>(columns_))),
      lin_(add_module("lin", std::make_shared<nn::Linear>(columns_, hidden))) {}

Tensor EncodingModule::forward(Tape& tape, const ModelInput& input) {
  const int64_t nodes = input.graph.num_targets();
  const Tensor& p = input.encodings;
  check(p.defined() && p.rows() == nodes && p.columns() == columns_,
        "network: encodings ({}) are needed as a matrix of {} nodes and {} columns, got {}; "
        "data::with_encodings() computes them",
        fmt::join(names_, ", "), nodes, columns_, p.defined() ? describe(p) : "none");
  return lin_->forward(tape,
                       norm_->forward(tape, p, /*dropout=*/0, /*residual=*/{}, /*relu=*/false));
}

std::shared_ptr<EncoderModule> make_encoder(const ModelConfig& c) {
  switch (c.encoder) {
    case Encoder::kNone:
      return nullptr;
    case Encoder::kLinear:
      return std::make_shared<LinearEncoder>(c.features, c.hidden);
    case Encoder::kEmbedding:
    case Encoder::kAtom:
    case Encoder::kAst:
      return std::make_shared<CategoricalEncoder>(c.categories, c.hidden,
                                                  /*glorot=*/c.encoder == Encoder::kAtom,
                                                  /*clip_last=*/c.encoder == Encoder::kAst);
  }
  return nullptr;
}

}  // namespace egc::models
