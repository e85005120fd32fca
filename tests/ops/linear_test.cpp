// Sums of dense products as an operator: gradients by finite differences for every way of sharing
// inputs and weights, the epilogue, threads, bad input. The products: tests/engine/gemm_test.cpp.
#include "egc/ops/linear.h"

#include "egc/kernels/target.h"
#include "egc/ops/assemble.h"
#include "egc/ops/norm_act.h"
#include "egc/ops/row_parts.h"
#include "tests/core/expect_error.h"
#include "tests/core/thread_count.h"
#include "tests/tensor/gradcheck.h"

namespace egc::ops {
namespace {

using testing::close;
using testing::expect_error;
using testing::expect_gradients;
using testing::NamedTensor;
using testing::random_tensor;
using testing::same_bits;

Tape new_tape() { return Tape::training(0); }

// The double loop over the terms.
Tensor naive(const std::vector<Tensor>& inputs, const std::vector<Tensor>& weights,
             const std::vector<LinearTerm>& terms, const Tensor& bias, int64_t out_columns) {
  const int64_t rows = inputs[0].rows();
  const Tensor y = Tensor::zeros(rows, out_columns, DType::kF64);
  for (int64_t i = 0; i < rows; ++i) {
    double* to = y.data<double>() + i * out_columns;
    if (bias.defined())
      for (int64_t c = 0; c < out_columns; ++c) to[c] = bias.item(0, c);
    for (const LinearTerm& t : terms) {
      const Tensor& w = weights[static_cast<size_t>(t.weight)];
      const int64_t high = t.rows == kAnySize ? w.rows() - t.weight_row : t.rows;
      const int64_t wide = t.columns == kAnySize ? w.columns() - t.weight_column : t.columns;
      for (int64_t o = 0; o < high; ++o)
        for (int64_t c = 0; c < wide; ++c)
          to[t.out_column + o] += inputs[static_cast<size_t>(t.input)].item(i, t.in_column + c) *
                                  w.item(t.weight_row + o, t.weight_column + c);
    }
  }
  return y;
}

struct Case {
  const char* name;
  std::vector<std::pair<int64_t, int64_t>> inputs;  // [rows, columns]
  std::vector<std::pair<int64_t, int64_t>> weights;
  std::vector<LinearTerm> terms;
  int64_t out_columns;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"plain", {{7, 5}}, {{4, 5}}, {{}}, 4},
      {"no rows", {{0, 5}}, {{4, 5}}, {{}}, 4},
      {"two inputs, one output",
       {{7, 5}, {7, 3}},
       {{4, 5}, {4, 3}},
       {{0, 0, 0, 0}, {1, 0, 1, 0}},
       4},
      {"one input, two outputs", {{7, 5}}, {{4, 5}, {2, 5}}, {{0, 0, 0, 0}, {0, 0, 1, 4}}, 6},
      {"towers", {{7, 6}}, {{2, 3}, {4, 3}}, {{0, 0, 0, 0}, {0, 3, 1, 2}}, 6},
      {"one weight for both towers", {{7, 6}}, {{2, 3}}, {{0, 0, 0, 0}, {0, 3, 0, 2}}, 4},
      {"an input that is not covered", {{7, 6}}, {{2, 3}}, {{0, 2, 0, 0}}, 2},
      {"blocks of one weight",
       {{7, 3}, {7, 2}},
       {{4, 5}},
       {{.columns = 3}, {.input = 1, .weight_column = 3}},
       4},
      {"a weight that is not covered",
       {{7, 3}},
       {{4, 5}},
       {{.weight_row = 1, .rows = 2, .weight_column = 1, .columns = 3}},
       2},
      {"one block twice",
       {{7, 6}},
       {{4, 5}},
       {{.weight_row = 1, .rows = 2, .weight_column = 1, .columns = 3},
        {.in_column = 3,
         .out_column = 2,
         .weight_row = 1,
         .rows = 2,
         .weight_column = 1,
         .columns = 3}},
       4},
      {"everything at once",
       {{7, 6}, {7, 4}},
       {{3, 5}, {3, 3}},
       {{.columns = 3},
        {.input = 1, .weight_column = 3},
        {.in_column = 3, .weight = 1, .out_column = 3},
        {.input = 1, .in_column = 2, .out_column = 3, .weight_column = 3}},
       6},
  };
  return all;
}

