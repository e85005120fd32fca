// Elementwise steps: against double loops, gradients by finite differences, shared inputs, threads,
// bad input.
#include "egc/ops/row_parts.h"

#include <cmath>

#include "tests/core/expect_error.h"
#include "tests/core/thread_count.h"
#include "tests/tensor/gradcheck.h"

namespace egc::ops {
namespace {

using testing::close;
using testing::expect_error;
using testing::expect_gradients;
using testing::random_tensor;
using testing::same_bits;
using testing::tensor_of;

Tape new_tape() { return Tape::training(0); }

// f(row, column) as a matrix.
template <class F>
Tensor matrix(int64_t rows, int64_t columns, F&& f) {
  const Tensor out = Tensor::empty(rows, columns, DType::kF64);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t c = 0; c < columns; ++c) out.data<double>()[i * columns + c] = f(i, c);
  return out;
}

constexpr DType kTypes[] = {DType::kF32, DType::kF64};
double tolerance(DType type) { return type == DType::kF32 ? 1e-6 : 1e-14; }

TEST(AddScaledRows, IsTheLoopAndHasItsGradient) {
  const Tensor a = random_tensor(9, 5, 1).with_gradient();
  const Tensor x = random_tensor(9, 5, 2).with_gradient();
  const Tensor s = random_tensor(9, 1, 3);
  for (const DType type : kTypes) {
    Tape tape = Tape::inference();
    EXPECT_TRUE(close(
        add_scaled_rows(tape, a.to(type), x.to(type), s.to(type)),
        matrix(9, 5,
               [&](int64_t i, int64_t c) { return a.item(i, c) + s.item(i, 0) * x.item(i, c); }),
        tolerance(type)));
  }
  expect_gradients({{"a", a}, {"x", x}}, new_tape,
                   [&](Tape& tape) { return add_scaled_rows(tape, a, x, s); });
  expect_gradients({{"both", x}}, new_tape,
                   [&](Tape& tape) { return add_scaled_rows(tape, x, x, s); });
  for (const auto& [one, other] : {std::pair{a, x.detached()}, {a.detached(), x}})
    expect_gradients(
        {{"one", one.gradient() != nullptr ? one : other}}, new_tape,
        [&, p = one, q = other](Tape& tape) { return add_scaled_rows(tape, p, q, s); });
}

TEST(SumScaledParts, IsTheLoopAndHasItsGradient) {
  for (const int64_t towers : {1, 3})
    for (const int64_t parts : {1, 2, 4})
      for (const int64_t columns : {1, 5}) {
        const Tensor x = random_tensor(6, towers * parts * columns, 1).with_gradient();
        const Tensor s = random_tensor(6, parts, 2);
        for (const DType type : kTypes) {
          Tape tape = Tape::inference();
          EXPECT_TRUE(close(sum_scaled_parts(tape, x.to(type), s.to(type), towers),
                            matrix(6, towers * columns,
                                   [&](int64_t i, int64_t tc) {
                                     const int64_t t = tc / columns;
                                     double sum = 0;
                                     for (int64_t k = 0; k < parts; ++k)
                                       sum += s.item(i, k) *
                                              x.item(i, (t * parts + k) * columns + tc % columns);
                                     return sum;
                                   }),
                            2 * tolerance(type)));
        }
        expect_gradients({{"x", x}}, new_tape,
                         [&](Tape& tape) { return sum_scaled_parts(tape, x, s, towers); });
      }
}

TEST(ShiftAggregates, IsTheLoopAndHasItsGradient) {
  constexpr int64_t kColumns = 3;
  const Tensor aggregates = random_tensor(7, 4 * kColumns, 1).with_gradient();
  for (int64_t i = 0; i < 7; ++i)
    for (int64_t c = 3 * kColumns; c < 4 * kColumns; ++c) {  // variances
      double& v = aggregates.data<double>()[i * 4 * kColumns + c];
      v = 0.1 + std::abs(v);
    }
  aggregates.data<double>()[3 * kColumns] = 0;          // of a row without neighbours
  aggregates.data<double>()[3 * kColumns + 1] = 0.009;  // not more than the least
  const Tensor p = random_tensor(7, kColumns, 2).with_gradient();
  const Tensor s = random_tensor(7, 1, 3);
  for (const DType type : kTypes) {
    Tape tape = Tape::inference();
    EXPECT_TRUE(close(shift_aggregates(tape, aggregates.to(type), p.to(type), s.to(type), 0.01),
                      matrix(7, 4 * kColumns,
                             [&](int64_t i, int64_t c) {
                               const double v = aggregates.item(i, c);
                               if (c >= 3 * kColumns) return v <= 0.01 ? 0 : std::sqrt(v);
                               return v + s.item(i, 0) * p.item(i, c % kColumns);
                             }),
                      tolerance(type)));
  }
  expect_gradients({{"aggregates", aggregates}, {"p", p}}, new_tape,
                   [&](Tape& tape) { return shift_aggregates(tape, aggregates, p, s, 0.01); });
  // What comes as NaN stays it.
  aggregates.data<double>()[3 * kColumns] = NAN;
  Tape tape = Tape::inference();
  EXPECT_TRUE(std::isnan(shift_aggregates(tape, aggregates, p, s, 0.01).item(0, 3 * kColumns)));
}

TEST(ScaledAdd, IsTheLoopAndHasItsGradient) {
  const Tensor a = random_tensor(9, 5, 1).with_gradient();
  const Tensor x = random_tensor(9, 5, 2).with_gradient();
  const Tensor eps = random_tensor(1, 1, 3).with_gradient();
  for (const DType type : kTypes) {
    Tape tape = Tape::inference();
    EXPECT_TRUE(close(scaled_add(tape, a.to(type), x.to(type), eps.to(type)),
                      matrix(9, 5,
                             [&](int64_t i, int64_t c) {
                               return a.item(i, c) + (1 + eps.item(0, 0)) * x.item(i, c);
                             }),
                      tolerance(type)));
  }
  expect_gradients({{"a", a}, {"x", x}, {"eps", eps}}, new_tape,
                   [&](Tape& tape) { return scaled_add(tape, a, x, eps); });
  expect_gradients({{"both", x}, {"eps", eps}}, new_tape,
                   [&](Tape& tape) { return scaled_add(tape, x, x, eps); });
}

// The gradient of eps is a sum over everything.
TEST(ScaledAdd, SameBitsForAnyNumberOfThreads) {
  const Tensor a = random_tensor(5000, 31, 1, DType::kF32);
  const Tensor x = random_tensor(5000, 31, 2, DType::kF32).with_gradient();
  const Tensor eps = random_tensor(1, 1, 3, DType::kF32).with_gradient();
  const Tensor upstream = random_tensor(5000, 31, 4, DType::kF32);
  std::vector<Tensor> first;
  for (const int threads : {1, 2, 3, 4, 8}) {
    const testing::ThreadCount count(threads);
    Tape tape = new_tape();
    const Tensor y = scaled_add(tape, a, x, eps);
    tape.backward(y, upstream);
    const std::vector<Tensor> all = {y.detached(), x.gradient()->take(), eps.gradient()->take()};
    if (first.empty()) first = all;
    for (size_t k = 0; k < all.size(); ++k)
      EXPECT_TRUE(same_bits(all[k], first[k])) << threads << " threads, tensor " << k;
  }
  EXPECT_NEAR(first[2].item(0, 0), testing::dot(upstream.to(DType::kF64), x.to(DType::kF64)), 1e-2);
}

TEST(Add, IsTheSumAndHasItsGradient) {
  const Tensor a = random_tensor(4, 3, 1).with_gradient();
  const Tensor b = random_tensor(4, 3, 2).with_gradient();
  const Tensor constant = random_tensor(4, 3, 3);
  const std::vector<double> before = testing::values_of(a);
  Tape tape = Tape::inference();
  EXPECT_TRUE(close(add(tape, {a, b, constant, a}),
                    matrix(4, 3,
                           [&](int64_t i, int64_t c) {
                             return 2 * a.item(i, c) + b.item(i, c) + constant.item(i, c);
                           }),
                    1e-14));
  EXPECT_EQ(testing::values_of(a), before);  // not summed up in its place
  EXPECT_EQ(add(tape, {a}).raw(), a.raw());
  expect_gradients({{"a", a}, {"b", b}}, new_tape, [&](Tape& t) {
    return add(t, {a, b, constant, a});
  });
  // Terms share the gradient of the sum: what is added to one of them later is not the others'.
  expect_gradients({{"a", a}, {"b", b}}, new_tape, [&](Tape& t) {
    const Tensor sum = add(t, {a, b});
    return add(t, {sum, a, add(t, {b, b, sum})});
  });
}

TEST(LogSoftmax, IsTheLoopAndHasItsGradient) {
  for (const int64_t columns : {1, 2, 5, 7}) {
    const Tensor x = random_tensor(6, 7, 1).with_gradient();
    for (const DType type : kTypes) {
      Tape tape = Tape::inference();
      EXPECT_TRUE(close(log_softmax(tape, x.to(type), columns),
                        matrix(6, columns,
                               [&](int64_t i, int64_t c) {
                                 double sum = 0;
                                 for (int64_t k = 0; k < columns; ++k)
                                   sum += std::exp(x.item(i, k));
                                 return x.item(i, c) - std::log(sum);
                               }),
                        tolerance(type)));
    }
    expect_gradients({{"x", x}}, new_tape,
                     [&](Tape& tape) { return log_softmax(tape, x, columns); });
  }
  // Far from 0 nothing overflows.
  Tape tape = Tape::inference();
  EXPECT_TRUE(close(log_softmax(tape, tensor_of(1, 3, {1e4, 1e4, -1e4}, DType::kF32), 3),
                    tensor_of(1, 3, {-std::log(2.0), -std::log(2.0), -2e4 - std::log(2.0)}), 1e-6));
}

TEST(RowParts, HaveNothingToDoWithoutRows) {
  const Tensor none = Tensor::zeros(0, 4, DType::kF64).with_gradient();
  const Tensor s = Tensor::zeros(0, 1, DType::kF64);
  const Tensor eps = Tensor::zeros(1, 1, DType::kF64).with_gradient();
  Tape tape = new_tape();
  const Tensor y =
      log_softmax(tape, scaled_add(tape, add_scaled_rows(tape, none, none, s), none, eps), 4);
  EXPECT_EQ(y.rows(), 0);
  tape.backward(y, Tensor::zeros(0, 4, DType::kF64));
  EXPECT_EQ(eps.gradient()->value().item(0, 0), 0);
  EXPECT_EQ(sum_scaled_parts(tape, none, s, 2).columns(), 4);
}

TEST(RowParts, BadInputIsNamed) {
  Tape tape = Tape::inference();
  const Tensor x = random_tensor(6, 4, 1);
  const Tensor s = random_tensor(6, 1, 2);
  const auto refuses = [](std::initializer_list<std::string> parts, const auto& f) {
    expect_error(ErrorKind::kUsage, parts, f);
  };
  refuses({"add_scaled_rows: a must be [6, 4] float64, got [5, 4] float64"},
          [&] { add_scaled_rows(tape, random_tensor(5, 4, 1), x, s); });
  refuses({"add_scaled_rows: s must be [6, 1] float64, got [6, 2] float64"},
          [&] { add_scaled_rows(tape, x, x, random_tensor(6, 2, 1)); });
  refuses({"sum_scaled_parts: s must be [6, 2] float64, got [5, 2] float64"},
          [&] { sum_scaled_parts(tape, x, random_tensor(5, 2, 1), 2); });
  refuses({"sum_scaled_parts: 4 columns are not 2 parts of 3 towers"},
          [&] { sum_scaled_parts(tape, x, random_tensor(6, 2, 1), 3); });
  refuses({"shift_aggregates: aggregates must be [6, 16] float64, got [6, 4] float64"},
          [&] { shift_aggregates(tape, x, x, s, 0); });
  refuses({"shift_aggregates: s must be [6, 1] float64, got [6, 1] float32"},
          [&] { shift_aggregates(tape, random_tensor(6, 16, 1), x, s.to(DType::kF32), 0); });
  refuses({"scaled_add: a must be [6, 4] float64, got [6, 5] float64"},
          [&] { scaled_add(tape, random_tensor(6, 5, 1), x, tensor_of(1, 1, {1})); });
  refuses({"scaled_add: eps must be [1, 1] float64, got [1, 2] float64"}, [&] {
    scaled_add(tape, x, x, tensor_of(1, 2, {1, 2}));
  });
  refuses({"add: a term must be [6, 4] float64, got [6, 5] float64"}, [&] {
    add(tape, {x, random_tensor(6, 5, 1)});
  });
  refuses({"add: there is nothing to add"}, [&] { add(tape, {}); });
  refuses({"log_softmax: [6, 4] float64 has no 5 first columns"}, [&] { log_softmax(tape, x, 5); });
  refuses({"log_softmax: x must be"}, [&] { log_softmax(tape, {}, 1); });
}

}  // namespace
}  // namespace egc::ops
