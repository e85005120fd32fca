// The EGC operator: gradients by finite differences with every option, its second half against the
// scalar reference, targets that are other nodes, the epilogue, hostile messages, bad input.
#include "egc/ops/egc.h"

#include <cmath>
#include <limits>
#include <optional>

#include "egc/kernels/target.h"
#include "egc/ops/linear.h"
#include "egc/ops/norm_act.h"
#include "egc/ops/row_parts.h"
#include "tests/core/expect_error.h"
#include "tests/kernels/random_problem.h"
#include "tests/tensor/gradcheck.h"

namespace egc::ops {
namespace {

using testing::aggregator_set;
using testing::awkward_graph;
using testing::close;
using testing::expect_error;
using testing::expect_gradients;
using testing::NamedTensor;
using testing::random_tensor;
using testing::same_bits;
using testing::tensor_of;

constexpr SelfLoops kModes[] = {SelfLoops::kAll, SelfLoops::kSymnorm, SelfLoops::kNone};
constexpr WeightActivation kActivations[] = {WeightActivation::kIdentity,
                                             WeightActivation::kSoftmax, WeightActivation::kSigmoid,
                                             WeightActivation::kHardtanh};

Tape new_tape() { return Tape::training(0); }

// 14 targets of 5 other sources.
Csr rectangular_graph() {
  Rng rng(3);
  std::vector<int64_t> source, target;
  for (int k = 0; k < 40; ++k) {
    source.push_back(rng.below(5));
    target.push_back(rng.below(13));  // target 13 has no edge
  }
  return Csr::from_edges(14, 5, source, target);
}

struct Layer {
  Layer(const EgcShape& s, int64_t in, int64_t width, DType type = DType::kF64, bool biases = true)
      : shape(s) {
    const int64_t terms = s.heads * s.aggregators.size() * s.bases;
    weights.theta = random_tensor(s.bases * width, in, 11, type).with_gradient();
    weights.phi = random_tensor(terms, in, 12, type).with_gradient();
    if (!biases) return;
    weights.phi_bias = random_tensor(1, terms, 13, type).with_gradient();
    weights.bias = random_tensor(1, s.heads * width, 14, type).with_gradient();
  }
  std::vector<NamedTensor> inputs() const {
    std::vector<NamedTensor> all = {{"theta", weights.theta}, {"phi", weights.phi}};
    if (weights.bias.defined()) {
      all.push_back({"the bias of phi", weights.phi_bias});
      all.push_back({"bias", weights.bias});
    }
    return all;
  }