TEST(Linear, IsTheDoubleLoopAndHasItsGradient) {
  for (const Case& c : cases())
    for (const bool with_bias : {false, true}) {
      SCOPED_TRACE(fmt::format("{} bias={}", c.name, with_bias));
      std::vector<NamedTensor> named;
      const auto make = [&](const char* what, const auto& sizes) {
        std::vector<Tensor> out;
        for (const auto& [rows, columns] : sizes) {
          out.push_back(random_tensor(rows, columns, 10 + named.size()).with_gradient());
          named.push_back({fmt::format("{} {}", what, out.size() - 1), out.back()});
        }
        return out;
      };
      const std::vector<Tensor> inputs = make("input", c.inputs);
      const std::vector<Tensor> weights = make("weight", c.weights);
      Tensor bias;
      if (with_bias) {
        bias = random_tensor(1, c.out_columns, 5).with_gradient();
        named.push_back({"bias", bias});
      }
      const auto f = [&](Tape& tape) {
        return linear_sum(tape, inputs, weights, c.terms, bias, c.out_columns);
      };
      Tape inference = Tape::inference();
      EXPECT_TRUE(close(f(inference), naive(inputs, weights, c.terms, bias, c.out_columns), 1e-13));
      expect_gradients(named, new_tape, f);
      // Again onto gradients that are there: twice as much.
      Tape once = new_tape();
      const Tensor upstream = random_tensor(inputs[0].rows(), c.out_columns, 7);
      once.backward(f(once), upstream);
      std::vector<Tensor> single;
      for (const NamedTensor& t : named) single.push_back(t.tensor.gradient()->value().clone());
      Tape again = new_tape();
      again.backward(f(again), upstream);
      for (size_t k = 0; k < named.size(); ++k) {
        Gradient twice;
        twice.add(single[k]);
        twice.add(single[k]);
        EXPECT_TRUE(close(named[k].tensor.gradient()->take(), twice.value(), 1e-13))
            << named[k].name;
      }
    }
}

// A gradient that nobody asks for changes nothing about the others.
TEST(Linear, GradientsOfSomeInputsOnly) {
  const Tensor x = random_tensor(9, 5, 1).with_gradient();
  const Tensor w = random_tensor(4, 5, 2).with_gradient();
  const Tensor b = random_tensor(1, 4, 3).with_gradient();
  const Tensor upstream = random_tensor(9, 4, 4);
  const auto run = [&](std::vector<Tensor> in) {
    Tape tape = new_tape();
    tape.backward(linear(tape, in[0], in[1], in[2]), upstream);
    for (Tensor& t : in) t = t.gradient() == nullptr ? Tensor() : t.gradient()->take();
    return in;
  };
  const std::vector<Tensor> want = run({x, w, b});
  for (size_t alone = 0; alone < 3; ++alone) {
    std::vector<Tensor> in = {x.detached(), w.detached(), b.detached()};
    in[alone] = std::vector<Tensor>{x, w, b}[alone];
    const std::vector<Tensor> got = run(in);
    for (size_t k = 0; k < 3; ++k)
      EXPECT_TRUE(k == alone ? same_bits(got[k], want[k]) : !got[k].defined()) << k;
  }
}

