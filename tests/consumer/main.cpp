// Trains a network with one EGC layer to tell the two halves of a ring apart, and takes a whole
// network of the paper through a file, and a dataset through a network.
#include <egc/egc.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>

#include <cstdio>

// A network from its configuration, saved and loaded: the same answer.
bool network_survives_a_file() {
  egc::models::ModelConfig config;
  config.model = "gat";
  config.task = egc::models::Task::kNodeClassification;
  config.hidden = 16;
  config.features = 4;
  config.outputs = 3;
  const auto network = egc::models::make_network(config);
  network->eval();
  egc::models::ModelInput input;
  input.graph = egc::Csr::from_edges(3, std::vector<int64_t>{0, 1}, std::vector<int64_t>{1, 2});
  input.x = at::randn({3, 4});
  egc::models::save_network("consumer.safetensors", *network);
  const auto loaded = egc::models::load_network("consumer.safetensors");
  at::NoGradGuard no_grad;
  return at::equal(network->forward(input), loaded.network->forward(input));
}

// A batch of a generated dataset through a network.
bool network_reads_a_dataset() {
  const egc::data::Dataset molecules = egc::data::generate("molecules", {.seed = 1, .size = 0.01});
  const egc::data::GraphStore store(molecules);
  egc::data::Loader loader(store, molecules.split("").train, {.batch_size = 8});
  loader.begin(/*epoch=*/0);
  const egc::data::GraphBatch batch = *loader.next();
  egc::models::ModelConfig config;
  config.model = "egc-s";
  config.hidden = 16;
  config.encoder = egc::models::Encoder::kEmbedding;
  config.categories = molecules.info.categories;
  egc::models::ModelInput input;
  input.x = at::from_blob(const_cast<int64_t*>(batch.categories.data()),
                          {batch.graphs.graph.num_targets(), batch.columns}, at::kLong);
  input.graph = batch.graphs.graph;
  input.first_node = batch.graphs.first_node;
  const auto network = egc::models::make_network(config);
  network->eval();
  return network->forward(input).size(0) == 8 && batch.values.size() == 8;
}

int main() {
  constexpr int64_t kNodes = 40;
  std::vector<int64_t> source, target;
  for (int64_t i = 0; i < kNodes; ++i)
    for (const int64_t step : {int64_t{1}, kNodes - 1}) {
      source.push_back((i + step) % kNodes);
      target.push_back(i);
    }
  const egc::Csr graph = egc::Csr::from_edges(kNodes, source, target);

  torch::manual_seed(0);
  egc::nn::EgcConv conv(egc::nn::EgcConvOptions::egc_m(
      8, 16, {egc::Aggregator::kSymnorm, egc::Aggregator::kMax, egc::Aggregator::kStd}));
  torch::nn::Linear head(16, 2);
  std::vector<at::Tensor> parameters = conv->parameters();
  for (const at::Tensor& p : head->parameters()) parameters.push_back(p);
  torch::optim::Adam adam(parameters, 0.01);

  const at::Tensor labels = at::arange(kNodes).ge(kNodes / 2).to(at::kLong);
  const at::Tensor x = at::randn({kNodes, 8}) + labels.unsqueeze(1).to(at::kFloat);
  double first = 0, last = 0;
  for (int step = 0; step < 60; ++step) {
    adam.zero_grad();
    const at::Tensor loss = at::cross_entropy_loss(head(at::relu(conv(x, graph))), labels);
    loss.backward();
    adam.step();
    last = loss.item<double>();
    if (step == 0) first = last;
  }
  std::printf("loss %.3f -> %.3f\n", first, last);
  return last < 0.2 * first && network_survives_a_file() && network_reads_a_dataset() ? 0 : 1;
}
