// Attention against the scalar reference: GAT and GATv2, every width of a head, every instruction
// set, both precisions, forward and backward.
#include "egc/engine/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "egc/engine/norm_act.h"
#include "egc/graph/topologies.h"
#include "egc/kernels/target.h"
#include "tests/core/thread_count.h"
#include "tests/kernels/compare.h"
#include "tests/kernels/random_problem.h"

namespace egc {
namespace {

using kernels::AttentionInput;
using kernels::ReferenceAttention;
using testing::awkward_graph;
using testing::cast;
using testing::grid_values;
using testing::Output;
using testing::same_bits;
using testing::tolerance;
using testing::worst;

enum class Kind { kGat, kGatv2 };
constexpr Kind kAccumulators[] = {Kind::kGat, Kind::kGatv2};

struct Problem {
  Csr graph;
  Kind kind = Kind::kGat;
  int64_t heads = 1;
  int64_t width = 1;
  bool self_loops = false;
  double slope = 0.2;
  std::vector<double> bias;  // empty: none
  std::vector<double> values;
  std::vector<double> source_score;
  std::vector<double> target_score;
  std::vector<double> query;
  std::vector<double> attention;
  std::vector<double> grad_out;

  std::string name() const {
    return fmt::format("{} H={} C={} loops={} slope={} bias={} nodes={}",
                       kind == Kind::kGat ? "GAT" : "GATv2", heads, width, self_loops, slope,
                       !bias.empty(), graph.num_targets());
  }
};

// On the grid, so that the sums inside the leaky ReLU are exact and many of them are 0.
Problem make_problem(const Csr& graph, Kind kind, int64_t heads, int64_t width, bool bias = true) {
  const int64_t columns = heads * width;
  Problem p;
  p.graph = graph;
  p.kind = kind;
  p.heads = heads;
  p.width = width;
  p.values = grid_values(graph.num_sources() * columns, 21);
  if (bias) p.bias = grid_values(columns, 22);
  p.grad_out = grid_values(graph.num_targets() * columns, 23);
  if (kind == Kind::kGat) {
    p.source_score = grid_values(graph.num_sources() * heads, 24);
    p.target_score = grid_values(graph.num_targets() * heads, 25);
  } else {
    p.query = grid_values(graph.num_targets() * columns, 26);
    p.attention = grid_values(columns, 27);
    for (double& a : p.attention) a /= 4;  // else a wide head's softmax has one term
  }
  return p;
}

// The problem in one precision.
template <class T>
struct Inputs {
  std::vector<T> values, source_score, target_score, query, attention, bias, grad_out;
  AttentionInput<T> in;

  explicit Inputs(const Problem& p)
      : values(cast<T>(p.values)),
        source_score(cast<T>(p.source_score)),
        target_score(cast<T>(p.target_score)),
        query(cast<T>(p.query)),
        attention(cast<T>(p.attention)),
        bias(cast<T>(p.bias)),
        grad_out(cast<T>(p.grad_out)) {
    in.graph = p.graph.view();
    in.self_loops = p.self_loops;
    in.heads = p.heads;
    in.width = p.width;
    in.slope = static_cast<T>(p.slope);
    in.values = values.data();
    if (p.kind == Kind::kGat) {
      in.source_score = source_score.data();
      in.target_score = target_score.data();
    } else {
      in.is_v2 = true;
      in.query = query.data();
      in.attention = attention.data();
    }
  }
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;

  const T* bias_or_null() const { return bias.empty() ? nullptr : bias.data(); }
};

ReferenceAttention reference(const Problem& p) {
  const Inputs<double> inputs(p);
  return kernels::reference_attention(inputs.in, inputs.bias_or_null(), inputs.grad_out.data());
}

enum class Keep { kNothing, kSoftmax, kEverything };

// Everything that forward and backward write.
template <class T>
struct Result {
  Output<T> out, softmax, sloped_y, sloped_sum;
  Output<T> grad_values, grad_source_score, grad_target_score, grad_query, grad_attention;

  explicit Result(const Problem& p)
      : out(p.grad_out.size()),
        softmax(p.graph.num_targets() * 2 * p.heads),
        sloped_y(p.source_score.empty() ? 0 : p.grad_out.size()),
        sloped_sum(p.target_score.size()),
        grad_values(p.values.size()),
        grad_source_score(p.source_score.size()),
        grad_target_score(p.target_score.size()),
        grad_query(p.query.size()),
        grad_attention(p.attention.size()) {}

