// The attention operators: gradients by finite differences with every option, the epilogue, shared
// inputs, bad input. The kernels' numbers are tests/kernels/attention_test.cpp.
#include "egc/ops/attention.h"

#include "egc/ops/norm_act.h"
#include "egc/ops/row_parts.h"
#include "tests/core/expect_error.h"
#include "tests/kernels/random_problem.h"
#include "tests/tensor/gradcheck.h"

namespace egc::ops {
namespace {

using testing::awkward_graph;
using testing::close;
using testing::expect_error;
using testing::expect_gradients;
using testing::random_tensor;
using testing::same_bits;

constexpr int64_t kNodes = 14;

// GAT's or GATv2's operator over one set of inputs.
struct Problem {
  explicit Problem(int64_t heads, int64_t width, DType type = DType::kF64)
      : shape{heads},
        values(random_tensor(kNodes, heads * width, 1, type).with_gradient()),
        scores(random_tensor(kNodes, 2 * heads, 2, type).with_gradient()),
        query(random_tensor(kNodes, heads * width, 3, type).with_gradient()),
        attention(random_tensor(heads, width, 4, type).with_gradient()),
        bias(random_tensor(1, heads * width, 5, type).with_gradient()) {}

  Tensor run(Tape& tape, bool v2, const Csr& graph, const EpilogueTensors& epilogue = {}) const {
    return v2 ? gatv2_attention(tape, graph, shape, values, query, attention, bias, epilogue)
              : gat_attention(tape, graph, shape, values, scores, bias, epilogue);
  }

  AttentionShape shape;
  Tensor values, scores, query, attention, bias;
};

TEST(Attention, Gradcheck) {
  for (const int64_t heads : {1, 3})
    for (const bool self_loops : {true, false})
      for (const double slope : {0.0, 0.2, 1.0})
        for (const bool with_bias : {true, false})
          for (const bool v2 : {false, true}) {
            SCOPED_TRACE(fmt::format("v2={} heads={} loops={} slope={} bias={}", v2, heads,
                                     self_loops, slope, with_bias));
            Problem p(heads, 2);
            p.shape.self_loops = self_loops;
            p.shape.negative_slope = slope;
            std::vector<testing::NamedTensor> inputs = {{"values", p.values}};
            if (v2) {
              inputs.push_back({"query", p.query});
              inputs.push_back({"attention", p.attention});
            } else {
              inputs.push_back({"scores", p.scores});
            }
            if (with_bias)
              inputs.push_back({"bias", p.bias});
            else
              p.bias = {};
            const Csr graph = awkward_graph();
            expect_gradients(
                inputs, [] { return Tape::differentiation(); },
                [&](Tape& tape) { return p.run(tape, v2, graph); });
          }
}

// What nobody asks the gradient of changes nothing about the others.
TEST(Attention, GradientsOfSomeInputsOnly) {
  const Csr graph = awkward_graph();
  for (const bool v2 : {false, true}) {
    const Problem all(2, 3);
    const auto gradient_of_values = [&](const Problem& p) {
      Tape tape = Tape::training(0);
      const Tensor y = p.run(tape, v2, graph);
      tape.backward(y, random_tensor(kNodes, 6, 9));
      return p.values.gradient()->take();
    };
    const Tensor want = gradient_of_values(all);
    Problem one = all;
    for (Tensor* t : {&one.scores, &one.query, &one.attention, &one.bias}) *t = t->detached();
    EXPECT_TRUE(same_bits(gradient_of_values(one), want)) << v2;
  }
}

// One matrix as values and as query: its gradient is the sum of both.
TEST(Attention, SharedInputsAddUp) {
  const Csr graph = awkward_graph();
  const Problem p(2, 3);
  expect_gradients(
      {{"values", p.values}}, [] { return Tape::differentiation(); },
      [&](Tape& tape) {
        return add(tape,
                   {gatv2_attention(tape, graph, p.shape, p.values, p.values, p.attention, {}),
                    gat_attention(tape, graph, p.shape, p.values, p.scores, {})});
      });
}

TEST(Attention, EpilogueIsTheOperatorsInTurn) {
  const Csr graph = awkward_graph();
  for (const DType type : {DType::kF32, DType::kF64})
    for (const int64_t width : {1, 3, 8, 17})
      for (const bool v2 : {false, true}) {
        const Problem p(2, width, type);
        const EpilogueTensors epilogue{random_tensor(1, 2 * width, 6, type),
                                       random_tensor(1, 2 * width, 7, type), /*relu=*/true,
                                       random_tensor(kNodes, 2 * width, 8, type)};
        Tape tape = Tape::inference();
        EXPECT_TRUE(same_bits(p.run(tape, v2, graph, epilogue),
                              apply_epilogue(p.run(tape, v2, graph), epilogue)))
            << width << " v2=" << v2;
      }
}

TEST(Attention, BadInputIsNamed) {
  const Csr graph = awkward_graph();
  Tape tape = Tape::inference();
  const auto refuses = [&](std::initializer_list<std::string> parts, bool v2, const Csr& g,
                           const auto& change) {
    Problem p(2, 3);
    change(p);
    expect_error(ErrorKind::kUsage, parts, [&] { p.run(tape, v2, g); });
  };
  const auto nothing = [](Problem&) {};
  for (const bool v2 : {false, true}) {
    const std::string name = v2 ? "gatv2: " : "gat: ";
    refuses({name + "values must be [14, N]", "[13, 6] float64"}, v2, graph,
            [](Problem& p) { p.values = random_tensor(13, 6, 1); });
    refuses({name + "6 columns are not divisible by 4 heads"}, v2, graph,
            [](Problem& p) { p.shape.heads = 4; });
    refuses({name + "the negative slope must be in [0, 1], got 1.5"}, v2, graph,
            [](Problem& p) { p.shape.negative_slope = 1.5; });
    refuses({name + "bias must be [1, 6] float64, got [1, 5] float64"}, v2, graph,
            [](Problem& p) { p.bias = random_tensor(1, 5, 1); });
    refuses({name, "edge weights"}, v2, awkward_graph(true), nothing);
    refuses({name + "the graph's targets must be its sources", "got 1 targets", "14 other sources"},
            v2, Csr::from_edges(1, 14, std::vector<int64_t>{3}, std::vector<int64_t>{0}), nothing);
  }
  refuses({"gat: scores must be [14, 4] float64, got [14, 3] float64"}, false, graph,
          [](Problem& p) { p.scores = random_tensor(14, 3, 1); });
  refuses({"gatv2: query must be [14, 6] float64, got [14, 6] float32"}, true, graph,
          [](Problem& p) { p.query = p.query.to(DType::kF32); });
  refuses({"gatv2: attention must be [2, 3] float64, got [3, 2] float64"}, true, graph,
          [](Problem& p) { p.attention = random_tensor(3, 2, 1); });
}

}  // namespace
}  // namespace egc::ops