TEST(Linear, SharedInputsAddUp) {
  const Tensor x = random_tensor(6, 4, 1).with_gradient();
  const Tensor w = random_tensor(4, 4, 2).with_gradient();
  const Tensor b = random_tensor(1, 4, 3).with_gradient();
  expect_gradients({{"x", x}, {"w", w}, {"b", b}}, new_tape, [&](Tape& tape) {
    const Tensor once = linear(tape, x, w, b);
    return add(tape, {linear(tape, once, w, b), once, x});
  });
}

TEST(Linear, OneTensorInTwoPlacesIsRefused) {
  const Tensor x = random_tensor(6, 4, 1).with_gradient();
  const Tensor w = random_tensor(4, 4, 2).with_gradient();
  Tape tape = new_tape();
  expect_error(ErrorKind::kUsage, {"linear: the same tensor is given twice"}, [&] {
    linear_sum(tape, {x, x}, {w}, {{0, 0, 0, 0}, {1, 0, 0, 0}}, {}, 4);
  });
}

TEST(Linear, EpilogueIsTheOperatorsInTurn) {
  for (const DType type : {DType::kF32, DType::kF64})
    for (const int64_t columns : {1, 7, 16, 33})
      for (const int64_t rows : {0, 1, 50, 600}) {
        const Tensor x = random_tensor(rows, 9, 1, type);
        const Tensor w = random_tensor(columns, 9, 2, type);
        const Tensor b = random_tensor(1, columns, 3, type);
        const EpilogueTensors all{random_tensor(1, columns, 4, type),
                                  random_tensor(1, columns, 5, type), /*relu=*/true,
                                  random_tensor(rows, columns, 6, type)};
        for (const EpilogueTensors& e :
             {all, EpilogueTensors{{}, {}, true, {}}, EpilogueTensors{{}, {}, false, all.residual},
              EpilogueTensors{all.scale, all.shift, false, {}}}) {
          Tape tape = Tape::inference();
          EXPECT_TRUE(same_bits(linear(tape, x, w, b, e), apply_epilogue(linear(tape, x, w, b), e)))
              << rows << " x " << columns;
        }
      }
}

TEST(Linear, SameBitsForAnyNumberOfThreads) {
  const Tensor x = random_tensor(9001, 37, 1, DType::kF32).with_gradient();
  const Tensor w = random_tensor(29, 37, 2, DType::kF32).with_gradient();
  const Tensor b = random_tensor(1, 29, 3, DType::kF32).with_gradient();
  const Tensor upstream = random_tensor(9001, 29, 4, DType::kF32);
  std::vector<Tensor> first;
  for (const int threads : {1, 2, 3, 4, 8}) {
    const testing::ThreadCount count(threads);
    Tape tape = new_tape();
    const Tensor y = linear(tape, x, w, b);
    tape.backward(y, upstream);
    const std::vector<Tensor> all = {y.detached(), x.gradient()->take(), w.gradient()->take(),
                                     b.gradient()->take()};
    if (first.empty()) first = all;
    for (size_t k = 0; k < all.size(); ++k)
      EXPECT_TRUE(same_bits(all[k], first[k])) << threads << " threads, tensor " << k;
  }
}

