// Aggregates, sparse products and selected rows as operators: against the scalar reference,
// gradients by finite differences, the epilogue, hostile messages, bad input.
#include "egc/ops/aggregate.h"

#include <cmath>
#include <limits>

#include "egc/kernels/target.h"
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
using testing::random_tensor;
using testing::same_bits;
using testing::tensor_of;

constexpr SelfLoops kModes[] = {SelfLoops::kAll, SelfLoops::kSymnorm, SelfLoops::kNone};

// 14 targets of 5 other sources, with weights and without.
Csr rectangular_graph(bool weighted) {
  Rng rng(3);
  std::vector<int64_t> source, target;
  std::vector<float> weights;
  for (int k = 0; k < 40; ++k) {
    source.push_back(rng.below(5));
    target.push_back(rng.below(13));  // target 13 has no edge
    if (weighted) weights.push_back(0.5F + rng.uniform());
  }
  return Csr::from_edges(14, 5, source, target, weights);
}

class AggregateTest : public ::testing::Test {
 protected:
  void TearDown() override { kernels::force_target(""); }
};

TEST_F(AggregateTest, IsTheReferenceForEverySetOfAggregators) {
  for (unsigned mask = 1; mask < 128; ++mask) {
    const SelfLoops mode = kModes[mask % 3];
    const AggregatorSet set = aggregator_set(mask);
    const Csr graph = awkward_graph(mask % 2 == 0);
    const Tensor x = random_tensor(14, 5, mask).with_gradient();
    const Tensor bias = random_tensor(1, 5 * set.size(), 2).with_gradient();
    const Tensor upstream = random_tensor(14, 5 * set.size(), 3);
    const kernels::ReferenceInput in{{set, mode, set.size(), 1, 5},
                                     graph.view(),
                                     x.data<double>(),
                                     nullptr,
                                     bias.data<double>()};
    const Tensor want = tensor_of(14, 5 * set.size(), kernels::reference_forward(in));
    const Tensor want_grad =
        tensor_of(14, 5, kernels::reference_backward(in, upstream.data<double>()).bases);
    for (const std::string& target : kernels::available_targets()) {
      kernels::force_target(target);
      Tape tape = Tape::training(0);
      const Tensor y = aggregate(tape, graph, set, mode, x, bias);
      EXPECT_TRUE(close(y, want, 1e-12)) << target << " " << mask;
      tape.backward(y, upstream);
      EXPECT_TRUE(close(x.gradient()->take(), want_grad, 1e-11)) << target << " " << mask;
      bias.gradient()->take();
    }
  }
}

TEST_F(AggregateTest, Gradcheck) {
  for (int a = 0; a <= kNumAggregators; ++a)  // each alone, then all
    for (const SelfLoops mode : kModes)
      for (const bool weighted : {false, true})
        for (const bool with_bias : {false, true}) {
          const AggregatorSet set = aggregator_set(a == kNumAggregators ? 127U : 1U << a);
          SCOPED_TRACE(fmt::format("{} {} weighted={}", a, name_of(mode), weighted));
          const Csr graph = awkward_graph(weighted);
          const Tensor x = random_tensor(14, 3, 5).with_gradient();
          Tensor bias;
          std::vector<testing::NamedTensor> inputs = {{"x", x}};
          if (with_bias) {
            bias = random_tensor(1, 3 * set.size(), 6).with_gradient();
            inputs.push_back({"bias", bias});
          }
          expect_gradients(
              inputs, [] { return Tape::training(0); },
              [&](Tape& tape) { return aggregate(tape, graph, set, mode, x, bias); });
        }
}

TEST_F(AggregateTest, GradcheckWhereTargetsAreOtherNodes) {
  for (const bool weighted : {false, true}) {
    const Csr graph = rectangular_graph(weighted);
    const Tensor x = random_tensor(5, 3, 5).with_gradient();
    expect_gradients(
        {{"x", x}}, [] { return Tape::training(0); },
        [&](Tape& tape) {
          return aggregate(tape, graph, aggregator_set(127), SelfLoops::kNone, x);
        });
    expect_gradients(
        {{"x", x}}, [] { return Tape::training(0); },
        [&](Tape& tape) { return spmm(tape, graph, x); });
  }
}

