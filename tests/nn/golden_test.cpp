// EgcConv against numbers of PyTorch Geometric and of the authors' release, through every
// instruction set. EGC_GOLDEN_DIR points elsewhere; the default is the copy beside the tests.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "egc/kernels/target.h"
#include "egc/nn/egc_conv.h"
#include "tests/ops/tensors.h"

namespace egc {
namespace {

using testing::relative_difference;
using testing::to_tensor;

std::filesystem::path golden_dir() {
  const char* dir = std::getenv("EGC_GOLDEN_DIR");
  return dir != nullptr ? dir : EGC_DEFAULT_GOLDEN_DIR;
}

std::vector<std::string> golden_cases() {
  std::vector<std::string> names;
  if (std::filesystem::is_directory(golden_dir()))
    for (const auto& entry : std::filesystem::directory_iterator(golden_dir()))
      if (entry.path().extension() == ".safetensors" &&
          entry.path().stem().string().starts_with("egc_"))
        names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

nn::EgcConvOptions options_of(const std::map<std::string, std::string>& meta) {
  nn::EgcConvOptions o(std::stoll(meta.at("in_channels")), std::stoll(meta.at("out_channels")));
  o.heads = std::stoll(meta.at("heads"));
  o.bases = std::stoll(meta.at("bases"));
  o.aggregators = parse_aggregators(nlohmann::json::parse(meta.at("aggregators")));
  const std::string& loops = meta.at("self_loops");
  o.self_loops = loops == "symnorm only" ? SelfLoops::kSymnorm : parse_self_loops(loops);
  if (meta.contains("activation"))
    o.activation = nn::parse_weight_activation(meta.at("activation"));
  return o;
}

// A golden file with its parameters and gradients in our names and orders.
struct Golden {
  explicit Golden(const std::string& name)
      : file(golden_dir() / (name + ".safetensors")), options(options_of(file.metadata())) {}

  bool by_authors() const { return file.has("param.bases_weight.0"); }
  at::Tensor get(const std::string& name) const { return to_tensor(file.at(name)); }

  at::Tensor theta(const std::string& prefix) const {
    if (!by_authors()) return get(prefix + ".bases_lin.weight");
    std::vector<at::Tensor> parts;
    for (int64_t b = 0; b < options.bases; ++b)
      parts.push_back(get(prefix + ".bases_weight." + std::to_string(b)).t());
    return at::cat(parts, 0);
  }
  at::Tensor phi(const std::string& prefix, const std::string& which) const {
    if (!by_authors()) return get(prefix + ".comb_lin." + which);
    const at::Tensor hba = get(prefix + ".comb_weights." + which);
    const int64_t a = options.aggregators.size();
    if (hba.dim() == 1)
      return hba.view({options.heads, options.bases, a}).transpose(1, 2).reshape({-1});
    return hba.view({options.heads, options.bases, a, -1})
        .transpose(1, 2)
        .reshape({hba.size(0), -1});
  }

  SafetensorsFile file;
  nn::EgcConvOptions options;
};

class GoldenTest : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenTest, OutputAndGradients) {
  const Golden golden(GetParam());
  // The authors' symmetric normalisation was computed in float32.
  const bool coarse = golden.by_authors() && golden.options.aggregators.has(Aggregator::kSymnorm);
  const double tolerance = coarse ? 1e-6 : 1e-9;
  const at::Tensor input = golden.get("in.x");
  const Csr graph = testing::graph_of(golden.get("in.edge_index"), input.size(0));
  for (const std::string& target : kernels::available_targets()) {
    kernels::force_target(target);
    nn::EgcConv conv(golden.options);
    conv->to(at::kDouble);
    {
      at::NoGradGuard no_grad;
      conv->bases_weight.copy_(golden.theta("param"));
      conv->comb_weight.copy_(golden.phi("param", "weight"));
      conv->comb_bias.copy_(golden.phi("param", "bias"));
      conv->bias.copy_(golden.get("param.bias"));
    }
    const at::Tensor x = input.clone().requires_grad_();
    const at::Tensor y = conv->forward(x, graph);
    (y * golden.get("in.upstream")).sum().backward();
    const auto check = [&](const char* what, const at::Tensor& got, const at::Tensor& want) {
      EXPECT_LE(relative_difference(got, want), tolerance) << target << " " << what;
    };
    check("y", y, golden.get("out.y"));
    check("grad x", x.grad(), golden.get("grad.x"));
    check("grad theta", conv->bases_weight.grad(), golden.theta("grad"));
    check("grad phi", conv->comb_weight.grad(), golden.phi("grad", "weight"));
    check("grad phi bias", conv->comb_bias.grad(), golden.phi("grad", "bias"));
    check("grad bias", conv->bias.grad(), golden.get("grad.bias"));
  }
  kernels::force_target("");
}

INSTANTIATE_TEST_SUITE_P(Layers, GoldenTest, ::testing::ValuesIn(golden_cases()),
                         [](const auto& info) { return info.param; });

TEST(GoldenDirectory, HasCases) {
  EXPECT_FALSE(golden_cases().empty()) << "no egc_*.safetensors in " << golden_dir();
}

}  // namespace
}  // namespace egc
