#include "egc/models/encoder.h"

#include <torch/nn/init.h>

#include <algorithm>
#include <numeric>

#include "egc/core/error.h"
#include "egc/nn/parameter.h"
#include "egc/ops/spmm.h"

namespace egc::models {

LinearEncoder::LinearEncoder(int64_t features, int64_t hidden)
    : lin_(register_module("lin", nn::Linear(features, hidden))) {}

at::Tensor LinearEncoder::forward(const at::Tensor& x) { return lin_->forward(x); }

CategoricalEncoder::CategoricalEncoder(std::vector<int64_t> categories, int64_t hidden, bool glorot,
                                       bool clip_last)
    : categories_(std::move(categories)), clip_last_(clip_last) {
  const int64_t rows = std::accumulate(categories_.begin(), categories_.end(), int64_t{0});
  weight_ = register_parameter("weight", nn::new_parameter({rows, hidden}));
  at::NoGradGuard no_grad;
  int64_t first = 0;
  for (const int64_t count : categories_) {
    at::Tensor table = weight_.narrow(0, first, count);
    glorot ? torch::nn::init::xavier_uniform_(table) : table.normal_();
    first += count;
  }
}

at::Tensor CategoricalEncoder::forward(const at::Tensor& x) {
  const auto features = static_cast<int64_t>(categories_.size());
  check(x.dim() == 2 && x.size(1) == features && x.scalar_type() == at::kLong,
        "encoder: features must be int64 [N, {}], got [{}] {}", features,
        fmt::join(x.sizes(), ", "), c10::toString(x.scalar_type()));
  const at::Tensor indices = x.contiguous();
  const int64_t nodes = x.size(0);
  const int64_t* value = indices.data_ptr<int64_t>();
  std::vector<int32_t> rows(static_cast<size_t>(nodes * features));
  for (int64_t i = 0; i < nodes; ++i) {
    int64_t first = 0;
    for (int64_t f = 0; f < features; ++f) {
      int64_t v = value[i * features + f];
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
  return ops::spmm(Csr(nodes, weight_.size(0), std::move(offsets), std::move(rows)), weight_);
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