  std::vector<std::pair<std::string, const Output<T>*>> all() const {
    return {{"out", &out},
            {"softmax", &softmax},
            {"sloped_y", &sloped_y},
            {"sloped_sum", &sloped_sum},
            {"grad_values", &grad_values},
            {"grad_source_score", &grad_source_score},
            {"grad_target_score", &grad_target_score},
            {"grad_query", &grad_query},
            {"grad_attention", &grad_attention}};
  }
};

template <class T>
kernels::AttentionSaved<T> saved_of(const Problem& p, Result<T>& r, Keep keep) {
  kernels::AttentionSaved<T> saved;
  if (keep != Keep::kNothing) saved.softmax = r.softmax.data();
  if (keep == Keep::kEverything && p.kind == Kind::kGat) {
    saved.sloped_y = r.sloped_y.data();
    saved.sloped_sum = r.sloped_sum.data();
  }
  return saved;
}

template <class T>
void forward(const Problem& p, Result<T>& r, Keep keep, const Epilogue<T>& epilogue = {}) {
  const Inputs<T> inputs(p);
  attention_forward(p.graph, inputs.in, inputs.bias_or_null(), r.out.data(), saved_of(p, r, keep),
                    epilogue);
}

template <class T>
Result<T> run(const Problem& p) {
  Result<T> r(p);
  forward(p, r, Keep::kEverything);
  const Inputs<T> inputs(p);
  kernels::AttentionGrad<T> grad;
  grad.grad_out = inputs.grad_out.data();
  grad.out = r.out.data();
  grad.bias = inputs.bias_or_null();
  grad.saved = saved_of(p, r, Keep::kEverything);
  AttentionGradients<T> to;
  to.values = r.grad_values.data();
  if (p.kind == Kind::kGat) {
    to.source_score = r.grad_source_score.data();
    to.target_score = r.grad_target_score.data();
  } else {
    to.query = r.grad_query.data();
    to.attention = r.grad_attention.data();
  }
  attention_backward(p.graph, inputs.in, grad, to);
  return r;
}

// `scale`: how large the terms are that gradients are sums of, where those may cancel.
template <class T>
void compare(const Problem& p, const ReferenceAttention& want, const std::string& target,
             double scale = 1.0) {
  const Result<T> got = run<T>(p);
  const std::string what = fmt::format("{} f{} {}: ", target, 8 * sizeof(T), p.name());
  const double most = tolerance<T>();
  EXPECT_LE(worst(got.out, want.out), most) << what << "output";
  EXPECT_LE(worst(got.grad_values, want.grad_values, scale), most) << what << "values";
  for (const auto& [name, output] : got.all())
    EXPECT_TRUE(output->margins_are_intact()) << what << name;
  for (const Output<T>* kept : {&got.softmax, &got.sloped_y, &got.sloped_sum})
    for (const T v : kept->values())
      ASSERT_TRUE(std::isfinite(v)) << what << "kept for the backward pass, but not written";
  if (p.kind == Kind::kGat) {
    EXPECT_LE(worst(got.grad_source_score, want.grad_source_score, scale), most)
        << what << "source score";
    EXPECT_LE(worst(got.grad_target_score, want.grad_target_score, scale), most)
        << what << "target score";
  } else {
    EXPECT_LE(worst(got.grad_query, want.grad_query, scale), most) << what << "query";
    EXPECT_LE(worst(got.grad_attention, want.grad_attention, scale), most) << what << "attention";
  }
}

class AttentionTest : public ::testing::Test {
 protected:
  void TearDown() override { kernels::force_target(""); }

  // Every instruction set of this machine, both precisions.
  void compare_everywhere(const Problem& p, double scale = 1.0) {
    const ReferenceAttention want = reference(p);
    for (const std::string& target : kernels::available_targets()) {
      kernels::force_target(target);
      ASSERT_EQ(kernels::current_target(), target);
      compare<float>(p, want, target, scale);
      compare<double>(p, want, target, scale);
    }
  }

