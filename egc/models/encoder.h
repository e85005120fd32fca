// From the features of nodes to `hidden` columns.
#pragma once

#include <memory>

#include "egc/graph/node_encodings.h"
#include "egc/models/network.h"
#include "egc/nn/batch_norm.h"
#include "egc/nn/linear.h"

namespace egc::models {

class EncoderModule : public nn::Module {
 public:
  virtual Tensor forward(Tape& tape, const ModelInput& input) = 0;  // [N, hidden]
};

// Of float features.
class LinearEncoder : public EncoderModule {
 public:
  LinearEncoder(int64_t features, int64_t hidden);
  Tensor forward(Tape& tape, const ModelInput& input) override;

 private:
  nn::LinearPtr lin_;
};

// The sum of one embedding for each categorical feature. The tables lie one under the other in one
// matrix, so the sum is one sparse product, and so is its gradient.
class CategoricalEncoder : public EncoderModule {
 public:
  // clip_last: values of the last feature above its table count as the greatest.
  CategoricalEncoder(std::vector<int64_t> categories, int64_t hidden, bool glorot, bool clip_last);
  void reset_parameters(Rng& rng) override;
  Tensor forward(Tape& tape, const ModelInput& input) override;

 private:
  Csr lookup(const Categories& x) const;

  std::vector<int64_t> categories_;
  bool glorot_;
  bool clip_last_;
  nn::ParameterPtr weight_;  // [sum of categories, hidden]
};

// What encodings of nodes add to the encoder's result: a Linear of their batch norm. To add two
// Linears is to apply one to features and encodings side by side.
//
// Columns that are zero but for a few nodes (in molecules, walks that return after three steps)
// have running variances that jump from batch to batch: where validation jumps with them, a smaller
// norm_momentum helps.
class EncodingModule : public nn::Module {
 public:
  EncodingModule(std::vector<std::string> names, int64_t hidden);
  Tensor forward(Tape& tape, const ModelInput& input);  // [N, hidden]

 private:
  std::vector<std::string> names_;
  int64_t columns_;
  nn::NormActResidualPtr norm_;  // "norm"
  nn::LinearPtr lin_;            // "lin"
};

// Null for Encoder::kNone.
std::shared_ptr<EncoderModule> make_encoder(const ModelConfig& config);

}  // namespace egc::models