TEST(Linear, BadInputIsNamed) {
  const Tensor x = random_tensor(6, 4, 1);
  const Tensor w = random_tensor(3, 4, 2);
  Tape tape = Tape::inference();
  const auto refuses = [](std::initializer_list<std::string> parts, const auto& f) {
    expect_error(ErrorKind::kUsage, parts, f);
  };
  refuses({"linear: x must be [N, 4] float64, got [6, 5] float64"},
          [&] { linear(tape, random_tensor(6, 5, 1), w, {}); });
  refuses({"linear: x must be [N, 4] float64, got [6, 4] float32"},
          [&] { linear(tape, x.to(DType::kF32), w, {}); });
  refuses({"linear: bias must be [1, 3] float64, got [1, 4] float64"},
          [&] { linear(tape, x, w, random_tensor(1, 4, 1)); });
  refuses({"linear: x must be [6, N] float64, got [5, 4] float64"}, [&] {
    linear_sum(tape, {x, random_tensor(5, 4, 1)}, {w}, {{0, 0, 0, 0}, {1, 0, 0, 0}}, {}, 3);
  });
  refuses({"linear: a weight must be", "float64", "got [3, 4] float32"}, [&] {
    linear_sum(tape, {x}, {w, w.to(DType::kF32)}, {{0, 0, 0, 0}, {0, 0, 1, 0}}, {}, 3);
  });
  refuses({"linear: an input, a weight and a term are needed"},
          [&] { linear_sum(tape, {x}, {w}, {}, {}, 3); });
  for (const LinearTerm& t :
       {LinearTerm{.in_column = 1}, LinearTerm{.out_column = 1},
        LinearTerm{.weight_row = 1, .rows = 3}, LinearTerm{.weight_column = 2, .columns = 3}})
    refuses({"linear: a weight [3, 4] float64 does not fit x [6, 4] float64 and 3 output columns"},
            [&] { linear_sum(tape, {x}, {w}, {t}, {}, 3); });
  refuses({"epilogue: it has no gradient"}, [&] {
    Tape recording = new_tape();
    linear(recording, x, w.with_gradient(), {}, {{}, {}, true, {}});
  });
}

TEST(Assemble, PutsBlocksTogetherAndHasTheirGradient) {
  const Tensor a = random_tensor(3, 4, 1).with_gradient();
  const Tensor b = random_tensor(2, 5, 2).with_gradient();
  const Tensor constant = random_tensor(1, 1, 3);
  const std::vector<AssemblyBlock> blocks = {{a, 0, 1, 2, 3, 0, 0},
                                             {b, 0, 0, 2, 5, 2, 1, /*transposed=*/true},
                                             {a, 1, 1, 2, 2, 7, 2},  // some of it again
                                             {constant, 0, 0, 1, 1, 0, 5}};
  const auto f = [&](Tape& tape) { return assemble(tape, 9, 6, blocks); };
  Tape inference = Tape::inference();
  const Tensor y = f(inference);
  const Tensor want = Tensor::zeros(9, 6, DType::kF64);
  const auto put = [&](int64_t row, int64_t column, double v) {
    want.data<double>()[row * 6 + column] = v;
  };
  for (int64_t r = 0; r < 2; ++r) {
    for (int64_t c = 0; c < 3; ++c) put(r, c, a.item(r, 1 + c));
    for (int64_t c = 0; c < 5; ++c) put(2 + c, 1 + r, b.item(r, c));
    for (int64_t c = 0; c < 2; ++c) put(7 + r, 2 + c, a.item(1 + r, 1 + c));
  }
  put(0, 5, constant.item(0, 0));
  EXPECT_TRUE(same_bits(y, want));
  expect_gradients({{"a", a}, {"b", b}}, new_tape, f);

  const auto refuses = [&](const AssemblyBlock& block) {
    expect_error(ErrorKind::kUsage, {"assemble: a block [", "does not fit at", "of [9, 6]"},
                 [&] { assemble(inference, 9, 6, {block}); });
  };
  refuses({a, 2, 0, 2, 4, 0, 0});
  refuses({a, 0, 2, 3, 3, 0, 0});
  refuses({a, 0, 0, 3, 4, 7, 0});
  refuses({a, 0, 0, 3, 4, 0, 3});
  refuses({a, 0, 0, 3, 4, 6, 0, /*transposed=*/true});
  expect_error(ErrorKind::kUsage, {"assemble: a block must be", "float64", "[3, 4] float32"}, [&] {
    assemble(inference, 9, 6, {{b, 0, 0, 1, 1, 0, 0}, {a.to(DType::kF32), 0, 0, 1, 1, 1, 0}});
  });
  expect_error(ErrorKind::kUsage, {"assemble: a block is needed"},
               [&] { assemble(inference, 9, 6, {}); });
}

}  // namespace
}  // namespace egc::ops
