#include "egc/app/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "egc/app/molecule_picture.h"
#include "egc/core/atomic_file.h"
#include "egc/core/claim_file.h"
#include "egc/core/error.h"
#include "egc/data/slice.h"
#include "egc/inference/model.h"
#include "egc/models/explain.h"
#include "egc/report/charts.h"
#include "egc/report/graph_layout.h"
#include "egc/report/graph_picture.h"
#include "egc/report/html.h"
#include "egc/train/run_config.h"
#include "egc/train/task_data.h"

namespace egc::app {
namespace {

namespace fs = std::filesystem;
using models::LayerTerms;

// How much of a node's squares each aggregator, basis and head has.
struct Shares {
  std::vector<double> aggregators, bases, heads;
};

Shares shares_of(const LayerTerms& layer, int64_t node) {
  Shares out{std::vector<double>(layer.aggregators.size()),
             std::vector<double>(static_cast<size_t>(layer.bases)),
             std::vector<double>(static_cast<size_t>(layer.heads))};
  const float* norms = layer.norms.data<float>() + node * layer.norms.columns();
  double all = 0;
  for (double& head : out.heads)
    for (double& aggregator : out.aggregators)
      for (double& basis : out.bases) {
        const double square = static_cast<double>(*norms) * *norms;
        ++norms;
        head += square;
        aggregator += square;
        basis += square;
        all += square;
      }
  for (auto* shares : {&out.aggregators, &out.bases, &out.heads})
    for (double& share : *shares) share /= std::max(all, 1e-300);
  return out;
}

void add(std::vector<double>& to, const std::vector<double>& more) {
  to.resize(more.size(), 0);
  for (size_t k = 0; k < more.size(); ++k) to[k] += more[k];
}

std::vector<std::string> names_of(const AggregatorSet& aggregators) {
  std::vector<std::string> out;
  for (const Aggregator a : aggregators) out.emplace_back(name_of(a));
  return out;
}

class Explainer {
 public:
  explicit Explainer(const ExplainOptions& options)
      : options_(options), model_(inference::Model::load(options.model)) {
    if (!options.out.empty()) csv_ = "graph,node,layer";
  }

  inference::Model& model() { return model_; }

  void take(const inference::BatchTensors& batch) {
    const auto layers = models::explain(model_.network(), batch.input);
    if (result_.layers.empty()) begin(layers);
    const std::vector<int64_t> rows = rows_of(batch);
    for (size_t k = 0; k < layers.size(); ++k) {
      ExplainLayer& sums = result_.layers[k];
      size_t graph = 0;
      for (const int64_t i : rows) {
        const Shares shares = shares_of(layers[k], i);
        add(sums.aggregators, shares.aggregators);
        add(sums.bases, shares.bases);
        add(sums.heads, shares.heads);
        if (!options_.out.empty()) add_row(batch, graph, i, k, shares);
      }
    }
    result_.nodes += std::ssize(rows);
    graphs_ += std::max<int64_t>(1, std::ssize(batch.input.first_node) - 1);
  }

  // The graph of a batch of one, with a picture for every layer. `given`: the input that has it.
  void draw(const inference::BatchTensors& batch, const data::Dataset& given) {
    const models::ModelInput& in = batch.input;
    const int64_t nodes = in.graph.num_targets();
    constexpr int64_t kMaxNodes = 200;  // beyond it nothing can be seen
    if (nodes > kMaxNodes || nodes < 2) {
      pictures_ +=
          fmt::format("<p>graph {}: {} nodes, not drawn</p>\n", id_of(batch, 0, drawn_++), nodes);
      return;
    }
    const auto [values, vectors] = models::graph_spectrum(in.graph);
    const auto layers = models::explain(model_.network(), in, vectors.to(DType::kF32));
    const int64_t id = batch.ids.empty() ? 0 : batch.ids.front();
    report::GraphPicture picture;
    picture.kind_names = names_of(layers.front().aggregators);
    add_graph(picture, given, id);
    // Slow waves over the graph are a rough map of it.
    for (int64_t i = 0; i < nodes; ++i)
      picture.places.emplace_back(vectors.item(i, 1),
                                  vectors.item(i, std::min<int64_t>(2, nodes - 1)));
    picture.places = report::lay_out(picture.places, picture.edges);
    pictures_ += fmt::format("<h2>Graph {}</h2>\n{}<div class=\"charts\">\n",
                             id_of(batch, 0, drawn_++), report::cards(answer_to(given, id)));
    for (size_t k = 0; k < layers.size(); ++k) {
      picture.title = fmt::format("Layer {}: aggregator with the largest share", k + 1);
      picture.kinds.clear();
      picture.notes.clear();
      for (int64_t i = 0; i < nodes; ++i) {
        const std::vector<double> shares = shares_of(layers[k], i).aggregators;
        picture.kinds.push_back(std::max_element(shares.begin(), shares.end()) - shares.begin());
        std::string note = fmt::format("node {}:", i);
        if (!picture.symbols.empty())
          note.insert(0, picture.symbols[static_cast<size_t>(i)] + ", ");
        for (size_t a = 0; a < shares.size(); ++a)
          note += fmt::format(" {} {:.0f} %", picture.kind_names[a], 100 * shares[a]);
        picture.notes.push_back(note);
      }
      pictures_ += report::to_svg(picture);
      if (layers[k].gain.defined()) pictures_ += gain_map(layers[k].gain, k, values);
    }
    pictures_ += "</div>\n";
  }