  void compare_variants(Problem p) {
    for (const bool loops : {false, true})
      for (const double slope : {0.0, 0.2, 1.0}) {
        p.self_loops = loops;
        p.slope = slope;
        compare_everywhere(p);
      }
  }
};

TEST_F(AttentionTest, EveryHeadWidth) {
  const Csr graph = awkward_graph();
  for (const Kind kind : kAccumulators)
    for (const int64_t heads : {1, 2, 3, 8})
      for (int64_t width = 1; width <= 37; ++width)
        for (const bool bias : {false, true})
          compare_variants(make_problem(graph, kind, heads, width, bias));
}

// More than four vectors: several blocks a head, the last with an overlap.
TEST_F(AttentionTest, WideHeads) {
  const Csr graph = awkward_graph();
  for (const Kind kind : kAccumulators)
    for (const int64_t width : {47, 48, 49, 63, 64, 65, 66, 79, 80, 81, 100, 127, 128, 129, 200})
      for (const int64_t heads : {1, 2})
        compare_variants(make_problem(graph, kind, heads, width, width % 2 == 0));
}

TEST_F(AttentionTest, EdgeWeightsAreNotUsed) {
  const Csr plain = awkward_graph(false);
  const Csr weighted = Csr(plain.num_targets(), {plain.offsets().begin(), plain.offsets().end()},
                           {plain.sources().begin(), plain.sources().end()},
                           std::vector<float>(plain.num_edges(), 3.0F));
  for (const Kind kind : kAccumulators) {
    const Result<float> want = run<float>(make_problem(plain, kind, 2, 5));
    const Result<float> got = run<float>(make_problem(weighted, kind, 2, 5));
    for (size_t k = 0; k < want.all().size(); ++k)
      EXPECT_TRUE(same_bits(*got.all()[k].second, *want.all()[k].second)) << got.all()[k].first;
  }
}

TEST_F(AttentionTest, RectangularGraph) {
  const std::vector<int64_t> source = {0, 4, 4, 2, 1, 6, 6};
  const std::vector<int64_t> target = {0, 0, 2, 2, 2, 2, 0};
  const Csr wide = Csr::from_edges(3, 7, source, target);  // more sources than targets
  const Csr tall = Csr::from_edges(7, 3, target, source);
  for (const Csr& graph : {wide, tall})
    for (const Kind kind : kAccumulators)
      for (const int64_t width : {1, 4, 7, 16, 19})
        compare_everywhere(make_problem(graph, kind, 3, width));
}

TEST_F(AttentionTest, NoNodesNoEdges) {
  for (const int64_t nodes : {0, 1, 4})
    for (const Kind kind : kAccumulators)
      for (const bool bias : {false, true}) {
        const Problem p = make_problem(Csr::from_edges(nodes, {}, {}), kind, 2, 5, bias);
        compare_variants(p);
      }
}

// Nothing to attend to: the output is the bias, to the bit, and no gradient is left unwritten.
TEST_F(AttentionTest, NodesWithoutNeighbours) {
  for (const Kind kind : kAccumulators) {
    const Problem p = make_problem(Csr::from_edges(5, {}, {}), kind, 2, 7);
    const Result<float> got = run<float>(p);
    const std::vector<float> out = got.out.values();
    for (size_t k = 0; k < out.size(); ++k)
      ASSERT_EQ(out[k], static_cast<float>(p.bias[k % p.bias.size()]));
    for (const auto& [name, output] : got.all()) {
      if (!name.starts_with("grad")) continue;
      for (const float g : output->values()) ASSERT_EQ(g, 0.0F) << name;
    }
  }
}

// A gradient of zero, not what happened to be in memory. An empty matrix often has a null address
// (a std::vector's, a tensor's), and the kind of attention must not be guessed from that.
TEST_F(AttentionTest, NoNodesGiveTheAttentionVectorNoGradient) {
  const Csr graph = Csr::from_edges(0, {}, {});
  const std::vector<float> attention(10, 1.0F);
  const float somewhere[1] = {};
  for (const float* query : {somewhere, static_cast<const float*>(nullptr)}) {
    AttentionInput<float> in;
    in.heads = 2;
    in.width = 5;
    in.values = query;
    in.is_v2 = true;
    in.query = query;
    in.attention = attention.data();
    Output<float> grad_attention(attention.size());
    AttentionGradients<float> to;
    to.attention = grad_attention.data();
    attention_backward(graph, in, {}, to);
    EXPECT_EQ(worst(grad_attention, std::vector<double>(attention.size(), 0.0)), 0.0)
        << (query == nullptr ? "null query" : "a query with an address");
  }
}

// Powers of two keep the scores exact in float: what is left to go wrong is the softmax.
TEST_F(AttentionTest, HugeScores) {
  for (const double huge : {0x1p13, 0x1p100}) {
    Problem p = make_problem(awkward_graph(), Kind::kGat, 3, 19);
    p.slope = 0.25;
    Rng rng(4);
    const double signs[] = {-1, 0, 1};
    for (auto* scores : {&p.source_score, &p.target_score})
      for (double& s : *scores) s += huge * signs[rng.below(3)];
    for (const bool loops : {false, true}) {
      p.self_loops = loops;
      compare_everywhere(p);
    }
  }
  for (const double sign : {-1.0, 1.0}) {  // nobody near zero: the greatest score must be taken off
    Problem p = make_problem(awkward_graph(), Kind::kGat, 3, 19);
    p.slope = 0.25;
    for (double& s : p.source_score) s += sign * 0x1p13;
    compare_everywhere(p);
  }
  Problem p = make_problem(awkward_graph(), Kind::kGatv2, 3, 19);
  p.slope = 0.25;
  for (double& a : p.attention) a *= 0x1p13;
  for (const bool loops : {false, true}) {
    p.self_loops = loops;
    compare_everywhere(p, 0x1p12);
  }
}

// Scores so far apart that one neighbour takes all.
TEST_F(AttentionTest, OneNeighbourTakesAll) {
  const Csr graph =
      Csr::from_edges(4, std::vector<int64_t>{1, 2, 3}, std::vector<int64_t>{0, 0, 0});
  Problem p = make_problem(graph, Kind::kGat, 1, 5, false);
  p.source_score = {0, -10000, 10000, 9000};
  p.target_score = {0, 0, 0, 0};
  const std::vector<float> out = run<float>(p).out.values();
  for (int64_t c = 0; c < 5; ++c) EXPECT_EQ(out[c], static_cast<float>(p.values[2 * 5 + c]));
}

TEST_F(AttentionTest, EqualScoresGiveTheMean) {
  const Csr graph = awkward_graph();
  for (const Kind kind : kAccumulators)
    for (const double score : {0.0, -3.0, 1e4, -1e4}) {
      Problem p = make_problem(graph, kind, 2, 9, false);
      if (kind == Kind::kGat) {
        std::fill(p.source_score.begin(), p.source_score.end(), score);
        std::fill(p.target_score.begin(), p.target_score.end(), 0.0);
      } else {
        std::fill(p.attention.begin(), p.attention.end(), 0.0);
      }
      compare_everywhere(p);
      const std::vector<double> out = run<double>(p).out.values();
      const std::vector<double> sum =
          kernels::reference_spmm(graph.view(), p.values.data(), p.heads * p.width);
      for (size_t k = 0; k < out.size(); ++k) {
        const int64_t i = static_cast<int64_t>(k) / (p.heads * p.width);
        const int64_t degree = graph.offsets()[i + 1] - graph.offsets()[i];
        ASSERT_NEAR(out[k], degree == 0 ? 0.0 : sum[k] / static_cast<double>(degree), 1e-14);
      }
    }
}

// The backward pass takes y as the output less the bias, so a bias costs precision in proportion to
// its size, and no more than that.
TEST_F(AttentionTest, BiasLargerThanTheValues) {
  for (const Kind kind : kAccumulators) {
    Problem p = make_problem(awkward_graph(), kind, 2, 13);
    for (double& b : p.bias) b += 64;
    compare_everywhere(p, 64.0);
  }
}

TEST_F(AttentionTest, InferenceHasTheBitsOfTraining) {
  const Csr graph = awkward_graph();
  for (const std::string& target : kernels::available_targets()) {
    kernels::force_target(target);
    for (const Kind kind : kAccumulators)
      for (const bool loops : {false, true})
        for (const int64_t width : {1, 5, 16, 33}) {
          Problem p = make_problem(graph, kind, 3, width);
          p.self_loops = loops;
          Result<float> nothing(p);
          Result<float> softmax(p);
          Result<float> everything(p);
          forward(p, nothing, Keep::kNothing);
          forward(p, softmax, Keep::kSoftmax);
          forward(p, everything, Keep::kEverything);
          EXPECT_TRUE(same_bits(nothing.out, everything.out)) << target << " " << p.name();
          EXPECT_TRUE(same_bits(softmax.out, everything.out)) << target << " " << p.name();
          EXPECT_TRUE(same_bits(softmax.softmax, everything.softmax)) << target << " " << p.name();
        }
  }
}

TEST_F(AttentionTest, EpilogueIsWhatFollowsTheOutput) {
  for (const Kind kind : kAccumulators)
    for (const bool normalised : {false, true})
      for (const bool relu : {false, true})
        for (const bool with_residual : {false, true}) {
          const Problem p = make_problem(awkward_graph(), kind, 3, 7);
          const int64_t rows = p.graph.num_targets();
          const int64_t columns = p.heads * p.width;
          const std::vector<float> scale = cast<float>(grid_values(columns, 31));
          const std::vector<float> shift = cast<float>(grid_values(columns, 32));
          const std::vector<float> residual = cast<float>(grid_values(rows * columns, 33));
          Epilogue<float> epilogue;
          if (normalised) epilogue.op = {scale.data(), shift.data(), relu};
          epilogue.op.relu = relu;
          epilogue.residual = with_residual ? residual.data() : nullptr;
          Result<float> fused(p);
          forward(p, fused, Keep::kNothing, epilogue);
          Result<float> plain(p);
          forward(p, plain, Keep::kNothing);
          Output<float> want(fused.out.size());
          norm_act_forward<float>(epilogue.op, rows, columns, plain.out.data(), epilogue.residual,
                                  want.data());
          EXPECT_TRUE(same_bits(fused.out, want)) << p.name();
        }
}

// Several ranges of rows, hubs, and values beyond the size from which they are prefetched.
Problem large_problem(Kind kind, int64_t edges) {
  Problem p = make_problem(power_law_graph(4000, edges, 0.8, 6), kind, 4, 23);
  p.self_loops = true;
  return p;
}

TEST_F(AttentionTest, LargeGraph) {
  for (const Kind kind : kAccumulators) {
    const Problem p = large_problem(kind, 40'000);
    ASSERT_GT(p.values.size() * sizeof(float), size_t{1} << 20);
    compare_everywhere(p);
  }
}

TEST_F(AttentionTest, SameBitsForAnyNumberOfThreads) {
  for (const Kind kind : kAccumulators) {
    const Problem p = large_problem(kind, 200'000);
    ASSERT_GT(p.graph.row_ranges().size(), 4U);
    const testing::ThreadCount one(1);
    const Result<float> want = run<float>(p);
    for (const int threads : {1, 2, 4, 8})
      for (int repeat = 0; repeat < 5; ++repeat) {
        const testing::ThreadCount several(threads);
        const Result<float> got = run<float>(p);
        for (size_t k = 0; k < want.all().size(); ++k)
          ASSERT_TRUE(same_bits(*got.all()[k].second, *want.all()[k].second))
              << p.name() << " " << got.all()[k].first << ", " << threads << " threads";
      }
  }
}

// The truth itself: its gradients are those of its output, by central differences. Values off the
// grid, so that no leaky ReLU sits at its kink.
TEST_F(AttentionTest, ReferenceGradients) {
  for (const Kind kind : kAccumulators)
    for (const bool loops : {false, true}) {
      Problem p = make_problem(awkward_graph(), kind, 2, 3);
      p.self_loops = loops;
      Rng rng(8);
      for (auto* v : {&p.values, &p.source_score, &p.target_score, &p.query, &p.attention})
        for (double& x : *v) x = 2.0 * rng.uniform() - 1.0;
      const auto objective = [&] {
        const std::vector<double> out = reference(p).out;
        double sum = 0;
        for (size_t k = 0; k < out.size(); ++k) sum += out[k] * p.grad_out[k];
        return sum;
      };
      const ReferenceAttention grad = reference(p);
      const std::pair<std::vector<double>*, const std::vector<double>*> pairs[] = {
          {&p.values, &grad.grad_values},
          {&p.source_score, &grad.grad_source_score},
          {&p.target_score, &grad.grad_target_score},
          {&p.query, &grad.grad_query},
          {&p.attention, &grad.grad_attention}};
      for (const auto& [x, want] : pairs) {
        ASSERT_EQ(x->size(), want->size());
        for (size_t k = 0; k < x->size(); ++k) {
          constexpr double kStep = 1e-6;
          const double before = (*x)[k];
          (*x)[k] = before + kStep;
          const double above = objective();
          (*x)[k] = before - kStep;
          const double below = objective();
          (*x)[k] = before;
          ASSERT_NEAR((above - below) / (2 * kStep), (*want)[k], 1e-7) << p.name();
        }
      }
    }
}

}  // namespace
}  // namespace egc