// Of equal messages the first in the row gets all of the gradient; a weighted message's is weighed.
TEST_F(AggregateTest, TiesGoToTheFirst) {
  const std::vector<int64_t> source = {3, 1, 2, 2};
  const std::vector<int64_t> target = {0, 0, 0, 3};
  const Csr graph = Csr::from_edges(4, source, target);
  for (const DType type : {DType::kF32, DType::kF64})
    for (const Aggregator a : {Aggregator::kMax, Aggregator::kMin})
      for (const std::string& instructions : kernels::available_targets()) {
        kernels::force_target(instructions);
        const Tensor x = Tensor::full(4, 19, type, 2.5).with_gradient();
        Tape tape = Tape::training(0);
        const Tensor y = aggregate(tape, graph, {a}, SelfLoops::kNone, x);
        const Tensor upstream = random_tensor(4, 19, 1, type);
        tape.backward(y, upstream);
        const Tensor grad = x.gradient()->take();
        for (int64_t c = 0; c < 19; ++c) {
          EXPECT_EQ(grad.item(0, c), 0);
          EXPECT_EQ(grad.item(1, c), upstream.item(0, c));  // rows are sorted by source
          EXPECT_EQ(grad.item(2, c), upstream.item(3, c));
          EXPECT_EQ(grad.item(3, c), 0);
        }
      }
}

TEST_F(AggregateTest, SharedInputsAddUp) {
  const Csr graph = awkward_graph();
  const Tensor x = random_tensor(14, 4, 1).with_gradient();
  expect_gradients(
      {{"x", x}}, [] { return Tape::training(0); },
      [&](Tape& tape) {
        return add(tape, {aggregate(tape, graph, {Aggregator::kMean}, SelfLoops::kAll, x),
                          aggregate(tape, graph, {Aggregator::kMax}, SelfLoops::kNone, x),
                          spmm(tape, graph, x), x});
      });
}

TEST_F(AggregateTest, EpilogueIsTheOperatorsInTurn) {
  for (const DType type : {DType::kF32, DType::kF64})
    for (const int64_t width : {1, 7, 8, 16, 33})
      for (const unsigned mask : {4U, 8U, 127U}) {
        const AggregatorSet set = aggregator_set(mask);
        const Csr graph = awkward_graph();
        const int64_t columns = width * set.size();
        const Tensor x = random_tensor(14, width, 1, type);
        const Tensor bias = random_tensor(1, columns, 2, type);
        const EpilogueTensors all{random_tensor(1, columns, 3, type),
                                  random_tensor(1, columns, 4, type), /*relu=*/true,
                                  random_tensor(14, columns, 5, type)};
        for (const EpilogueTensors& e :
             {all, EpilogueTensors{{}, {}, true, {}}, EpilogueTensors{{}, {}, false, all.residual},
              EpilogueTensors{all.scale, all.shift, false, {}}}) {
          Tape tape = Tape::inference();
          EXPECT_TRUE(
              same_bits(aggregate(tape, graph, set, SelfLoops::kAll, x, bias, e),
                        apply_epilogue(aggregate(tape, graph, set, SelfLoops::kAll, x, bias), e)));
        }
      }
}

