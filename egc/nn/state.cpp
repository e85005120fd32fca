#include "egc/nn/state.h"

#include <ATen/ATen.h>

#include <vector>

#include "egc/core/error.h"

namespace egc::nn {
namespace {

template <class... Args>
void expect(bool ok, fmt::format_string<Args...> format, Args&&... args) {
  if (!ok) fail(ErrorKind::kModel, format, std::forward<Args>(args)...);
}

at::ScalarType scalar_type(DType type) {
  switch (type) {
    case DType::kF64:
      return at::kDouble;
    case DType::kF32:
      return at::kFloat;
    case DType::kF16:
      return at::kHalf;
    case DType::kBF16:
      return at::kBFloat16;
    case DType::kI64:
      return at::kLong;
    case DType::kI32:
      return at::kInt;
    case DType::kI16:
      return at::kShort;
    case DType::kI8:
      return at::kChar;
    case DType::kU8:
      return at::kByte;
    case DType::kBool:
      return at::kBool;
  }
  fail(ErrorKind::kModel, "a tensor of an unknown type");
}

// Rows ordered (h, first, second) in the order (h, second, first).
at::Tensor reordered(const at::Tensor& rows, int64_t heads, int64_t first, int64_t second) {
  expect(rows.size(0) == heads * first * second, "comb_weights must have {} rows, got {}",
         heads * first * second, rows.size(0));
  std::vector<int64_t> sizes = {heads, first, second};
  for (int64_t d = 1; d < rows.dim(); ++d) sizes.push_back(rows.size(d));
  return rows.reshape(sizes).transpose(1, 2).reshape(rows.sizes());
}

State egc_state(const ForeignShape& shape, const State& foreign) {
  if (!foreign.contains("bases_weight.0")) return foreign;
  State out;
  std::vector<at::Tensor> bases;
  for (int64_t b = 0; b < shape.bases; ++b) {
    const auto it = foreign.find("bases_weight." + std::to_string(b));
    expect(it != foreign.end(), "the state lacks bases_weight.{}", b);
    bases.push_back(it->second.t());
  }
  out["bases_lin.weight"] = at::cat(bases);
  for (const auto& [name, tensor] : foreign) {
    if (name.starts_with("bases_weight.")) continue;
    if (name.starts_with("comb_weights."))
      out["comb_lin." + name.substr(std::string("comb_weights.").size())] =
          reordered(tensor, shape.heads, shape.bases, shape.aggregators);
    else
      out[name] = tensor;
  }
  return out;
}

State translated(std::string_view layer, const ForeignShape& shape, const State& foreign) {
  if (layer.starts_with("egc")) return egc_state(shape, foreign);
  State out = foreign;
  if (layer == "gat") {
    // Newer versions of PyTorch Geometric call it lin.
    if (auto node = out.extract("lin.weight")) {
      node.key() = "lin_src.weight";
      out.insert(std::move(node));
    }
    // One Linear for both ends has two names in older ones.
    if (const auto node = out.extract("lin_dst.weight"))
      expect(out.contains("lin_src.weight") && at::equal(node.mapped(), out["lin_src.weight"]),
             "lin_dst.weight differs from lin_src.weight: this layer has one Linear for both");
  } else if (layer == "pna") {
    // Constants of the training set, here a part of the configuration.
    out.erase("aggr_module.avg_deg_lin");
    out.erase("aggr_module.avg_deg_log");
  } else if (layer == "regc") {
    if (const auto node = out.extract("bases_weight")) out["bases_lin.weight"] = node.mapped().t();
  }
  return out;
}

// "the tensors "a", "b" are missing; the network has no tensor "c""
std::string spell_differences(const std::vector<std::string>& unknown,
                              const std::vector<std::string>& missing) {
  const auto plural = [](const auto& names) { return names.size() > 1 ? "s" : ""; };
  std::string out;
  if (!missing.empty())
    out = fmt::format("the tensor{} \"{}\" {} missing", plural(missing),
                      fmt::join(missing, "\", \""), missing.size() > 1 ? "are" : "is");
  if (!unknown.empty())
    out += fmt::format("{}the network has no tensor{} \"{}\"", out.empty() ? "" : "; ",
                       plural(unknown), fmt::join(unknown, "\", \""));
  return out;
}

}  // namespace

at::Tensor to_tensor(const TensorView& view) {
  return at::from_blob(const_cast<std::byte*>(view.data.data()), view.shape,
                       scalar_type(view.dtype))
      .clone();
}

State state_of(const torch::nn::Module& module) {
  State out;
  for (const auto& p : module.named_parameters()) out[p.key()] = p.value().detach();
  for (const auto& b : module.named_buffers()) out[b.key()] = b.value().detach();
  return out;
}

void load_state(torch::nn::Module& module, const State& state, const std::string& where) {
  at::NoGradGuard no_grad;
  const State own = state_of(module);
  std::vector<std::string> unknown;
  std::vector<std::string> missing;
  for (const auto& [name, tensor] : state)
    if (!own.contains(name)) unknown.push_back(name);
  for (const auto& [name, tensor] : own)
    if (!state.contains(name)) missing.push_back(name);
  if (!unknown.empty() || !missing.empty())
    fail(ErrorKind::kModel, "{}: {}", where, spell_differences(unknown, missing));
  // All is checked before anything is changed.
  for (const auto& [name, tensor] : own) {
    const auto it = state.find(name);
    // A single value may come as [1] or as [].
    const bool fits =
        it->second.sizes() == tensor.sizes() || (it->second.numel() == 1 && tensor.numel() == 1);
    expect(fits, "{}: \"{}\" must be [{}], got [{}]", where, name, fmt::join(tensor.sizes(), ", "),
           fmt::join(it->second.sizes(), ", "));
  }
  for (auto [name, tensor] : own) tensor.copy_(state.at(name).reshape(tensor.sizes()));
}

State conv_state(std::string_view layer, const ForeignShape& shape, const State& foreign) {
  try {
    return translated(layer, shape, foreign);
  } catch (const c10::Error& e) {  // shapes that do not fit together
    fail(ErrorKind::kModel, "{}", e.what_without_backtrace());
  }
}

State authors_conv_state(std::string_view layer, const ForeignShape& shape, const State& own) {
  State out;
  for (const auto& [name, tensor] : own) {
    if (layer.starts_with("egc") && name == "bases_lin.weight") {
      const auto bases = tensor.chunk(shape.bases, 0);
      for (size_t b = 0; b < bases.size(); ++b)
        out["bases_weight." + std::to_string(b)] = bases[b].t().contiguous();
    } else if (layer.starts_with("egc") && name.starts_with("comb_lin.")) {
      out["comb_weights." + name.substr(std::string("comb_lin.").size())] =
          reordered(tensor, shape.heads, shape.aggregators, shape.bases);
    } else {
      out[name] = tensor;
    }
  }
  // Two names for one Linear.
  if (layer == "gat" && own.contains("lin_src.weight"))
    out["lin_dst.weight"] = own.at("lin_src.weight");
  return out;
}

}  // namespace egc::nn