  ExplainResult finish() {
    check_data(result_.nodes > 0, "the input has no nodes to explain");
    const auto nodes = static_cast<double>(result_.nodes);
    for (ExplainLayer& layer : result_.layers) {
      for (auto* shares : {&layer.aggregators, &layer.bases, &layer.heads})
        for (double& s : *shares) s /= nodes;
      add(result_.all, layer.aggregators);
    }
    for (double& s : result_.all) s /= static_cast<double>(result_.layers.size());
    if (!options_.out.empty()) write();
    return result_;
  }

 private:
  void begin(const std::vector<LayerTerms>& layers) {
    result_.layers.resize(layers.size());
    result_.aggregators = names_of(layers.front().aggregators);
    if (options_.out.empty()) return;
    for (const std::string& name : result_.aggregators) csv_ += "," + name;
    for (int64_t b = 0; b < layers.front().bases; ++b) csv_ += fmt::format(",basis_{}", b);
    for (int64_t h = 0; h < layers.front().heads; ++h) csv_ += fmt::format(",head_{}", h);
    csv_ += "\n";
  }

  // Nodes that count: all, or of one large graph those of the part.
  std::vector<int64_t> rows_of(const inference::BatchTensors& batch) const {
    const bool all = options_.part.empty() || !batch.ids.empty();
    std::vector<int64_t> out;
    for (int64_t i = 0; i < batch.input.graph.num_targets(); ++i)
      if (all || batch.targets.classes[static_cast<size_t>(i)] >= 0) out.push_back(i);
    return out;
  }

  // What the network says of a graph, and what the input does.
  report::Facts answer_to(const data::Dataset& given, int64_t graph) {
    const data::DatasetInfo& info = model_.trained_on();
    report::Facts out;
    if (!is_graph_task(info.task) || info.task == Task::kGraphSequence) return out;
    const inference::PredictionTable said = model_.predict(data::slice(given, graph, 1));
    const auto name = [](const std::vector<std::string>& names, int64_t k) {
      return k < std::ssize(names) ? names[static_cast<size_t>(k)] : fmt::format("{}", k);
    };
    if (!said.classes.empty()) {
      const int64_t best = said.classes[0];
      out.emplace_back("predicted", fmt::format("{} ({:.1f} %)", name(info.class_names, best),
                                                100 * said.values[static_cast<size_t>(best)]));
      if (graph < given.labels.classes.size() && given.labels.classes[graph] >= 0)
        out.emplace_back("label", name(info.class_names, given.labels.classes[graph]));
      return out;
    }
    constexpr int64_t kMaxTargets = 6;
    for (int64_t k = 0; k < std::min(said.columns, kMaxTargets); ++k) {
      const std::string of = said.columns > 1 ? " " + name(info.target_names, k) : "";
      out.emplace_back("predicted" + of,
                       fmt::format("{:.4g}", said.values[static_cast<size_t>(k)]));
      const data::Matrix<float>& labels = given.labels.values;
      if (labels.columns == said.columns && graph < labels.rows() &&
          !std::isnan(labels.at(graph, k)))
        out.emplace_back("label" + of, fmt::format("{:.4g}", labels.at(graph, k)));
    }
    return out;
  }

