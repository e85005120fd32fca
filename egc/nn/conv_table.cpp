#include "egc/nn/conv_table.h"

#include "egc/core/named_table.h"
#include "egc/nn/gat_conv.h"
#include "egc/nn/plain_convs.h"
#include "egc/nn/relational_conv.h"
#include "egc/nn/towers.h"

namespace egc::nn {
namespace {

using ConvPtr = std::shared_ptr<Conv>;
using Factory = ConvPtr (*)(const ConvSpec&);

template <class Layer>
ConvPtr plain(const ConvSpec& s) {
  return std::make_shared<Layer>(s.in_channels, s.out_channels);
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
  return std::make_shared<MpnnConv>(s.in_channels, s.out_channels, kAggregator, s.towers);
}

ConvPtr pna(const ConvSpec& s) {
  return std::make_shared<PnaConv>(s.in_channels, s.out_channels, s.mean_log_degree, s.towers);
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

// In the order of the paper's tables; what they do not have comes last.
const NamedTable<Factory>& table() {
  static const NamedTable<Factory> convs("layer", {{"gcn", &plain<GcnConv>},
                                                   {"gin", &plain<GinConv>},
                                                   {"sage", &sage},
                                                   {"gat", &attention<GatConv>},
                                                   {"gatv2", &attention<Gatv2Conv>},
                                                   {"mpnn-sum", &mpnn<Aggregator::kAdd>},
                                                   {"mpnn-max", &mpnn<Aggregator::kMax>},
                                                   {"pna", &pna},
                                                   {"egc-s", &egc_s},
                                                   {"egc-m", &egc_m},
                                                   {"egc", &egc_s},
                                                   {"rgcn", &rgcn},
                                                   {"regc", &regc},
                                                   {"mlp", &plain<MlpConv>}});
  return convs;
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
  return o;
}

std::shared_ptr<Conv> make_conv(std::string_view name, const ConvSpec& spec) {
  return table().at(name)(spec);
}

std::vector<std::string_view> conv_names() { return table().names(); }

}  // namespace egc::nn
