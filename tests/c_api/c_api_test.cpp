// The C interface: layers against the engine's operators, forward and backward, with and without
// memory for the backward pass; objects of every kind; arguments that are wrong.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "egc/ops/aggregate.h"
#include "egc/ops/attention.h"
#include "egc/ops/egc.h"
#include "tests/c_api/layers.h"
#include "tests/kernels/random_problem.h"
#include "tests/tensor/gradcheck.h"

namespace egc {
namespace {

using testing::aggregator_set;
using testing::awkward_graph;
using testing::dirty;
using testing::Graph;
using testing::graph_of;
using testing::layer_of;
using testing::random_tensor;
using testing::same;

TEST(CApi, EgcIsTheEnginesOperator) {
  for (const DType type : {DType::kF32, DType::kF64})
    for (const bool weighted : {false, true})
      for (const int mask : {1, 2, 4, 8, 16, 32, 64, 4 | 8 | 2, 1 | 64 | 8, 127})
        for (const WeightActivation activation :
             {WeightActivation::kIdentity, WeightActivation::kSoftmax}) {
          const Csr csr = awkward_graph(weighted);
          const Graph graph = graph_of(csr);
          const AggregatorSet set = aggregator_set(mask);
          egc_layer layer = layer_of(set, SelfLoops::kAll, type);
          layer.activation = static_cast<int32_t>(activation);
          const int64_t n = csr.num_targets();
          const int64_t terms = 2 * set.size() * 3;
          const Tensor x = random_tensor(n, 4, 1, type).with_gradient();
          ops::EgcWeights w{random_tensor(15, 4, 2, type).with_gradient(),
                            random_tensor(terms, 4, 3, type).with_gradient(),
                            random_tensor(1, terms, 4, type).with_gradient(),
                            random_tensor(1, 10, 5, type).with_gradient()};
          Tape tape = Tape::training(0);
          const Tensor expected =
              ops::egc(tape, {set, SelfLoops::kAll, 2, 3, activation}, w, x, csr);
          const Tensor grad_y = random_tensor(n, 10, 6, type);
          tape.backward(expected, grad_y);

          const Tensor y = dirty(n, 10, type);
          const Tensor saved = dirty(1, egc_conv_saved_size(graph.get(), &layer), type);
          for (void* keep : {static_cast<void*>(nullptr), saved.raw()}) {
            ASSERT_EQ(egc_conv_forward(graph.get(), &layer, x.raw(), nullptr, w.theta.raw(),
                                       w.phi.raw(), w.phi_bias.raw(), w.bias.raw(), y.raw(), keep),
                      EGC_OK)
                << egc_last_error();
            EXPECT_TRUE(same(y, expected));
          }
          std::vector<Tensor> grads;
          for (const Tensor& t : {x, w.theta, w.phi, w.phi_bias, w.bias})
            grads.push_back(dirty(t.rows(), t.columns(), type));
          ASSERT_EQ(
              egc_conv_backward(graph.get(), &layer, x.raw(), nullptr, w.theta.raw(), w.phi.raw(),
                                grad_y.raw(), saved.raw(), grads[0].raw(), nullptr, grads[1].raw(),
                                grads[2].raw(), grads[3].raw(), grads[4].raw()),
              EGC_OK)
              << egc_last_error();
          size_t k = 0;
          for (const Tensor& t : {x, w.theta, w.phi, w.phi_bias, w.bias})
            EXPECT_TRUE(same(grads[k++], t.gradient()->value())) << k;
          // Gradients that nobody wants change nothing of the others.
          const Tensor alone = dirty(15, 4, type);
          ASSERT_EQ(egc_conv_backward(graph.get(), &layer, x.raw(), nullptr, w.theta.raw(),
                                      w.phi.raw(), grad_y.raw(), saved.raw(), nullptr, nullptr,
                                      alone.raw(), nullptr, nullptr, nullptr),
                    EGC_OK);
          EXPECT_TRUE(same(alone, grads[1]));
        }
}

TEST(CApi, AggregateIsTheEnginesOperator) {
  const Csr csr = awkward_graph();
  const Graph graph = graph_of(csr);
  for (const SelfLoops loops : {SelfLoops::kAll, SelfLoops::kSymnorm, SelfLoops::kNone}) {
    const AggregatorSet set = aggregator_set(127);
    const egc_layer layer = layer_of(set, loops, DType::kF64);
    const Tensor x = random_tensor(14, 4, 1, DType::kF64).with_gradient();
    Tape tape = Tape::training(0);
    const Tensor expected = ops::aggregate(tape, csr, set, loops, x);
    const Tensor grad_y = random_tensor(14, 28, 2, DType::kF64);
    tape.backward(expected, grad_y);
    const Tensor y = dirty(14, 28, DType::kF64);
    const Tensor grad_x = dirty(14, 4, DType::kF64);
    ASSERT_EQ(egc_aggregate_forward(graph.get(), &layer, x.raw(), y.raw()), EGC_OK);
    ASSERT_EQ(egc_aggregate_backward(graph.get(), &layer, x.raw(), grad_y.raw(), grad_x.raw()),
              EGC_OK);
    EXPECT_TRUE(same(y, expected));
    EXPECT_TRUE(same(grad_x, x.gradient()->value()));
  }
}

TEST(CApi, AttentionIsTheEnginesOperator) {
  const Csr csr = awkward_graph();
  const Graph graph = graph_of(csr);
  for (const int version : {1, 2}) {
    egc_layer layer = layer_of(aggregator_set(1), SelfLoops::kAll, DType::kF64);
    layer.attention_version = version;
    const Tensor values = random_tensor(14, 10, 1, DType::kF64).with_gradient();
    const Tensor query = random_tensor(14, 10, 2, DType::kF64).with_gradient();
    const Tensor attention = random_tensor(2, 5, 3, DType::kF64).with_gradient();
    const Tensor scores = random_tensor(14, 4, 4, DType::kF64).with_gradient();
    const Tensor halves[] = {Tensor::empty(14, 2, DType::kF64), Tensor::empty(14, 2, DType::kF64)};
    for (int64_t i = 0; i < 14; ++i)
      for (int64_t h = 0; h < 4; ++h)
        halves[h / 2].data<double>()[i * 2 + h % 2] = scores.item(i, h);
    Tape tape = Tape::training(0);
    const ops::AttentionShape shape{2, 0.2, true};
    const Tensor expected =
        version == 1 ? ops::gat_attention(tape, csr, shape, values, scores, {})
                     : ops::gatv2_attention(tape, csr, shape, values, query, attention, {});
    const Tensor grad_y = random_tensor(14, 10, 5, DType::kF64);
    tape.backward(expected, grad_y);
    const void* source = version == 1 ? halves[0].raw() : nullptr;
    const void* target = version == 1 ? halves[1].raw() : query.raw();
    const void* vector = version == 1 ? nullptr : attention.raw();
    const Tensor y = dirty(14, 10, DType::kF64);
    const Tensor saved = dirty(1, egc_attention_saved_size(graph.get(), &layer), DType::kF64);
    ASSERT_EQ(egc_attention_forward(graph.get(), &layer, values.raw(), source, target, vector,
                                    y.raw(), saved.raw()),
              EGC_OK)
        << egc_last_error();
    EXPECT_TRUE(same(y, expected));
    const Tensor g = dirty(14, 10, DType::kF64);
    const Tensor a = dirty(14, 2, DType::kF64);
    const Tensor b = dirty(14, version == 1 ? 2 : 10, DType::kF64);
    const Tensor v = dirty(2, 5, DType::kF64);
    ASSERT_EQ(
        egc_attention_backward(graph.get(), &layer, values.raw(), source, target, vector, y.raw(),
                               saved.raw(), grad_y.raw(), g.raw(), version == 1 ? a.raw() : nullptr,
                               b.raw(), version == 1 ? nullptr : v.raw()),
        EGC_OK)
        << egc_last_error();
    EXPECT_TRUE(same(g, values.gradient()->value()));
    if (version == 2) {
      EXPECT_TRUE(same(b, query.gradient()->value()));
      EXPECT_TRUE(same(v, attention.gradient()->value()));
      continue;
    }
    for (int64_t i = 0; i < 14; ++i)
      for (int64_t h = 0; h < 2; ++h) {
        EXPECT_EQ(a.item(i, h), scores.gradient()->value().item(i, h));
        EXPECT_EQ(b.item(i, h), scores.gradient()->value().item(i, 2 + h));
      }
  }
}

TEST(CApi, GraphsBetweenTwoSetsOfNodes) {
  const int64_t source[] = {0, 2, 1, 0};
  const int64_t target[] = {3, 1, 1, 0};
  egc_graph* made = nullptr;
  ASSERT_EQ(egc_graph_from_edges(4, 3, 4, source, target, nullptr, &made), EGC_OK);
  const Graph graph(made);
  EXPECT_EQ(egc_graph_num_targets(made), 4);
  EXPECT_EQ(egc_graph_num_sources(made), 3);
  EXPECT_EQ(egc_graph_num_edges(made), 4);
  EXPECT_EQ(egc_graph_is_square(made), 0);
  const int64_t* offsets = nullptr;
  const int32_t* sources = nullptr;
  const float* weights = nullptr;
  egc_graph_csr(made, &offsets, &sources, &weights);
  EXPECT_EQ(std::vector<int64_t>(offsets, offsets + 5), (std::vector<int64_t>{0, 1, 3, 3, 4}));
  EXPECT_EQ(std::vector<int32_t>(sources, sources + 4), (std::vector<int32_t>{0, 1, 2, 0}));
  EXPECT_EQ(weights, nullptr);
  const egc_layer layer = layer_of(aggregator_set(1), SelfLoops::kAll, DType::kF32);
  std::vector<float> x(12), y(16);
  EXPECT_EQ(egc_aggregate_forward(made, &layer, x.data(), y.data()), EGC_BAD_ARGUMENT);
  EXPECT_NE(std::string(egc_last_error()).find("self-loops"), std::string::npos);
}

TEST(CApi, WrongArgumentsAreRefused) {
  const Graph graph = graph_of(awkward_graph());
  const egc_layer good = layer_of(aggregator_set(5), SelfLoops::kAll, DType::kF32);
  std::vector<float> x(14 * 4), y(14 * 8);
  const auto refused = [&](egc_layer layer, const std::string& part) {
    EXPECT_EQ(egc_aggregate_forward(graph.get(), &layer, x.data(), y.data()), EGC_BAD_ARGUMENT);
    EXPECT_NE(std::string(egc_last_error()).find(part), std::string::npos) << egc_last_error();
  };
  const auto with = [&](auto change) {
    egc_layer layer = good;
    change(layer);
    return layer;
  };
  ASSERT_EQ(egc_aggregate_forward(graph.get(), &good, x.data(), y.data()), EGC_OK);
  refused(with([](egc_layer& l) { l.dtype = EGC_INT32; }), "dtype must be");
  refused(with([](egc_layer& l) { l.num_aggregators = 0; }), "num_aggregators");
  refused(with([](egc_layer& l) { l.num_aggregators = 8; }), "num_aggregators");
  refused(with([](egc_layer& l) { l.aggregators[0] = 7; }), "an aggregator");
  refused(with([](egc_layer& l) { l.aggregators[1] = l.aggregators[0]; }), "duplicate");
  refused(with([](egc_layer& l) { l.self_loops = 3; }), "self_loops");
  refused(with([](egc_layer& l) { l.in_channels = 0; }), "in_channels");
  refused(with([](egc_layer& l) { l.in_channels = int64_t{1} << 40; }), "in_channels");
  refused(with([](egc_layer& l) { l.reserved[3] = 1; }), "reserved");
  EXPECT_EQ(egc_aggregate_forward(nullptr, &good, x.data(), y.data()), EGC_BAD_ARGUMENT);
  EXPECT_EQ(egc_aggregate_forward(graph.get(), nullptr, x.data(), y.data()), EGC_BAD_ARGUMENT);
  EXPECT_EQ(egc_aggregate_forward(graph.get(), &good, nullptr, y.data()), EGC_BAD_ARGUMENT);
  egc_graph* made = nullptr;
  const int64_t ends[] = {0, 9};
  EXPECT_EQ(egc_graph_from_edges(2, EGC_SAME_NODES, 2, ends, ends, nullptr, &made), EGC_BAD_DATA);
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(egc_graph_from_edges(-1, EGC_SAME_NODES, 0, nullptr, nullptr, nullptr, &made),
            EGC_BAD_ARGUMENT);
  EXPECT_EQ(egc_graph_from_edges(2, -7, 0, nullptr, nullptr, nullptr, &made), EGC_BAD_ARGUMENT);
  EXPECT_EQ(egc_graph_from_edges(2, EGC_SAME_NODES, 2, nullptr, ends, nullptr, &made),
            EGC_BAD_ARGUMENT);
  const int64_t falling[] = {0, 2, 1};
  EXPECT_EQ(egc_graph_from_csr(2, EGC_SAME_NODES, falling, ends, nullptr, &made), EGC_BAD_DATA);
}

TEST(CApi, DatasetsModelsAndTraining) {
  const auto work =
      std::filesystem::temp_directory_path() / ("egc_c_api_" + std::to_string(getpid()));
  std::filesystem::create_directories(work);
  struct Epochs {
    int64_t lines = 0;
    int64_t polls = 0;
    int64_t stop_after = 1000;
  } epochs;
  const auto on_epoch = [](const char* line, void* user) {
    auto& e = *static_cast<Epochs*>(user);
    (line == nullptr ? e.polls : e.lines) += 1;
    return e.lines >= e.stop_after ? 1 : 0;
  };
  const auto request = [&](const std::string& more) {
    return R"({"dataset": "graph-props", "model": "egc-s", "out": ")" + (work / "run").string() +
           R"(", "settings": {"epochs": 3, "hidden": 16})" + more + "}";
  };
  char* report = nullptr;
  ASSERT_EQ(egc_train(request("").c_str(), on_epoch, &epochs, &report), EGC_OK) << egc_last_error();
  EXPECT_EQ(epochs.lines, 3);
  EXPECT_NE(std::string(report).find("\"test\""), std::string::npos);
  egc_free(report);
  EXPECT_EQ(egc_train(request("").c_str(), on_epoch, &epochs, &report), EGC_BAD_ARGUMENT);
  EXPECT_EQ(report, nullptr);  // the run is there
  epochs = {0, 0, 1};
  EXPECT_EQ(egc_train(request(R"(, "overwrite": true)").c_str(), on_epoch, &epochs, &report),
            EGC_INTERRUPTED);
  egc_free(report);
  const std::string resume = R"({"resume": ")" + (work / "run").string() + "\"}";
  ASSERT_EQ(egc_train(resume.c_str(), nullptr, nullptr, &report), EGC_OK) << egc_last_error();
  egc_free(report);
  for (const char* bad :
       {"", "[]", "{\"a\": 1}", "{\"seeds\": \"x\"}", "{\"seeds\": 0, \"dataset\": \"x\"}", "{}"})
    EXPECT_EQ(egc_train(bad, nullptr, nullptr, &report), EGC_BAD_ARGUMENT) << bad;

  egc_dataset* dataset = nullptr;
  ASSERT_EQ(egc_dataset_load("graph-props", nullptr, 0, &dataset), EGC_OK) << egc_last_error();
  std::vector<egc_array> arrays(static_cast<size_t>(egc_dataset_num_arrays(dataset)));
  for (size_t k = 0; k < arrays.size(); ++k)
    ASSERT_EQ(egc_dataset_array(dataset, static_cast<int64_t>(k), &arrays[k]), EGC_OK);
  EXPECT_EQ(egc_dataset_array(dataset, std::ssize(arrays), arrays.data()), EGC_BAD_ARGUMENT);
  egc_dataset* copy = nullptr;
  ASSERT_EQ(
      egc_dataset_from_arrays(egc_dataset_info(dataset), std::ssize(arrays), arrays.data(), &copy),
      EGC_OK)
      << egc_last_error();
  egc_model* model = nullptr;
  ASSERT_EQ(egc_model_load((work / "run").c_str(), 0, &model), EGC_OK) << egc_last_error();
  std::vector<std::vector<float>> values;
  for (const egc_dataset* of : {dataset, copy}) {
    egc_predictions* predictions = nullptr;
    ASSERT_EQ(egc_model_predict(model, of, 100, &predictions), EGC_OK) << egc_last_error();
    int64_t rows = 0;
    int64_t columns = 0;
    const float* first = egc_predictions_values(predictions, &rows, &columns);
    values.emplace_back(first, first + rows * columns);
    egc_predictions_free(predictions);
  }
  EXPECT_GT(values[0].size(), 0U);
  EXPECT_EQ(values[0], values[1]);
  ASSERT_EQ(egc_dataset_save(copy, (work / "saved").c_str()), EGC_OK) << egc_last_error();
  EXPECT_EQ(egc_dataset_save(copy, (work / "saved").c_str()), EGC_BAD_ARGUMENT);
  arrays[0].name = "nonsense";
  egc_dataset* bad = nullptr;
  EXPECT_EQ(
      egc_dataset_from_arrays(egc_dataset_info(dataset), std::ssize(arrays), arrays.data(), &bad),
      EGC_BAD_ARGUMENT);
  EXPECT_EQ(egc_model_load("no-such-model", 0, &model), EGC_SYSTEM_ERROR);
  egc_dataset_free(copy);
  egc_dataset_free(dataset);
  std::filesystem::remove_all(work);
}

TEST(CApi, ChecksumIsTheSameForAnyNumberOfThreads) {
  std::vector<uint8_t> bytes((5 << 20) + 17);
  for (size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<uint8_t>(k * 7 + k / 251);
  ASSERT_EQ(egc_set_num_threads_here(1), EGC_OK);
  const uint64_t alone = egc_checksum(bytes.data(), bytes.size());
  ASSERT_EQ(egc_set_num_threads_here(3), EGC_OK);
  EXPECT_EQ(egc_checksum(bytes.data(), bytes.size()), alone);
  for (const size_t k : {size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
    bytes[k] ^= 1;
    EXPECT_NE(egc_checksum(bytes.data(), bytes.size()), alone);
    bytes[k] ^= 1;
  }
  ASSERT_EQ(egc_set_num_threads_here(0), EGC_OK);
}

}  // namespace
}  // namespace egc