// One message is NaN or infinite: aggregates that do not depend on it (a maximum of -inf, rows
// that do not have it, other columns) stay what they are, and so do their gradients.
TEST_F(AggregateTest, OtherAggregatesStayFinite) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Csr graph = awkward_graph();
  const AggregatorSet set = aggregator_set(127);
  constexpr int64_t kColumns = 9;
  constexpr int64_t kBad = 4;  // the column
  for (const DType type : {DType::kF32, DType::kF64})
    for (const double hostile : {static_cast<double>(NAN), kInf, -kInf})
      for (const std::string& target : kernels::available_targets()) {
        kernels::force_target(target);
        const auto run = [&](double value) {
          const Tensor x = random_tensor(14, kColumns, 1, type).with_gradient();
          with_type(type, [&](auto zero) {
            x.data<decltype(zero)>()[7 * kColumns + kBad] = static_cast<decltype(zero)>(value);
          });
          Tape tape = Tape::training(0);
          const Tensor y = aggregate(tape, graph, set, SelfLoops::kNone, x);
          tape.backward(y, Tensor::full(14, y.columns(), type, 1));
          return std::pair{y.detached(), x.gradient()->take()};
        };
        const auto [y, grad] = run(hostile);
        const auto [tame, tame_grad] = run(1.5);
        for (int64_t i = 0; i < 14; ++i) {
          bool sees = false;
          for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e)
            sees = sees || graph.sources()[e] == 7;
          for (int a = 0; a < set.size(); ++a)
            for (int64_t c = 0; c < kColumns; ++c) {
              const double got = y.item(i, a * kColumns + c);
              if (!sees || c != kBad) {
                EXPECT_EQ(got, tame.item(i, a * kColumns + c)) << target << name_of(set[a]);
                continue;
              }
              const bool extreme = set[a] == Aggregator::kMax || set[a] == Aggregator::kMin;
              const double other = set[a] == Aggregator::kMax ? -kInf : kInf;
              if (extreme && hostile == other) {
                // The greatest of the others, where there are others.
                if (graph.offsets()[i + 1] - graph.offsets()[i] > 4) {
                  EXPECT_TRUE(std::isfinite(got)) << target << name_of(set[a]) << i;
                }
              } else {
                EXPECT_FALSE(std::isfinite(got)) << target << name_of(set[a]) << i;
              }
            }
          for (int64_t c = 0; c < kColumns; ++c)
            if (c != kBad) {
              EXPECT_EQ(grad.item(i, c), tame_grad.item(i, c)) << target;
            }
        }
      }
}

// Messages whose squares, or whose sum, are beyond float32: the greatest and the least are what
// they are, and so are sums that float32 can hold.
TEST_F(AggregateTest, WhatOverflowsDoesNotSpoilTheOthers) {
  const Csr graph = awkward_graph();
  constexpr int64_t kColumns = 19;
  constexpr int64_t kBad = 13;
  for (const unsigned mask : {127U, 8U | 32U, 1U | 8U | 16U, 2U | 16U | 64U})
    for (const double large : {1e30, -1e30, 3e38, -3e38})
      for (const std::string& target : kernels::available_targets()) {
        kernels::force_target(target);
        const AggregatorSet set = aggregator_set(mask);
        const Tensor x = random_tensor(14, kColumns, 1, DType::kF32);
        for (const int64_t row : {7, 8})
          x.data<float>()[row * kColumns + kBad] = static_cast<float>(large);
        const Tensor wide = x.to(DType::kF64);
        const Tensor want =
            tensor_of(14, set.size() * kColumns,
                      kernels::reference_forward({{set, SelfLoops::kNone, set.size(), 1, kColumns},
                                                  graph.view(),
                                                  wide.data<double>(),
                                                  nullptr,
                                                  nullptr}));
        Tape tape = Tape::inference();
        const Tensor y = aggregate(tape, graph, set, SelfLoops::kNone, x);
        for (int64_t i = 0; i < 14; ++i)
          for (int a = 0; a < set.size(); ++a) {
            const double got = y.item(i, a * kColumns + kBad);
            const double is = want.item(i, a * kColumns + kBad);
            const bool deviation = set[a] == Aggregator::kVar || set[a] == Aggregator::kStd;
            if (set[a] == Aggregator::kMax || set[a] == Aggregator::kMin) {
              EXPECT_EQ(got, is) << target << " " << name_of(set[a]) << " " << i;
            } else if (!deviation && std::abs(large) < 1e38) {
              EXPECT_NEAR(got, is, 1e-6 * std::abs(is) + 1e-6)
                  << target << " " << name_of(set[a]) << " " << i;
            }
          }
      }
}

