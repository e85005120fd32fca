// The C interface: EGC with features of edges, against the engine's layer to the bit and against
// numbers of another implementation; features and terms that are wrong.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "egc/nn/egc_conv.h"
#include "tests/c_api/layers.h"
#include "tests/kernels/random_problem.h"
#include "tests/nn/golden_files.h"
#include "tests/tensor/gradcheck.h"
#include "tests/tensor/tensors.h"

namespace egc {
namespace {

using testing::aggregator_set;
using testing::awkward_graph;
using testing::close;
using testing::dirty;
using testing::Graph;
using testing::layer_of;
using testing::random_tensor;
using testing::same;

// A list of edges with features, as callers have it.
struct EdgeList {
  int64_t nodes = 0;
  std::vector<int64_t> source, target;
  std::vector<float> weights;
  std::vector<int64_t> counts, categories;
  std::vector<double> numbers;
  int64_t number_columns = 0;

  egc_edge_features features() const {
    egc_edge_features f = {};
    f.category_dtype = EGC_INT64;
    f.number_dtype = EGC_FLOAT64;
    f.category_columns = std::ssize(counts);
    f.categories = categories.data();
    f.num_categories = counts.data();
    f.number_columns = number_columns;
    f.numbers = numbers.data();
    return f;
  }
  egc_status make(const egc_edge_features& f, Graph& graph) const {
    egc_graph* out = nullptr;
    const egc_status status = egc_graph_from_edges_with_features(
        nodes, EGC_SAME_NODES, std::ssize(source), source.data(), target.data(),
        weights.empty() ? nullptr : weights.data(), &f, &out);
    graph.reset(out);
    return status;
  }
  Graph graph() const {
    Graph out;
    EXPECT_EQ(make(features(), out), EGC_OK) << egc_last_error();
    return out;
  }
  // The same for the engine.
  Csr csr() const {
    EdgeFeatures f =
        edge_types(std::vector<int32_t>(categories.begin(), categories.end()), std::ssize(counts));
    f.columns = number_columns;
    f.exact = numbers;
    return Csr::from_edges(nodes, source, target, weights, f);
  }
};

// Backwards, so that features must follow their edges.
EdgeList awkward_edges(bool weighted, bool categories, bool numbers) {
  const Csr csr = awkward_graph(weighted);
  EdgeList out;
  out.nodes = csr.num_targets();
  for (int64_t i = out.nodes - 1; i >= 0; --i)
    for (int64_t e = csr.offsets()[i + 1] - 1; e >= csr.offsets()[i]; --e) {
      out.source.push_back(csr.sources()[e]);
      out.target.push_back(i);
      if (weighted) out.weights.push_back(csr.weights()[e]);
      if (categories) {
        out.categories.push_back(e % 4);
        out.categories.push_back(e % 3);
      }
      for (int64_t k = 0; numbers && k < 2; ++k)
        out.numbers.push_back(std::sin(static_cast<double>(3 * e + k)));
    }
  if (categories) out.counts = {5, 3};  // one category that no edge has
  if (numbers) out.number_columns = 2;
  return out;
}

// A layer of the engine with random parameters; the C interface computes on their memory.
std::shared_ptr<nn::EgcConv> engine_layer(const egc_layer& c, const EdgeList& edges, bool relu) {
  nn::EgcConvOptions o(c.in_channels, c.heads * c.width);
  o.heads = c.heads;
  o.bases = c.bases;
  std::vector<Aggregator> list;
  for (int k = 0; k < c.num_aggregators; ++k)
    list.push_back(static_cast<Aggregator>(c.aggregators[k]));
  o.aggregators = AggregatorSet(std::span<const Aggregator>(list));
  o.self_loops = static_cast<SelfLoops>(c.self_loops);
  o.edges = {edges.counts, edges.number_columns};
  o.relu_messages = relu;
  auto conv = std::make_shared<nn::EgcConv>(o);
  conv->to(c.dtype == EGC_FLOAT64 ? DType::kF64 : DType::kF32);
  uint64_t seed = 10;
  for (const auto& [name, p] : conv->named_parameters())
    p->value.copy_from(
        random_tensor(p->value.rows(), p->value.columns(), ++seed, p->value.dtype()));
  return conv;
}

const void* memory(const nn::ParameterPtr& p) { return p ? p->value.raw() : nullptr; }

egc_edge_term term_of(const nn::EgcConv& conv) {
  egc_edge_term out = {};
  out.message = conv.options.relu_messages ? EGC_MESSAGE_RELU : EGC_MESSAGE_IDENTITY;
  out.table = memory(conv.edges->table);
  out.linear = conv.edges->lin ? memory(conv.edges->lin->weight) : nullptr;
  out.bias = conv.edges->lin ? memory(conv.edges->lin->bias) : nullptr;
  out.self_edge = memory(conv.edges->self_edge);
  return out;
}

// y and the gradients by name, of the C interface.
std::map<std::string, Tensor> results(const Graph& graph, const egc_layer& layer,
                                      const nn::EgcConv& conv, const Tensor& x,
                                      const Tensor& grad_y) {
  const DType type = x.dtype();
  const egc_edge_term term = term_of(conv);
  std::map<std::string, Tensor> out = {{"y", dirty(x.rows(), grad_y.columns(), type)},
                                       {"x", dirty(x.rows(), x.columns(), type)}};
  for (const auto& [name, p] : conv.named_parameters())
    out[name] = dirty(p->value.rows(), p->value.columns(), type);
  const auto at = [&](const char* name) { return out.contains(name) ? out[name].raw() : nullptr; };
  const Tensor saved = dirty(1, egc_conv_saved_size(graph.get(), &layer), type);
  EXPECT_EQ(egc_edge_conv_forward(graph.get(), &layer, &term, x.raw(), nullptr,
                                  memory(conv.bases_weight), memory(conv.comb_weight),
                                  memory(conv.comb_bias), memory(conv.bias), at("y"), saved.raw()),
            EGC_OK)
      << egc_last_error();
  egc_edge_gradients of_edges = {};
  of_edges.table = at("edges.table");
  of_edges.linear = at("edges.lin.weight");
  of_edges.bias = at("edges.lin.bias");
  of_edges.self_edge = at("edges.self_edge");
  EXPECT_EQ(egc_edge_conv_backward(
                graph.get(), &layer, &term, x.raw(), nullptr, memory(conv.bases_weight),
                memory(conv.comb_weight), grad_y.raw(), saved.raw(), &of_edges, at("x"), nullptr,
                at("bases_lin.weight"), at("comb_lin.weight"), at("comb_lin.bias"), at("bias")),
            EGC_OK)
      << egc_last_error();
  // Gradients of edges that nobody wants change nothing of the others.
  const Tensor alone = dirty(x.rows(), x.columns(), type);
  EXPECT_EQ(egc_edge_conv_backward(graph.get(), &layer, &term, x.raw(), nullptr,
                                   memory(conv.bases_weight), memory(conv.comb_weight),
                                   grad_y.raw(), saved.raw(), nullptr, alone.raw(), nullptr,
                                   nullptr, nullptr, nullptr, nullptr),
            EGC_OK)
      << egc_last_error();
  EXPECT_TRUE(same(alone, out["x"]));
  return out;
}

TEST(CApiEdges, EgcIsTheEnginesLayer) {
  for (const DType type : {DType::kF32, DType::kF64})
    for (const int kind : {1, 2, 3})
      for (const bool weighted : {false, true})
        for (const int mask : {1, 2, 4, 8, 64, 4 | 8 | 2, 127})
          for (const bool relu : {false, true}) {
            const EdgeList edges = awkward_edges(weighted, kind & 1, kind & 2);
            const Graph graph = edges.graph();
            const egc_layer layer = layer_of(aggregator_set(mask), SelfLoops::kAll, type);
            const auto conv = engine_layer(layer, edges, relu);
            const Tensor x = random_tensor(14, 4, 1, type).with_gradient();
            const Tensor grad_y = random_tensor(14, 10, 6, type);
            auto ours = results(graph, layer, *conv, x, grad_y);
            Tape tape = Tape::training(0);
            const Tensor y = conv->forward(tape, x, edges.csr());
            EXPECT_TRUE(same(ours["y"], y));
            tape.backward(y, grad_y);
            EXPECT_TRUE(same(ours["x"], x.gradient()->value()));
            for (const auto& [name, p] : conv->named_parameters())
              EXPECT_TRUE(same(ours[name], p->grad()))
                  << name << ", aggregators " << mask << ", features " << kind;
          }
}

class CApiGoldenEdges : public ::testing::TestWithParam<std::string> {};

TEST_P(CApiGoldenEdges, OutputAndGradients) {
  const SafetensorsFile file(GetParam());
  const auto& meta = file.metadata();
  const auto tensor = [&](const std::string& name) {
    return NdArray(file.at(name)).to_tensor(DType::kF64);
  };
  EdgeList edges;
  const Tensor x = tensor("in.x");
  const Tensor y = tensor("out.y");
  edges.nodes = x.rows();
  const NdArray edge_index(file.at("in.edge_index"));
  const auto ends = edge_index.values<int64_t>();
  edges.source.assign(ends.begin(), ends.begin() + std::ssize(ends) / 2);
  edges.target.assign(ends.begin() + std::ssize(ends) / 2, ends.end());
  const NdArray attr(file.at("in.edge_attr"));
  if (meta.at("edge_features") == "categorical") {
    const auto values = attr.values<int64_t>();
    edges.categories.assign(values.begin(), values.end());
    edges.counts = {tensor("param.edge_table").rows()};
  } else {
    const Tensor values = attr.to_tensor(DType::kF64);
    edges.number_columns = values.columns();
    edges.numbers.assign(values.data<double>(), values.data<double>() + values.size());
  }
  const std::string loops = meta.at("self_loops");
  egc_layer layer = layer_of(
      parse_aggregators(nlohmann::json::parse(meta.at("aggregators"))),
      loops == "symnorm only" ? SelfLoops::kSymnorm : parse_self_loops(loops), DType::kF64);
  layer.in_channels = x.columns();
  layer.heads = std::stoll(meta.at("heads"));
  layer.bases = std::stoll(meta.at("bases"));
  layer.width = y.columns() / layer.heads;
  const auto conv = engine_layer(layer, edges, meta.at("message") == "relu");
  const auto theirs = [](std::string name) {
    if (name == "edges.table") return std::string("edge_table");
    if (name == "edges.self_edge") return std::string("self_edge");
    return name.starts_with("edges.lin.") ? "edge_lin." + name.substr(10) : name;
  };
  for (const auto& [name, p] : conv->named_parameters())
    p->value.copy_from(
        tensor("param." + theirs(name)).reshaped(p->value.rows(), p->value.columns()));
  auto ours = results(edges.graph(), layer, *conv, x, tensor("in.upstream"));
  EXPECT_TRUE(close(ours["y"], y, 1e-9));
  EXPECT_TRUE(close(ours["x"], tensor("grad.x"), 1e-9));
  for (const auto& [name, p] : conv->named_parameters())
    EXPECT_TRUE(close(ours[name],
                      tensor("grad." + theirs(name)).reshaped(p->value.rows(), p->value.columns()),
                      1e-9))
        << name;
}

INSTANTIATE_TEST_SUITE_P(Edges, CApiGoldenEdges,
                         ::testing::ValuesIn(testing::golden_files({"egc_edge_"})),
                         [](const auto& info) { return testing::golden_name(info.param); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CApiGoldenEdges);

// What no edge uses has the gradient 0; added self-loops have their edge all the same.
TEST(CApiEdges, GraphsWithoutEdges) {
  EdgeList edges;
  edges.nodes = 3;
  edges.counts = {4};
  edges.number_columns = 2;
  const egc_layer layer = layer_of(aggregator_set(1), SelfLoops::kAll, DType::kF64);
  const auto conv = engine_layer(layer, edges, false);
  const Tensor x = random_tensor(3, 4, 1, DType::kF64);
  const Tensor grad_y = random_tensor(3, 10, 2, DType::kF64);
  auto ours = results(edges.graph(), layer, *conv, x, grad_y);
  for (const char* name : {"edges.table", "edges.lin.weight", "edges.lin.bias"})
    EXPECT_TRUE(
        same(ours[name], Tensor::zeros(ours[name].rows(), ours[name].columns(), DType::kF64)))
        << name;
  // The sum's gradient by self_edge is that of a bias of the bases: by differences.
  const double step = 1e-6;
  double* first = conv->edges->self_edge->value.data<double>();
  double change = 0;
  for (const double sign : {1.0, -1.0}) {
    *first += sign * step;
    const Tensor y = results(edges.graph(), layer, *conv, x, grad_y)["y"];
    *first -= sign * step;
    for (int64_t k = 0; k < y.size(); ++k)
      change += sign * y.data<double>()[k] * grad_y.data<double>()[k];
  }
  EXPECT_NEAR(ours["edges.self_edge"].item(0, 0), change / (2 * step), 1e-7);
  EXPECT_GT(std::abs(change), step * 1e-3);
}

TEST(CApiEdges, TypesOfFeatures) {
  const EdgeList edges = awkward_edges(false, true, true);
  const std::vector<int32_t> narrow(edges.categories.begin(), edges.categories.end());
  const std::vector<float> single(edges.numbers.begin(), edges.numbers.end());
  egc_edge_features f = edges.features();
  f.category_dtype = EGC_INT32;
  f.categories = narrow.data();
  f.number_dtype = EGC_FLOAT32;
  f.numbers = single.data();
  Graph other;
  ASSERT_EQ(edges.make(f, other), EGC_OK) << egc_last_error();
  const egc_layer layer = layer_of(aggregator_set(127), SelfLoops::kSymnorm, DType::kF32);
  const auto conv = engine_layer(layer, edges, true);
  const Tensor x = random_tensor(14, 4, 1, DType::kF32);
  const Tensor grad_y = random_tensor(14, 10, 2, DType::kF32);
  auto wide = results(edges.graph(), layer, *conv, x, grad_y);
  for (const auto& [name, values] : results(other, layer, *conv, x, grad_y))
    EXPECT_TRUE(same(values, wide[name])) << name;
}

TEST(CApiEdges, WrongFeaturesAreRefused) {
  const EdgeList edges = awkward_edges(false, true, true);
  Graph graph;
  const auto refused = [&](egc_status status, const std::string& part, auto change) {
    EdgeList e = edges;
    egc_edge_features f = e.features();
    change(e, f);
    EXPECT_EQ(e.make(f, graph), status) << part;
    EXPECT_EQ(graph, nullptr);
    EXPECT_NE(std::string(egc_last_error()).find(part), std::string::npos) << egc_last_error();
  };
  using F = egc_edge_features;
  const auto bad = EGC_BAD_ARGUMENT;
  refused(bad, "num_categories is NULL", [](auto&, F& f) { f.num_categories = nullptr; });
  refused(bad, "categories is NULL", [](auto&, F& f) { f.categories = nullptr; });
  refused(bad, "numbers is NULL", [](auto&, F& f) { f.numbers = nullptr; });
  refused(bad, "category_columns must be", [](auto&, F& f) { f.category_columns = -1; });
  refused(bad, "number_columns must be", [](auto&, F& f) { f.number_columns = 1 << 20; });
  refused(bad, "EGC_INT32 or", [](auto&, F& f) { f.category_dtype = EGC_FLOAT32; });
  refused(bad, "EGC_FLOAT32 or", [](auto&, F& f) { f.number_dtype = EGC_UINT8; });
  refused(bad, "reserved must be 0", [](auto&, F& f) { f.reserved[3] = 1; });
  refused(bad, "num_categories[1] must be", [](auto& e, F&) { e.counts[1] = 0; });
  refused(bad, "num_categories[1] must be from 1 to 2147483642",
          [](auto& e, F&) { e.counts[1] = int64_t{1} << 31; });
  refused(EGC_BAD_DATA, "category 1 of edge 2 must be in [0, 3), got 3",
          [](auto& e, F&) { e.categories[5] = 3; });
  refused(EGC_BAD_DATA, "category 0 of edge 1 must be in [0, 5), got -1",
          [](auto& e, F&) { e.categories[2] = -1; });
  refused(EGC_BAD_DATA, "got 4294967296", [](auto& e, F&) { e.categories[2] = int64_t{1} << 32; });
  refused(EGC_BAD_DATA, "feature 1 of edge 3 must be finite, got nan",
          [](auto& e, F&) { e.numbers[7] = std::numeric_limits<double>::quiet_NaN(); });
  egc_graph* made = nullptr;
  EXPECT_EQ(egc_graph_from_edges_with_features(0, EGC_SAME_NODES, 0, nullptr, nullptr, nullptr,
                                               nullptr, &made),
            bad);
  EXPECT_NE(std::string(egc_last_error()).find("features is NULL"), std::string::npos);
  EXPECT_EQ(edges.make(egc_edge_features{}, graph), EGC_OK);  // none
}

TEST(CApiEdges, WrongTermsAreRefused) {
  const EdgeList edges = awkward_edges(false, true, false);
  const Graph graph = edges.graph();
  const egc_layer layer = layer_of(aggregator_set(1), SelfLoops::kAll, DType::kF32);
  const auto conv = engine_layer(layer, edges, true);
  const Tensor x = random_tensor(14, 4, 1, DType::kF32);
  const Tensor y = dirty(14, 10, DType::kF32);
  const Tensor saved = Tensor::zeros(1, egc_conv_saved_size(graph.get(), &layer), DType::kF32);
  const auto run = [&](const egc_edge_term* term, const egc_edge_gradients* gradients) {
    return gradients == nullptr
               ? egc_edge_conv_forward(graph.get(), &layer, term, x.raw(), nullptr,
                                       memory(conv->bases_weight), memory(conv->comb_weight),
                                       nullptr, nullptr, y.raw(), nullptr)
               : egc_edge_conv_backward(graph.get(), &layer, term, x.raw(), nullptr,
                                        memory(conv->bases_weight), memory(conv->comb_weight),
                                        y.raw(), saved.raw(), gradients, nullptr, nullptr, nullptr,
                                        nullptr, nullptr, nullptr);
  };
  const auto refused = [&](const std::string& part, auto change, bool backward = false) {
    egc_edge_term term = term_of(*conv);
    egc_edge_gradients gradients = {};
    change(term, gradients);
    EXPECT_EQ(run(&term, backward ? &gradients : nullptr), EGC_BAD_ARGUMENT) << part;
    EXPECT_NE(std::string(egc_last_error()).find(part), std::string::npos) << egc_last_error();
  };
  using T = egc_edge_term;
  using G = egc_edge_gradients;
  refused("egc_edge_term.message must be", [](T& t, G&) { t.message = 2; });
  refused("egc_edge_term.reserved must be 0", [](T& t, G&) { t.reserved[0] = 1; });
  refused("linear needs a graph whose edges have numbers", [](T& t, G&) { t.linear = t.table; });
  refused(
      "egc_edge_gradients.linear is of a part",
      [&](T&, G& g) { g.linear = const_cast<void*>(y.raw()); }, true);
  refused(
      "egc_edge_gradients.reserved must be 0", [](T&, G& g) { g.reserved[1] = 1; }, true);
  EXPECT_EQ(run(nullptr, nullptr), EGC_BAD_ARGUMENT);
  EXPECT_NE(std::string(egc_last_error()).find("edges is NULL"), std::string::npos);
  const Graph plain = testing::graph_of(awkward_graph());
  const T term = term_of(*conv);
  EXPECT_EQ(egc_edge_conv_forward(plain.get(), &layer, &term, x.raw(), nullptr,
                                  memory(conv->bases_weight), memory(conv->comb_weight), nullptr,
                                  nullptr, y.raw(), nullptr),
            EGC_BAD_ARGUMENT);
  EXPECT_NE(std::string(egc_last_error()).find("table needs a graph whose edges have categories"),
            std::string::npos);
}

}  // namespace
}  // namespace egc
