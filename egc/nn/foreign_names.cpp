#include "egc/nn/foreign_names.h"

#include <vector>

#include "egc/core/error.h"

namespace egc::nn {
namespace {

template <class... Args>
void expect(bool ok, fmt::format_string<Args...> format, Args&&... args) {
  if (!ok) fail(ErrorKind::kModel, format, std::forward<Args>(args)...);
}

// Rows ordered (h, first, second) in the order (h, second, first).
NdArray reordered(const NdArray& rows, int64_t heads, int64_t first, int64_t second) {
  const int64_t found = rows.dim() >= 1 ? rows.size(0) : 0;
  expect(found == heads * first * second, "comb_weights must have {} rows, got {}",
         heads * first * second, found);
  std::vector<int64_t> sizes = {heads, first, second};
  sizes.insert(sizes.end(), rows.shape().begin() + 1, rows.shape().end());
  return rows.reshaped(sizes).swapped_inner().reshaped(rows.shape());
}

State egc_state(const ForeignShape& shape, const State& foreign) {
  if (!foreign.contains("bases_weight.0")) return foreign;
  State out;
  std::vector<NdArray> bases;
  for (int64_t b = 0; b < shape.bases; ++b) {
    const auto it = foreign.find("bases_weight." + std::to_string(b));
    expect(it != foreign.end(), "the state dict has no bases_weight.{}", b);
    bases.push_back(it->second.transposed());
  }
  out["bases_lin.weight"] = NdArray::concat(bases);
  for (const auto& [name, array] : foreign) {
    if (name.starts_with("bases_weight.")) continue;
    if (name.starts_with("comb_weights."))
      out["comb_lin." + name.substr(std::string("comb_weights.").size())] =
          reordered(array, shape.heads, shape.bases, shape.aggregators);
    else
      out[name] = array;
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
      expect(out.contains("lin_src.weight") && node.mapped().equals(out["lin_src.weight"]),
             "lin_dst.weight differs from lin_src.weight: this layer has one Linear for both");
  } else if (layer == "pna") {
    // Constants of the training set, here a part of the configuration.
    out.erase("aggr_module.avg_deg_lin");
    out.erase("aggr_module.avg_deg_log");
  } else if (layer == "regc") {
    if (const auto node = out.extract("bases_weight"))
      out["bases_lin.weight"] = node.mapped().transposed();
  }
  return out;
}

}  // namespace

State conv_state(std::string_view layer, const ForeignShape& shape, const State& foreign) {
  try {
    return translated(layer, shape, foreign);
  } catch (const Error& e) {  // shapes that do not fit together
    fail(ErrorKind::kModel, "{}", e.what());
  }
}

State authors_conv_state(std::string_view layer, const ForeignShape& shape, const State& own) {
  State out;
  for (const auto& [name, array] : own) {
    if (layer.starts_with("egc") && name == "bases_lin.weight") {
      const int64_t width = array.size(0) / shape.bases;
      for (int64_t b = 0; b < shape.bases; ++b)
        out["bases_weight." + std::to_string(b)] = array.rows(b * width, width).transposed();
    } else if (layer.starts_with("egc") && name.starts_with("comb_lin.")) {
      out["comb_weights." + name.substr(std::string("comb_lin.").size())] =
          reordered(array, shape.heads, shape.aggregators, shape.bases);
    } else {
      out[name] = array;
    }
  }
  // Two names for one Linear.
  if (layer == "gat" && own.contains("lin_src.weight"))
    out["lin_dst.weight"] = own.at("lin_src.weight");
  return out;
}

}  // namespace egc::nn
