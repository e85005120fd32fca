#include "egc/nn/conv_table.h"

#include <algorithm>

#include "egc/core/error.h"
#include "egc/core/nearest_name.h"
#include "egc/nn/gat_conv.h"
#include "egc/nn/plain_convs.h"
#include "egc/nn/relational_conv.h"
#include "egc/nn/towers.h"

namespace egc::nn {
namespace {

using ConvPtr = std::shared_ptr<Conv>;

template <class Layer>
ConvPtr plain(const ConvSpec& s) {
  return std::make_shared<Layer>(s.in_channels, s.out_channels);
}

template <class Layer>
ConvPtr with_edges(const ConvSpec& s) {
  return std::make_shared<Layer>(s.in_channels, s.out_channels, s.edges);
}

ConvPtr egc_s(const ConvSpec& s) { return std::make_shared<EgcConv>(egc_options("egc-s", s)); }
ConvPtr egc_m(const ConvSpec& s) { return std::make_shared<EgcConv>(egc_options("egc-m", s)); }

ConvPtr sage(const ConvSpec& s) {
  const AggregatorSet a = s.aggregators.value_or(AggregatorSet{Aggregator::kMean});
  check(a.size() == 1, "sage: one aggregator is needed, got {}", a.size());
  return std::make_shared<SageConv>(s.in_channels, s.out_channels, a[0]);
}

template <class Layer>
ConvPtr attention(const ConvSpec& s) {
  return std::make_shared<Layer>(s.in_channels, s.out_channels,
                                 ops::AttentionShape{s.heads.value_or(8)});
}

template <Aggregator kAggregator>
ConvPtr mpnn(const ConvSpec& s) {
  return std::make_shared<MpnnConv>(s.in_channels, s.out_channels, kAggregator, s.towers, s.edges);
}

ConvPtr pna(const ConvSpec& s) {
  return std::make_shared<PnaConv>(s.in_channels, s.out_channels, s.mean_log_degree, s.towers,
                                   s.edges);
}

ConvPtr rgcn(const ConvSpec& s) {
  return std::make_shared<RgcnConv>(s.in_channels, s.out_channels, s.schema);
}

ConvPtr regc(const ConvSpec& s) {
  RegcConvOptions o(s.in_channels, s.out_channels);
  o.heads = s.heads.value_or(o.heads);
  o.bases = s.bases.value_or(o.bases);
  o.aggregators = s.aggregators.value_or(o.aggregators);
  o.schema = s.schema;
  return std::make_shared<RegcConv>(o);
}

}  // namespace

EgcConvOptions egc_options(std::string_view name, const ConvSpec& s) {
  EgcConvOptions o =
      name == "egc-m"
          ? EgcConvOptions::egc_m(s.in_channels, s.out_channels,
                                  {Aggregator::kSymnorm, Aggregator::kMax, Aggregator::kMean})
          : EgcConvOptions::egc_s(s.in_channels, s.out_channels);
  o.heads = s.heads.value_or(o.heads);
  o.bases = s.bases.value_or(o.bases);
  o.aggregators = s.aggregators.value_or(o.aggregators);
  o.self_loops = s.self_loops;
  o.activation = s.activation;
  o.edges = s.edges;
  o.relu_messages = s.relu_messages;
  return o;
}

bool LayerDescriptor::takes(std::string_view option) const {
  return std::find(options.begin(), options.end(), option) != options.end();
}

const std::vector<LayerDescriptor>& layer_table() {
  using Options = std::vector<std::string_view>;
  static const Options egc = {"heads",      "bases",      "aggregators",
                              "self_loops", "activation", "message"};
  static const Options shared_egc = {"heads", "bases", "aggregators"};
  static const std::vector<LayerDescriptor> table = {
      {.name = "gcn", .make = &with_edges<GcnConv>, .takes_edges = true},
      {.name = "gin", .make = &with_edges<GinConv>, .takes_edges = true},
      {.name = "sage", .make = &sage, .options = {"aggregators"}},
      {.name = "gat", .make = &attention<GatConv>, .options = {"heads"}, .last_has_one_head = true},
      {.name = "gatv2",
       .make = &attention<Gatv2Conv>,
       .options = {"heads"},
       .last_has_one_head = true},
      {.name = "mpnn-sum",
       .make = &mpnn<Aggregator::kAdd>,
       .options = {"towers"},
       .takes_edges = true},
      {.name = "mpnn-max",
       .make = &mpnn<Aggregator::kMax>,
       .options = {"towers"},
       .takes_edges = true},
      {.name = "pna", .make = &pna, .options = {"towers", "mean_log_degree"}, .takes_edges = true},
      {.name = "egc-s", .make = &egc_s, .options = egc, .takes_edges = true},
      {.name = "egc-m", .make = &egc_m, .options = egc, .takes_edges = true},
      {.name = "egc", .make = &egc_s, .options = egc, .takes_edges = true},
      {.name = "rgcn", .make = &rgcn, .is_typed = true},
      {.name = "regc", .make = &regc, .options = shared_egc, .is_typed = true},
      {.name = "mlp", .make = &plain<MlpConv>},
      {.name = "ga-mlp", .options = {"aggregators"}}};
  return table;
}

const LayerDescriptor& layer_descriptor(std::string_view name) {
  const auto& table = layer_table();
  const auto it = std::find_if(table.begin(), table.end(),
                               [&](const LayerDescriptor& d) { return d.name == name; });
  if (it != table.end()) return *it;
  std::vector<std::string_view> known;
  for (const LayerDescriptor& d : table) known.push_back(d.name);
  fail(ErrorKind::kUsage, "unknown model \"{}\"{}", name, spell_known(name, known));
}

void check_takes(std::string_view layer, std::string_view option, std::string_view spelling) {
  const LayerDescriptor& d = layer_descriptor(layer);
  if (d.takes(option)) return;
  if (d.options.empty())
    fail(ErrorKind::kUsage, "{} does not take {}: it has no layer options", layer, spelling);
  fail(ErrorKind::kUsage, "{} does not take {}; it takes {}", layer, spelling,
       fmt::join(d.options, ", "));
}

std::shared_ptr<Conv> make_conv(std::string_view name, const ConvSpec& spec) {
  for (const LayerDescriptor& d : layer_table())
    if (d.name == name && d.make != nullptr) return d.make(spec);
  fail(ErrorKind::kUsage, "unknown layer \"{}\"{}", name, spell_known(name, conv_names()));
}

std::vector<std::string_view> conv_names() {
  std::vector<std::string_view> out;
  for (const LayerDescriptor& d : layer_table())
    if (d.make != nullptr) out.push_back(d.name);
  return out;
}

}  // namespace egc::nn