TEST(Spmm, IsTheReferenceAndHasItsGradient) {
  for (const bool weighted : {false, true})
    for (const Csr& graph : {awkward_graph(weighted), rectangular_graph(weighted)}) {
      const Tensor x = random_tensor(graph.num_sources(), 5, 1).with_gradient();
      Tape tape = Tape::inference();
      EXPECT_TRUE(close(
          spmm(tape, graph, x),
          tensor_of(14, 5, kernels::reference_spmm(graph.view(), x.data<double>(), 5)), 1e-12));
      expect_gradients(
          {{"x", x}}, [] { return Tape::training(0); }, [&](Tape& t) { return spmm(t, graph, x); });
    }
}

TEST(SelectRows, TakesRowsAndAddsTheirGradients) {
  const Tensor table = random_tensor(6, 3, 1).with_gradient();
  const std::vector<int64_t> indices = {5, 0, 0, 3, 5, 5};
  Tape tape = Tape::inference();
  const Tensor y = select_rows(tape, table, indices);
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t c = 0; c < 3; ++c)
      EXPECT_EQ(y.item(i, c), table.item(indices[static_cast<size_t>(i)], c));
  expect_gradients(
      {{"table", table}}, [] { return Tape::training(0); },
      [&](Tape& t) { return select_rows(t, table, indices); });
  EXPECT_EQ(select_rows(tape, table, {}).rows(), 0);
  for (const int64_t bad : {-1, 6})
    expect_error(ErrorKind::kUsage,
                 {fmt::format("select_rows: there is no row {} in [6, 3] float64", bad)}, [&] {
                   select_rows(tape, table, std::vector<int64_t>{0, bad});
                 });
}

TEST(AggregateErrors, AreOneSentence) {
  const Csr graph = awkward_graph();
  Tape tape = Tape::inference();
  const auto refuses = [&](std::initializer_list<std::string> parts, const auto& f) {
    expect_error(ErrorKind::kUsage, parts, f);
  };
  const AggregatorSet two = {Aggregator::kAdd, Aggregator::kMax};
  const Tensor x = random_tensor(14, 3, 1);
  refuses({"aggregate: x must be [14, N], got [13, 3] float64"},
          [&] { aggregate(tape, graph, two, SelfLoops::kAll, random_tensor(13, 3, 1)); });
  refuses({"aggregate: bias must be [1, 6] float64, got [1, 3] float64"},
          [&] { aggregate(tape, graph, two, SelfLoops::kAll, x, random_tensor(1, 3, 1)); });
  refuses({"aggregate: bias must be [1, 6] float64, got [1, 6] float32"}, [&] {
    aggregate(tape, graph, two, SelfLoops::kAll, x, random_tensor(1, 6, 1, DType::kF32));
  });
  refuses({"epilogue: residual must be [14, 6] float64, got [14, 3] float64"}, [&] {
    aggregate(tape, graph, two, SelfLoops::kAll, x, {}, {{}, {}, false, x});
  });
  refuses({"epilogue: scale must be [1, 6] float64, got [1, 3] float64"}, [&] {
    const Tensor narrow = random_tensor(1, 3, 1);
    aggregate(tape, graph, two, SelfLoops::kAll, x, {}, {narrow, narrow, false, {}});
  });
  refuses({"epilogue: scale and shift come together"}, [&] {
    aggregate(tape, graph, two, SelfLoops::kAll, x, {}, {random_tensor(1, 6, 1), {}, false, {}});
  });
  refuses({"epilogue: it has no gradient"}, [&] {
    Tape recording = Tape::training(0);
    aggregate(recording, graph, two, SelfLoops::kAll, x.with_gradient(), {}, {{}, {}, true, {}});
  });
  refuses({"spmm: x must be [5, N], got [14, 3] float64"},
          [&] { spmm(tape, rectangular_graph(false), x); });
  refuses({"self-loops"}, [&] {
    aggregate(tape, rectangular_graph(false), two, SelfLoops::kAll, random_tensor(5, 3, 1));
  });
}

}  // namespace
}  // namespace egc::ops