  // Of a part of a dataset, the dataset's own number of the graph; else its id in the input.
  int64_t id_of(const inference::BatchTensors& batch, size_t graph, int64_t graphs_before) const {
    return graph < batch.ids.size() && !options_.part.empty()
               ? batch.ids[graph]
               : graphs_before + static_cast<int64_t>(graph);
  }

  // graph: of the batch, that the row before was of.
  void add_row(const inference::BatchTensors& batch, size_t& graph, int64_t i, size_t layer,
               const Shares& shares) {
    const auto& first = batch.input.first_node;
    while (graph + 2 < first.size() && i >= first[graph + 1]) ++graph;
    csv_ += fmt::format("{},{},{}", id_of(batch, graph, graphs_),
                        i - (first.empty() ? 0 : first[graph]), layer + 1);
    for (const auto* some : {&shares.aggregators, &shares.bases, &shares.heads})
      for (const double share : *some) csv_ += fmt::format(",{:.6g}", share);
    csv_ += "\n";
  }

  static std::string gain_map(const Tensor& gain, size_t layer, const Tensor& values) {
    report::GridMap map;
    map.title = fmt::format("Layer {}: frequency response of its linear aggregators", layer + 1);
    map.row_name = "nodes";
    map.column_name = fmt::format("frequencies of the Laplacian, 0 to {:.2f}",
                                  values.item(0, values.columns() - 1));
    for (int64_t i = 0; i < gain.rows(); ++i) {
      const double* row = gain.data<double>() + i * gain.columns();
      map.values.emplace_back(row, row + gain.columns());
    }
    return report::to_svg(map);
  }

  void write() const {
    const fs::path dir(options_.out);
    make_directories(dir);
    write_whole_file(dir / "nodes.csv", csv_);
    std::string body = fmt::format(
        "<p>The output of a node is a sum of terms, one per head, aggregator and basis. The share "
        "of a term is its squared norm over the sum of all squared norms. The charts show means "
        "over {} nodes.</p>\n<div class=\"charts\">\n",
        result_.nodes);
    for (size_t k = 0; k < result_.layers.size(); ++k) {
      report::BarChart chart;
      chart.title = fmt::format("Layer {}: share of each aggregator", k + 1);
      chart.unit = "%";
      chart.names = result_.aggregators;
      chart.series = {"share"};
      chart.values = {result_.layers[k].aggregators};
      for (double& v : chart.values[0]) v *= 100;
      body += report::to_svg(chart);
    }
    body += "</div>\n" + pictures_;
    write_whole_file(dir / "report.html",
                     report::html_page(fmt::format("Contributions to the output of {} on {}",
                                                   model_.config().model, model_.trained_on().name),
                                       body));
  }

  const ExplainOptions& options_;
  inference::Model model_;
  ExplainResult result_;
  std::string csv_;
  std::string pictures_;
  int64_t graphs_ = 0;
  int64_t drawn_ = 0;
};

}  // namespace

ExplainResult explain(const ExplainOptions& options, const OpenInput& open) {
  // Its report would replace the run's.
  if (std::error_code ignored;
      !options.out.empty() && fs::exists(fs::path(options.out) / "config.json", ignored))
    fail(ErrorKind::kUsage, "{} is the directory of a run; choose another --out", options.out);
  Explainer explainer(options);
  const NextChunk next = open(explainer.model().trained_on());
  int64_t to_draw = options.out.empty() ? 0 : options.pictures;
  constexpr int64_t kBatch = 256;
  while (const auto chunk = next()) {
    const data::Dataset dataset = explainer.model().prepare(chunk->dataset);
    const auto& vocabulary = explainer.model().vocabulary();
    std::optional<train::TaskData> data;
    if (!options.part.empty())
      data.emplace(dataset, train::training_of(explainer.model().notes()).split, vocabulary);
    const auto batches = [&](int64_t batch) {
      return data ? data->in_order(train::parts().at(options.part), batch)
                  : inference::all_batches(dataset, vocabulary, batch);
    };
    const auto stream = batches(kBatch);
    stream->begin(0, 0);
    while (const auto batch = stream->next()) explainer.take(*batch);
    if (to_draw == 0) continue;
    const auto single = batches(1);
    single->begin(0, 0);
    for (auto batch = single->next(); batch && to_draw > 0; batch = single->next(), --to_draw)
      explainer.draw(*batch, chunk->dataset);
  }
  return explainer.finish();
}

}  // namespace egc::app
