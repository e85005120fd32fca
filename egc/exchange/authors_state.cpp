#include "egc/exchange/states.h"

#include "egc/core/error.h"

namespace egc::exchange {
namespace {

using models::Encoder;
using models::ModelConfig;

// One category after the other.
State encoder_tables(const ModelConfig& c, const NdArray& weight) {
  if (c.encoder == Encoder::kEmbedding && c.categories.size() == 1)
    return {{"embedding.weight", weight}};
  constexpr const char* kAst[] = {"type_encoder", "attribute_encoder", "depth_encoder"};
  check(c.encoder != Encoder::kAst || c.categories.size() == std::size(kAst),
        "the authors' encoder for code has {} tables, but this network has {}", std::size(kAst),
        c.categories.size());
  State out;
  int64_t first = 0;
  for (size_t k = 0; k < c.categories.size(); ++k) {
    const std::string name =
        c.encoder == Encoder::kAst ? kAst[k] : fmt::format("atom_embedding_list.{}", k);
    out["embedding." + name + ".weight"] = weight.rows(first, c.categories[k]);
    first += c.categories[k];
  }
  return out;
}

// mlp: Linear, batch norm, ReLU, dropout between sizes, so a Linear is every fourth.
std::string head_name(const std::string& name) {
  for (const auto& [ours, offset] : {std::pair<std::string, int>{"head.mlp.linears.", 0},
                                     std::pair<std::string, int>{"head.mlp.norms.", 1}})
    if (name.starts_with(ours)) {
      const size_t dot = name.find('.', ours.size());
      const int k = std::stoi(name.substr(ours.size(), dot - ours.size()));
      return fmt::format("mlp.{}{}", 4 * k + offset, name.substr(dot));
    }
  if (name.starts_with("head.lin.")) return "out." + name.substr(9);
  if (name.starts_with("head.positions.")) return "token_predictors." + name.substr(15);
  fail(ErrorKind::kUsage, "the authors' release has no equivalent of the tensor \"{}\"", name);
}

}  // namespace

State authors_state(const ModelConfig& c, const State& own) {
  for (const char* other : {"pna", "ga-mlp", "mlp", "rgcn", "regc"})
    check(c.model != other,
          "cannot export networks with {} layers: the authors' networks have another structure",
          other);
  const bool nodes = c.task == Task::kNodeClassification;
  check(c.feed_forward == 0,
        "cannot export a network with feed_forward {}: the authors' networks have no feed-forward "
        "sublayers",
        c.feed_forward);
  check(!c.virtual_node,
        "cannot export a network with a virtual_node: the authors' networks have none");
  check(c.norm != models::Norm::kLayer,
        "cannot export a network with norm \"layer\": the authors' networks have batch norm");
  check(c.head_layers == ModelConfig().head_layers,
        "cannot export a head with head_layers {}: the heads of the authors' networks have {}",
        c.head_layers, ModelConfig().head_layers);
  check(c.head_norm, "cannot export a head without batch norm: the authors' heads have it");
  check(c.encoder != Encoder::kNone,
        "cannot export a network without an encoder: the authors' networks have one");
  check(c.encode.empty(),
        "cannot export a network that reads encodings of nodes ({}): the authors' networks have no "
        "place for them",
        fmt::join(c.encode, ", "));
  check(!c.edge_features,
        "cannot export a network of {} layers that use features of edges: the authors' layers take "
        "none; export it --to pyg, for egc.torch",
        c.model);
  State out;
  std::map<std::string, State> convs;  // by number
  for (const auto& [name, array] : own) {
    constexpr std::string_view kBlocks = "body.blocks.";
    if (name == "encoder.weight") {
      out.merge(encoder_tables(c, array));
    } else if (name.starts_with("encoder.lin.")) {
      out[(nodes ? "embed.0." : "embedding.") + name.substr(12)] = array;
    } else if (name.starts_with(kBlocks)) {
      const size_t dot = name.find('.', kBlocks.size());
      const std::string number = name.substr(kBlocks.size(), dot - kBlocks.size());
      const std::string rest = name.substr(dot + 1);
      if (rest.starts_with("conv."))
        convs[number][rest.substr(5)] = array;
      else if (nodes)
        out["bns." + number + "." + rest.substr(5)] = array;
      else
        out[fmt::format("graph_layers.{}.{}.{}", number, c.dropout_at.conv_input ? 2 : 1,
                        rest.substr(5))] = array;
    } else {
      out[head_name(name)] = array;
    }
  }
  const nn::ForeignShape shape = weighting_of(c);
  for (const auto& [number, state] : convs)
    for (const auto& [name, array] : nn::authors_conv_state(c.model, shape, state))
      out[nodes ? fmt::format("convs.{}.{}", number, name)
                : fmt::format("graph_layers.{}.{}.{}", number, c.dropout_at.conv_input ? 1 : 0,
                              name)] = array;
  return out;
}

}  // namespace egc::exchange