  EgcShape shape;
  EgcWeights weights;
};

TEST(Egc, GradcheckOfHeadsBasesActivationsAndLoops) {
  for (const auto& [heads, bases] : {std::pair{1, 1}, {1, 3}, {3, 1}, {2, 2}})
    for (const SelfLoops mode : kModes)
      for (const WeightActivation activation : kActivations)
        for (const unsigned mask : {4U, 2U | 8U | 64U}) {
          const bool weighted = heads == bases;
          SCOPED_TRACE(fmt::format("heads={} bases={} {} {} mask={}", heads, bases, name_of(mode),
                                   name_of(activation), mask));
          const Layer layer({aggregator_set(mask), mode, heads, bases, activation}, 3, 2,
                            DType::kF64, /*biases=*/mask != 4U);
          const Csr graph = awkward_graph(weighted);
          const Tensor x = random_tensor(14, 3, 1).with_gradient();
          std::vector<NamedTensor> inputs = layer.inputs();
          inputs.push_back({"x", x});
          expect_gradients(inputs, new_tape, [&](Tape& tape) {
            return egc(tape, layer.shape, layer.weights, x, graph);
          });
        }
}

TEST(Egc, GradcheckWhereTargetsAreOtherNodes) {
  for (const WeightActivation activation : kActivations) {
    const Layer layer({aggregator_set(127), SelfLoops::kNone, 2, 2, activation}, 3, 2);
    const Csr graph = rectangular_graph();
    const Tensor x = random_tensor(5, 3, 1).with_gradient();
    const Tensor x_target = random_tensor(14, 3, 2).with_gradient();
    std::vector<NamedTensor> inputs = layer.inputs();
    inputs.push_back({"x", x});
    inputs.push_back({"x of the targets", x_target});
    expect_gradients(inputs, new_tape, [&](Tape& tape) {
      return egc(tape, layer.shape, layer.weights, x, graph, {}, x_target);
    });
    // As many targets as sources, with the same features for both ends: their gradients add up.
    const Tensor both = random_tensor(14, 3, 3).with_gradient();
    expect_gradients({{"x", both}}, new_tape, [&](Tape& tape) {
      return egc(tape, layer.shape, layer.weights, both, awkward_graph(), {}, both);
    });
  }
}

// A gradient that nobody asks for changes nothing about the others.
TEST(Egc, GradientsOfSomeInputsOnly) {
  const Csr graph = awkward_graph();
  const Tensor upstream = random_tensor(14, 6, 2);
  const Layer all({aggregator_set(7), SelfLoops::kAll, 2, 2, WeightActivation::kSigmoid}, 4, 3);
  const Tensor x = random_tensor(14, 4, 1).with_gradient();
  const auto gradients = [&](const EgcWeights& w, const Tensor& input) {
    Tape tape = new_tape();
    tape.backward(egc(tape, all.shape, w, input, graph), upstream);
    std::vector<Tensor> out;
    for (const Tensor* t : {&input, &w.theta, &w.phi, &w.phi_bias, &w.bias})
      out.push_back(t->gradient() == nullptr ? Tensor() : t->gradient()->take());
    return out;
  };
  const std::vector<Tensor> want = gradients(all.weights, x);
  for (size_t alone = 0; alone < want.size(); ++alone) {
    EgcWeights w = all.weights;
    Tensor input = x;
    Tensor* inputs[] = {&input, &w.theta, &w.phi, &w.phi_bias, &w.bias};
    for (size_t k = 0; k < want.size(); ++k)
      if (k != alone) *inputs[k] = inputs[k]->detached();
    const std::vector<Tensor> got = gradients(w, input);
    for (size_t k = 0; k < want.size(); ++k)
      EXPECT_TRUE(k == alone ? same_bits(got[k], want[k]) : !got[k].defined()) << k;
  }
}

TEST(Egc, SharedInputsAddUp) {
  const Csr graph = awkward_graph();
  const Layer one({aggregator_set(9), SelfLoops::kAll, 2, 2}, 4, 2);
  const Tensor x = random_tensor(14, 4, 1).with_gradient();
  std::vector<NamedTensor> inputs = one.inputs();
  inputs.push_back({"x", x});
  // The same layer twice in a row, and x once more beside it.
  expect_gradients(
      inputs, new_tape,
      [&](Tape& tape) {
        const Tensor once = egc(tape, one.shape, one.weights, x, graph);
        return add(tape, {egc(tape, one.shape, one.weights, once, graph), x, once});
      },
      1e-5);
}

TEST(Egc, ActivationsAreTheirDefinitions) {
  const Tensor w = random_tensor(5, 12, 1);
  for (int64_t k = 0; k < w.size(); ++k) w.data<double>()[k] *= 2;
  constexpr int64_t kHeads = 3;
  for (const WeightActivation activation : kActivations) {
    const Tensor got = w.clone();
    activate_weights(activation, kHeads, got);
    for (int64_t i = 0; i < 5; ++i)
      for (int64_t c = 0; c < 12; ++c) {
        const double v = w.item(i, c);
        double sum = 0;
        for (int64_t k = c / 4 * 4; k < c / 4 * 4 + 4; ++k) sum += std::exp(w.item(i, k));
        const double want = activation == WeightActivation::kSoftmax    ? std::exp(v) / sum
                            : activation == WeightActivation::kSigmoid  ? 1 / (1 + std::exp(-v))
                            : activation == WeightActivation::kHardtanh ? std::clamp(v, -1.0, 1.0)
                                                                        : v;
        EXPECT_NEAR(got.item(i, c), want, 1e-14) << name_of(activation);
      }
  }
  // Without overflow: of terms far from 0 only their differences count.
  const Tensor far = tensor_of(1, 3, {1000, 1000, -1000}, DType::kF32);
  activate_weights(WeightActivation::kSoftmax, 1, far);
  EXPECT_TRUE(close(far, tensor_of(1, 3, {0.5, 0.5, 0}), 1e-7));
}

// Clamped weights have no gradient, those on the edge neither, as in PyTorch.
TEST(Egc, HardtanhIsFlatOnItsEdges) {
  const Tensor w = tensor_of(1, 5, {-1, 1, 0.5, -0.99, 1});
  const Tensor grad = tensor_of(1, 5, {1, 2, 3, 4, 5});
  activate_weights_backward(WeightActivation::kHardtanh, 1, w, grad);
  EXPECT_TRUE(close(grad, tensor_of(1, 5, {0, 0, 3, 4, 0}), 0));
}

// The second half against the scalar reference: all sets of aggregators, loops, weights of edges,
// every instruction set.
TEST(EgcAggregate, IsTheReferenceForEverySetOfAggregators) {
  for (unsigned mask = 1; mask < 128; ++mask) {
    const EgcShape shape{aggregator_set(mask), kModes[mask % 3], 2, 3};
    const int64_t terms = 2 * 3 * shape.aggregators.size();
    const Csr graph = awkward_graph(mask % 2 == 0);
    const Tensor bases = random_tensor(14, 21, mask).with_gradient();
    const Tensor weights = random_tensor(14, terms, mask + 200).with_gradient();
    const Tensor bias = random_tensor(1, 14, mask + 400).with_gradient();
    const Tensor upstream = random_tensor(14, 14, mask + 600);
    const kernels::ReferenceInput in{{shape.aggregators, shape.self_loops, 2, 3, 7},
                                     graph.view(),
                                     bases.data<double>(),
                                     weights.data<double>(),
                                     bias.data<double>()};
    const kernels::ReferenceGradients want =
        kernels::reference_backward(in, upstream.data<double>());
    Tensor column_sum = Tensor::zeros(1, 14, DType::kF64);
    for (int64_t k = 0; k < upstream.size(); ++k)
      column_sum.data<double>()[k % 14] += upstream.data<double>()[k];
    for (const std::string& target : kernels::available_targets()) {
      kernels::force_target(target);
      Tape tape = new_tape();
      const Tensor y = egc_aggregate(tape, shape, bases, weights, bias, graph);
      EXPECT_TRUE(close(y, tensor_of(14, 14, kernels::reference_forward(in)), 1e-10)) << mask;
      tape.backward(y, upstream);
      EXPECT_TRUE(close(bases.gradient()->take(), tensor_of(14, 21, want.bases), 1e-9)) << mask;
      EXPECT_TRUE(close(weights.gradient()->take(), tensor_of(14, terms, want.weights), 1e-9))
          << mask;
      EXPECT_TRUE(close(bias.gradient()->take(), column_sum, 1e-12)) << mask;
    }
    kernels::force_target("");
  }
}

TEST(EgcAggregate, Gradcheck) {
  for (const bool weighted : {false, true})
    for (const SelfLoops mode : kModes) {
      const EgcShape shape{aggregator_set(127), mode, 2, 2};
      const Csr graph = awkward_graph(weighted);
      const Tensor bases = random_tensor(14, 4, 1).with_gradient();
      const Tensor weights = random_tensor(14, 28, 2).with_gradient();
      const Tensor bias = random_tensor(1, 4, 3).with_gradient();
      expect_gradients(
          {{"bases", bases}, {"weights", weights}, {"bias", bias}}, new_tape,
          [&](Tape& tape) { return egc_aggregate(tape, shape, bases, weights, bias, graph); });
    }
}

// Layers that share bases: each aggregation adds to their gradient.
TEST(EgcAggregate, SharedBasesAddUp) {
  const EgcShape shape{aggregator_set(9), SelfLoops::kNone, 2, 2};
  const Tensor bases = random_tensor(14, 4, 1).with_gradient();
  const Tensor one = random_tensor(14, 8, 2).with_gradient();
  const Tensor other = random_tensor(14, 8, 3).with_gradient();
  expect_gradients({{"bases", bases}, {"one", one}, {"other", other}}, new_tape, [&](Tape& tape) {
    return add(tape, {egc_aggregate(tape, shape, bases, one, {}, awkward_graph()),
                      egc_aggregate(tape, shape, bases, other, {}, awkward_graph(true))});
  });
}

TEST(Egc, EpilogueIsTheOperatorsInTurn) {
  for (const DType type : {DType::kF32, DType::kF64})
    for (const int64_t width : {1, 5, 8, 17})
      for (const unsigned mask : {4U, 11U, 127U}) {
        const Layer layer({aggregator_set(mask), SelfLoops::kAll, 2, 2}, 6, width, type);
        const Csr graph = awkward_graph();
        const Tensor x = random_tensor(14, 6, 1, type);
        const int64_t columns = 2 * width;
        const EpilogueTensors all{random_tensor(1, columns, 3, type),
                                  random_tensor(1, columns, 4, type), /*relu=*/true,
                                  random_tensor(14, columns, 5, type)};
        for (const EpilogueTensors& e :
             {all, EpilogueTensors{{}, {}, true, {}}, EpilogueTensors{{}, {}, false, all.residual},
              EpilogueTensors{all.scale, all.shift, false, {}}}) {
          Tape tape = Tape::inference();
          EXPECT_TRUE(same_bits(egc(tape, layer.shape, layer.weights, x, graph, e),
                                apply_epilogue(egc(tape, layer.shape, layer.weights, x, graph), e)))
              << width << " mask " << mask;
        }
      }
}

// An infinite or NaN message spoils the sums that have it. What a head takes from aggregates that
// do not have it stays finite: a weight of 0 does not multiply infinity here, because head 0 looks
// at the aggregate of another column.
TEST(EgcAggregate, HostileMessagesStayInTheirRowsAndColumns) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Csr graph = awkward_graph();
  const EgcShape shape{aggregator_set(127), SelfLoops::kNone, 2, 1};
  constexpr int64_t kWidth = 19;
  constexpr int64_t kBad = 13;
  for (const DType type : {DType::kF32, DType::kF64})
    for (const double hostile : {static_cast<double>(NAN), kInf, -kInf})
      for (const std::string& target : kernels::available_targets()) {
        kernels::force_target(target);
        const auto run = [&](double value) {
          const Tensor bases = random_tensor(14, kWidth, 1, type).with_gradient();
          const Tensor weights = random_tensor(14, 14, 2, type).with_gradient();
          with_type(type, [&](auto zero) {
            bases.data<decltype(zero)>()[7 * kWidth + kBad] = static_cast<decltype(zero)>(value);
          });
          Tape tape = new_tape();
          const Tensor y = egc_aggregate(tape, shape, bases, weights, {}, graph);
          tape.backward(y, Tensor::full(14, 2 * kWidth, type, 1));
          return std::vector<Tensor>{y.detached(), bases.gradient()->take(),
                                     weights.gradient()->take()};
        };
        const std::vector<Tensor> got = run(hostile);
        const std::vector<Tensor> tame = run(1.5);
        for (int64_t i = 0; i < 14; ++i) {
          bool sees = false;
          for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e)
            sees = sees || graph.sources()[e] == 7;
          for (int64_t c = 0; c < 2 * kWidth; ++c)
            if (!sees || c % kWidth != kBad) {
              EXPECT_EQ(got[0].item(i, c), tame[0].item(i, c)) << target << " " << i << " " << c;
            } else {
              EXPECT_FALSE(std::isfinite(got[0].item(i, c))) << target << " " << i << " " << c;
            }
          for (int64_t c = 0; c < kWidth; ++c)
            if (c != kBad) {
              EXPECT_EQ(got[1].item(i, c), tame[1].item(i, c)) << target << " " << i;
            }
          for (int64_t c = 0; c < 14 && !sees; ++c)
            EXPECT_EQ(got[2].item(i, c), tame[2].item(i, c)) << target << " " << i;
        }
      }
  kernels::force_target("");
}

TEST(EgcErrors, AreOneSentence) {
  const Csr graph = awkward_graph();
  Tape tape = Tape::inference();
  const EgcShape shape{{Aggregator::kAdd, Aggregator::kMax}, SelfLoops::kAll, 2, 3};
  const Tensor x = random_tensor(14, 4, 1);
  const auto refuses = [&](std::initializer_list<std::string> parts, const auto& change,
                           std::optional<Csr> other = {}) {
    Layer layer(shape, 4, 5);
    Tensor input = x;
    change(layer, input);
    expect_error(ErrorKind::kUsage, parts,
                 [&] { egc(tape, layer.shape, layer.weights, input, other.value_or(graph)); });
  };
  refuses({"egc: x must be [14, 4] float64, got [14, 5] float64"},
          [](Layer&, Tensor& in) { in = random_tensor(14, 5, 1); });
  refuses({"egc: x must be [14, 4] float64, got [13, 4] float64"},
          [](Layer&, Tensor& in) { in = random_tensor(13, 4, 1); });
  refuses({"egc: theta must be", "float32", "got [15, 4] float64"},
          [](Layer&, Tensor& in) { in = in.to(DType::kF32); });
  refuses({"egc: theta has 16 rows, which are not 3 bases"},
          [](Layer& l, Tensor&) { l.weights.theta = random_tensor(16, 4, 1); });
  refuses({"egc: phi must be [12, 4] float64, got [11, 4] float64"},
          [](Layer& l, Tensor&) { l.weights.phi = random_tensor(11, 4, 1); });
  refuses({"egc: the bias of phi must be [1, 12] float64, got [12, 1] float64"},
          [](Layer& l, Tensor&) { l.weights.phi_bias = random_tensor(12, 1, 1); });
  refuses({"egc: bias must be [1, 10] float64, got [1, 15] float64"},
          [](Layer& l, Tensor&) { l.weights.bias = random_tensor(1, 15, 1); });
  refuses({"egc: heads and bases must be at least 1, got 0 and 3"},
          [](Layer& l, Tensor&) { l.shape.heads = 0; });
  refuses(
      {"egc: a graph whose 14 targets are other nodes than its 5 sources needs features of both"},
      [](Layer&, Tensor& in) { in = random_tensor(5, 4, 1); }, rectangular_graph());

  const Layer layer(shape, 4, 5);
  expect_error(
      ErrorKind::kUsage, {"egc: x of the targets must be [14, 4] float64, got [13, 4] float64"},
      [&] { egc(tape, layer.shape, layer.weights, x, graph, {}, random_tensor(13, 4, 1)); });
  const auto refuses_second = [&](std::initializer_list<std::string> parts, const Tensor& bases,
                                  const Tensor& weights, const Tensor& bias) {
    expect_error(ErrorKind::kUsage, parts,
                 [&] { egc_aggregate(tape, shape, bases, weights, bias, graph); });
  };
  const Tensor bases = random_tensor(14, 15, 1);
  const Tensor weights = random_tensor(14, 12, 1);
  refuses_second({"egc_aggregate: bases must be [14, N], got [15, 15] float64"},
                 random_tensor(15, 15, 1), weights, {});
  refuses_second({"egc_aggregate: 16 columns are not 3 bases"}, random_tensor(14, 16, 1), weights,
                 {});
  refuses_second({"egc_aggregate: weights must be [14, 12] float64, got [14, 11] float64"}, bases,
                 random_tensor(14, 11, 1), {});
  refuses_second({"egc_aggregate: weights must be [14, 12] float64, got [14, 12] float32"}, bases,
                 weights.to(DType::kF32), {});
  refuses_second({"egc_aggregate: bias must be [1, 10] float64, got [1, 9] float64"}, bases,
                 weights, random_tensor(1, 9, 1));
}

}  // namespace
}  // namespace egc::ops
