// Dense products and their gradients against double loops: every tail of rows, columns and terms,
// every instruction set, both precisions, strides, accumulation, threads, hostile values.
//
// Most values are multiples of 1/8: their sums are exact in float32, so results are equal, whatever
// the order they were added up in. Where the order is the statement, values are arbitrary.
#include "egc/engine/gemm.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "egc/kernels/gemm.h"
#include "egc/kernels/target.h"
#include "tests/core/thread_count.h"
#include "tests/kernels/random_problem.h"

namespace egc {
namespace {

// A matrix with poison around it and between its rows: what is read there spoils the result, and
// what is written there is seen.
template <class T>
class Matrix {
 public:
  Matrix(int64_t rows, int64_t columns, int64_t padding)
      : rows_(rows),
        columns_(columns),
        stride_(columns + padding),
        all_(static_cast<size_t>(2 * kMargin + rows * stride_), kPoison) {}

  static Matrix of_grid(int64_t rows, int64_t columns, int64_t padding, uint64_t seed) {
    Matrix m(rows, columns, padding);
    const std::vector<double> values = testing::grid_values(rows * columns, seed);
    for (int64_t k = 0; k < rows * columns; ++k)
      m.at(k / columns, k % columns) = static_cast<T>(values[static_cast<size_t>(k)]);
    return m;
  }
  static Matrix random(int64_t rows, int64_t columns, int64_t padding, uint64_t seed) {
    Matrix m(rows, columns, padding);
    Rng rng(seed, 5);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t c = 0; c < columns; ++c) m.at(i, c) = static_cast<T>(rng.uniform() - 0.5F);
    return m;
  }

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t stride() const { return stride_; }
  T* data() { return all_.data() + kMargin; }
  const T* data() const { return all_.data() + kMargin; }
  T& at(int64_t row, int64_t column) { return data()[row * stride_ + column]; }
  T at(int64_t row, int64_t column) const { return data()[row * stride_ + column]; }
  Columns<const T> read(int64_t row = 0, int64_t column = 0) const {
    return {data() + row * stride_ + column, stride_};
  }
  Columns<T> write(int64_t row = 0, int64_t column = 0) {
    return {data() + row * stride_ + column, stride_};
  }

  // Bit by bit, margins and padding too.
  bool operator==(const Matrix& other) const {
    return all_.size() == other.all_.size() &&
           std::memcmp(all_.data(), other.all_.data(), all_.size() * sizeof(T)) == 0;
  }

 private:
  static constexpr int64_t kMargin = 32;
  static constexpr T kPoison = std::numeric_limits<T>::quiet_NaN();
  int64_t rows_, columns_, stride_;
  std::vector<T> all_;
};

// The double loops. Sums are in double: exact for multiples of 1/8.
template <class T>
double product(int64_t terms, const auto& a, const auto& b) {
  double sum = 0;
  for (int64_t s = 0; s < terms; ++s) sum += static_cast<double>(a(s)) * static_cast<double>(b(s));
  return sum;
}

// y (+)= x w' + bias.
template <class T>
void naive(const Matrix<T>& x, const Matrix<T>& w, const T* bias, bool accumulate, Matrix<T>& y) {
  for (int64_t i = 0; i < x.rows(); ++i)
    for (int64_t o = 0; o < w.rows(); ++o) {
      const double sum = product<T>(
          x.columns(), [&](int64_t s) { return x.at(i, s); },
          [&](int64_t s) { return w.at(o, s); });
      const double start = accumulate ? y.at(i, o) : bias != nullptr ? bias[o] : 0;
      y.at(i, o) = static_cast<T>(start + sum);
    }
}

// grad_x (+)= grad_y w.
template <class T>
void naive_grad_x(const Matrix<T>& g, const Matrix<T>& w, bool accumulate, Matrix<T>& grad_x) {
  for (int64_t i = 0; i < g.rows(); ++i)
    for (int64_t c = 0; c < w.columns(); ++c) {
      const double sum = product<T>(
          w.rows(), [&](int64_t s) { return g.at(i, s); }, [&](int64_t s) { return w.at(s, c); });
      grad_x.at(i, c) = static_cast<T>((accumulate ? grad_x.at(i, c) : T{0}) + sum);
    }
}

// grad_w (+)= grad_y' x.
template <class T>
void naive_grad_w(const Matrix<T>& g, const Matrix<T>& x, bool accumulate, Matrix<T>& grad_w) {
  for (int64_t o = 0; o < g.columns(); ++o)
    for (int64_t c = 0; c < x.columns(); ++c) {
      const double sum = product<T>(
          g.rows(), [&](int64_t s) { return g.at(s, o); }, [&](int64_t s) { return x.at(s, c); });
      grad_w.at(o, c) = static_cast<T>((accumulate ? grad_w.at(o, c) : T{0}) + sum);
    }
}

template <class T>
void multiply(int64_t rows, const std::vector<GemmTerm<T>>& terms,
              const std::function<void(RowRange)>& finish = {}) {
  gemm<T>(rows, terms, finish);
}
template <class T>
void backward(int64_t rows, const std::vector<GemmGradTerm<T>>& terms) {
  gemm_backward<T>(rows, terms);
}

template <class T>
class GemmTest : public ::testing::Test {
 protected:
  void TearDown() override { kernels::force_target(""); }

  template <class F>
  static void on_every_target(F&& f) {
    for (const std::string& target : kernels::available_targets()) {
      kernels::force_target(target);
      f(target);
    }
    kernels::force_target("");
  }

  // Packed as the instruction set in use wants it, with nothing to spare.
  static std::vector<T> packed(const Matrix<T>& w, bool transposed) {
    const int64_t k = transposed ? w.columns() : w.rows();
    const int64_t n = transposed ? w.rows() : w.columns();
    std::vector<T> out(static_cast<size_t>(kernels::packed_size<T>(k, n)));
    if (transposed)
      kernels::pack_transposed(w.data(), w.stride(), k, n, out.data());
    else
      kernels::pack(w.data(), w.stride(), k, n, out.data());
    return out;
  }
};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(GemmTest, Types);

// The three kernels on one shape, on every instruction set, against what is exact.
template <class T, class Packed>
void expect_exact_kernels(int64_t m, int64_t n, int64_t k, const Packed& packed,
                          const auto& on_every_target) {
  const int64_t padding = (m + 2 * n + k) % 4;
  const bool accumulate = (m + n + k) % 2 != 0;
  const auto x = Matrix<T>::of_grid(m, k, padding, 1);
  const auto w = Matrix<T>::of_grid(n, k, (padding + 1) % 4, 2);
  const auto g = Matrix<T>::of_grid(m, n, (padding + 2) % 4, 3);
  const auto bias = Matrix<T>::of_grid(1, n, 0, 4);
  const T* b = (m + k) % 3 == 0 ? nullptr : bias.data();
  const auto y = Matrix<T>::of_grid(m, n, padding, 5);
  const auto grad_x = Matrix<T>::of_grid(m, k, padding, 6);
  const auto grad_w = Matrix<T>::of_grid(n, k, padding, 7);
  Matrix<T> want_y = y;
  Matrix<T> want_x = grad_x;
  Matrix<T> want_w = grad_w;
  naive(x, w, b, accumulate, want_y);
  naive_grad_x(g, w, accumulate, want_x);
  naive_grad_w(g, x, accumulate, want_w);
  on_every_target([&](const std::string& target) {
    Matrix<T> got_y = y;
    Matrix<T> got_x = grad_x;
    Matrix<T> got_w = grad_w;
    const std::vector<T> forward = packed(w, true);
    kernels::gemm(m, n, k, x.data(), x.stride(), forward.data(), b, accumulate, got_y.data(),
                  got_y.stride());
    const std::vector<T> backward = packed(w, false);
    kernels::gemm(m, k, n, g.data(), g.stride(), backward.data(), static_cast<const T*>(nullptr),
                  accumulate, got_x.data(), got_x.stride());
    kernels::gemm_grad_weight(m, n, k, g.data(), g.stride(), x.data(), x.stride(), accumulate,
                              got_w.data(), got_w.stride());
    ASSERT_TRUE(got_y == want_y) << target << " y " << m << " " << n << " " << k;
    ASSERT_TRUE(got_x == want_x) << target << " grad_x " << m << " " << n << " " << k;
    ASSERT_TRUE(got_w == want_w) << target << " grad_w " << m << " " << n << " " << k;
  });
}

TYPED_TEST(GemmTest, EveryTail) {
  const auto check = [](int64_t m, int64_t n, int64_t k) {
    expect_exact_kernels<TypeParam>(m, n, k, TestFixture::packed,
                                    [](auto&& f) { TestFixture::on_every_target(f); });
  };
  constexpr int64_t kMax = 40;
  for (int64_t a = 1; a <= kMax; ++a)
    for (int64_t b = 1; b <= kMax; ++b) {
      for (const int64_t few : {1, 3, 6}) check(a, b, few);   // rows and columns
      for (const int64_t few : {1, 5, 13}) check(few, a, b);  // columns and steps
      check(a, 2, b);                                         // rows and steps
      if (::testing::Test::HasFatalFailure()) return;
    }
}

// Around the sizes where the kernels cut: 512 steps, 48 rows of a block, 192 rows and 80 rows of a
// weight in the gradient.
TYPED_TEST(GemmTest, EveryBlockOfTheKernels) {
  const auto check = [](int64_t m, int64_t n, int64_t k) {
    expect_exact_kernels<TypeParam>(m, n, k, TestFixture::packed,
                                    [](auto&& f) { TestFixture::on_every_target(f); });
  };
  for (const int64_t k : {511, 512, 513, 1025})
    for (const int64_t m : {1, 47, 48, 49, 97, 145}) check(m, 19, k);
  for (const int64_t m : {191, 192, 193, 385})
    for (const int64_t n : {79, 80, 81}) check(m, n, 21);
  for (const int64_t n : {96, 97, 160, 513}) check(33, n, 9);
}

// As they occur: bases and weights of the paper's networks, readouts, inputs of the datasets.
TYPED_TEST(GemmTest, ShapesOfNetworks) {
  const auto check = [](int64_t m, int64_t n, int64_t k) {
    expect_exact_kernels<TypeParam>(m, n, k, TestFixture::packed,
                                    [](auto&& f) { TestFixture::on_every_target(f); });
  };
  check(100, 84, 168);
  check(100, 32, 168);
  check(64, 136, 128);
  check(64, 48, 128);
  check(60, 304, 296);
  check(70, 40, 304);
  check(65, 152, 3);
  check(65, 10, 152);
  check(50, 75, 75);
  check(37, 1, 70);
}

// Every element is one chain of fused multiply-adds in the order of the steps, from the bias or
// from what is there.
TYPED_TEST(GemmTest, ElementsAreChainsInOrder) {
  using T = TypeParam;
  const auto x = Matrix<T>::random(37, 600, 1, 1);
  const auto w = Matrix<T>::random(21, 600, 2, 2);
  const auto bias = Matrix<T>::random(1, 21, 0, 3);
  const auto g = Matrix<T>::random(300, 13, 1, 4);
  const auto of_g = Matrix<T>::random(300, 29, 1, 5);
  Matrix<T> want(37, 21, 0);
  for (int64_t i = 0; i < 37; ++i)
    for (int64_t o = 0; o < 21; ++o) {
      T sum = bias.at(0, o);
      for (int64_t s = 0; s < 600; ++s) sum = std::fma(x.at(i, s), w.at(o, s), sum);
      want.at(i, o) = sum;
    }
  Matrix<T> want_w(13, 29, 0);
  for (int64_t o = 0; o < 13; ++o)
    for (int64_t c = 0; c < 29; ++c) {
      T sum = 0;
      for (int64_t s = 0; s < 300; ++s) sum = std::fma(g.at(s, o), of_g.at(s, c), sum);
      want_w.at(o, c) = sum;
    }
  TestFixture::on_every_target([&](const std::string& target) {
    if (!target.starts_with("AVX")) return;  // the others round the product too
    Matrix<T> y(37, 21, 0);
    kernels::gemm(37, 21, 600, x.data(), x.stride(), TestFixture::packed(w, true).data(),
                  bias.data(), false, y.data(), y.stride());
    EXPECT_TRUE(y == want) << target;
    Matrix<T> grad_w(13, 29, 0);
    kernels::gemm_grad_weight(300, 13, 29, g.data(), g.stride(), of_g.data(), of_g.stride(), false,
                              grad_w.data(), grad_w.stride());
    EXPECT_TRUE(grad_w == want_w) << target;
  });
}

// Rows by themselves, columns by themselves: the same bits as all at once.
TYPED_TEST(GemmTest, BitsDoNotDependOnTheNeighbours) {
  using T = TypeParam;
  const auto x = Matrix<T>::random(50, 70, 0, 1);
  const auto w = Matrix<T>::random(45, 70, 0, 2);
  TestFixture::on_every_target([&](const std::string& target) {
    Matrix<T> all(50, 45, 0);
    Matrix<T> by_rows(50, 45, 0);
    Matrix<T> by_columns(50, 45, 0);
    multiply<T>(50, {{70, 45, x.read(), w.read(), all.write()}});
    for (int64_t i = 0; i < 50; ++i)
      multiply<T>(1, {{70, 45, x.read(i, 0), w.read(), by_rows.write(i, 0)}});
    for (int64_t o = 0; o < 45; ++o)
      multiply<T>(50, {{70, 1, x.read(), w.read(o, 0), by_columns.write(0, o)}});
    EXPECT_TRUE(by_rows == all) << target;
    EXPECT_TRUE(by_columns == all) << target;
  });
}

// Rows around the blocks that threads get: two terms into one output, a third next to it, all with
// strides; the second term of an output adds to what the first wrote.
TYPED_TEST(GemmTest, SeveralTerms) {
  using T = TypeParam;
  const auto w1 = Matrix<T>::of_grid(11, 7, 1, 2);
  const auto w2 = Matrix<T>::of_grid(11, 5, 0, 3);
  const auto w3 = Matrix<T>::of_grid(6, 5, 2, 4);
  const auto bias = Matrix<T>::of_grid(1, 17, 0, 5);
  for (const int64_t rows : {0, 1, 255, 256, 257, 513, 8191, 8192, 9000}) {
    const auto x1 = Matrix<T>::of_grid(rows, 7, 3, 1);
    const auto x2 = Matrix<T>::of_grid(rows, 5, 0, 6);
    Matrix<T> first(rows, 11, 7);
    naive(x1, w1, bias.data(), false, first);
    naive(x2, w2, static_cast<const T*>(nullptr), true, first);
    Matrix<T> second(rows, 6, 0);
    naive(x2, w3, bias.data() + 11, false, second);
    Matrix<T> want(rows, 17, 1);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t c = 0; c < 17; ++c)
        want.at(i, c) = c < 11 ? first.at(i, c) : second.at(i, c - 11);

    Matrix<T> got(rows, 17, 1);
    std::vector<int> finished(static_cast<size_t>(rows), 0);
    bool complete = true;
    multiply<T>(rows,
                {{7, 11, x1.read(), w1.read(), got.write(), bias.data()},
                 {5, 11, x2.read(), w2.read(), got.write(), bias.data(), /*accumulate=*/true},
                 {5, 6, x2.read(), w3.read(), got.write(0, 11), bias.data() + 11}},
                [&](RowRange range) {
                  for (int64_t i = range.begin; i < range.end; ++i) {
                    ++finished[static_cast<size_t>(i)];
                    for (int64_t c = 0; c < 17; ++c)
                      if (got.at(i, c) != want.at(i, c)) complete = false;
                  }
                });
    EXPECT_TRUE(got == want) << rows;
    EXPECT_TRUE(complete) << rows << ": a block was finished before all of its terms were there";
    EXPECT_EQ(finished, std::vector<int>(static_cast<size_t>(rows), 1));
  }
}

// Terms that share an input add up in its gradient, and those that share a weight in that one's;
// what nobody asks for is not computed.
TYPED_TEST(GemmTest, SeveralTermsBackwards) {
  using T = TypeParam;
  const auto w1 = Matrix<T>::of_grid(11, 7, 1, 2);
  const auto w2 = Matrix<T>::of_grid(6, 7, 0, 3);
  for (const int64_t rows : {0, 1, 255, 256, 257, 513, 8191, 8192, 9000}) {
    const auto x = Matrix<T>::of_grid(rows, 7, 3, 1);
    const auto other = Matrix<T>::of_grid(rows, 7, 0, 4);
    const auto g = Matrix<T>::of_grid(rows, 23, 1, 5);
    const auto part_of_g = [&](int64_t first, int64_t count) {
      Matrix<T> part(rows, count, 0);
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t c = 0; c < count; ++c) part.at(i, c) = g.at(i, first + c);
      return part;
    };
    const Matrix<T> g1 = part_of_g(0, 11);
    const Matrix<T> g2 = part_of_g(11, 6);
    const Matrix<T> g3 = part_of_g(17, 6);
    Matrix<T> want_x = Matrix<T>::of_grid(rows, 7, 2, 6);
    Matrix<T> got_x = want_x;
    Matrix<T> want_w1(11, 7, 1);
    Matrix<T> got_w1 = want_w1;
    Matrix<T> want_w2 = Matrix<T>::of_grid(6, 7, 3, 7);
    Matrix<T> got_w2 = want_w2;
    naive_grad_x(g1, w1, true, want_x);
    naive_grad_x(g2, w2, true, want_x);
    naive_grad_w(g1, x, false, want_w1);
    naive_grad_w(g2, x, true, want_w2);
    naive_grad_w(g3, other, true, want_w2);
    backward<T>(
        rows,
        {{7, 11, x.read(), w1.read(), g.read(), got_x.write(), true, got_w1.write(), false},
         {7, 6, x.read(), w2.read(), g.read(0, 11), got_x.write(), true, got_w2.write(), true},
         {7, 6, other.read(), w2.read(), g.read(0, 17), {}, false, got_w2.write(), true}});
    EXPECT_TRUE(got_x == want_x) << rows;
    EXPECT_TRUE(got_w1 == want_w1) << rows;
    EXPECT_TRUE(got_w2 == want_w2) << rows;
  }
}

// Wide shapes, and rows for all of the partial sums of the gradient.
TYPED_TEST(GemmTest, ManyRowsOfRealWidths) {
  using T = TypeParam;
  for (const auto& [rows, in, out] :
       std::vector<std::array<int64_t, 3>>{{2049, 128, 136}, {700, 304, 40}, {33000, 3, 5}}) {
    const auto x = Matrix<T>::of_grid(rows, in, 0, 1);
    const auto w = Matrix<T>::of_grid(out, in, 0, 2);
    const auto g = Matrix<T>::of_grid(rows, out, 0, 3);
    Matrix<T> want_y(rows, out, 0);
    Matrix<T> want_x(rows, in, 0);
    Matrix<T> want_w(out, in, 0);
    naive(x, w, static_cast<const T*>(nullptr), false, want_y);
    naive_grad_x(g, w, false, want_x);
    naive_grad_w(g, x, false, want_w);
    Matrix<T> y(rows, out, 0);
    Matrix<T> grad_x(rows, in, 0);
    Matrix<T> grad_w(out, in, 0);
    multiply<T>(rows, {{in, out, x.read(), w.read(), y.write()}});
    backward<T>(rows, {{in, out, x.read(), w.read(), g.read(), grad_x.write(), false,
                        grad_w.write(), false}});
    EXPECT_TRUE(y == want_y) << rows;
    EXPECT_TRUE(grad_x == want_x) << rows;
    EXPECT_TRUE(grad_w == want_w) << rows;
  }
}

// Few rows and wide weights, which threads share by columns: terms that add up in one output, in
// one input's gradient and in one weight's.
TYPED_TEST(GemmTest, WideWeightsOfFewRows) {
  using T = TypeParam;
  constexpr int64_t kIn = 61;
  constexpr int64_t kOut = 1207;
  const auto w1 = Matrix<T>::of_grid(kOut, kIn, 1, 2);
  const auto w2 = Matrix<T>::of_grid(kOut, kIn, 0, 3);
  const auto bias = Matrix<T>::of_grid(1, kOut, 0, 4);
  for (const int64_t rows : {29, 100, 256}) {
    const auto x1 = Matrix<T>::of_grid(rows, kIn, 3, 5);
    const auto x2 = Matrix<T>::of_grid(rows, kIn, 0, 6);
    const auto g = Matrix<T>::of_grid(rows, kOut, 1, 7);
    Matrix<T> want_y(rows, kOut, 5);
    naive(x1, w1, bias.data(), false, want_y);
    naive(x2, w2, static_cast<const T*>(nullptr), true, want_y);
    Matrix<T> want_x(rows, kIn, 2);
    naive_grad_x(g, w1, false, want_x);
    naive_grad_x(g, w2, true, want_x);
    Matrix<T> want_w1 = Matrix<T>::of_grid(kOut, kIn, 0, 8);
    const Matrix<T> before = want_w1;
    naive_grad_w(g, x1, true, want_w1);
    naive_grad_w(g, x2, true, want_w1);
    TestFixture::on_every_target([&](const std::string& target) {
      for (const int threads : {1, 2, 3}) {
        const testing::ThreadCount count(threads);
        Matrix<T> y(rows, kOut, 5);
        Matrix<T> grad_x(rows, kIn, 2);
        Matrix<T> grad_w1 = before;
        multiply<T>(rows, {{kIn, kOut, x1.read(), w1.read(), y.write(), bias.data()},
                           {kIn, kOut, x2.read(), w2.read(), y.write(), nullptr, true}});
        backward<T>(rows, {{kIn, kOut, x1.read(), w1.read(), g.read(), grad_x.write(), false,
                            grad_w1.write(), true},
                           {kIn, kOut, x2.read(), w2.read(), g.read(), grad_x.write(), true,
                            grad_w1.write(), true}});
        EXPECT_TRUE(y == want_y) << target << " " << rows << " " << threads;
        EXPECT_TRUE(grad_x == want_x) << target << " " << rows << " " << threads;
        EXPECT_TRUE(grad_w1 == want_w1) << target << " " << rows << " " << threads;
      }
    });
  }
}

TYPED_TEST(GemmTest, SameBitsForAnyNumberOfThreads) {
  using T = TypeParam;
  for (const auto& [rows, in, out] : std::vector<std::array<int64_t, 3>>{{1, 33, 41},
                                                                         {300, 33, 41},
                                                                         {700, 33, 41},
                                                                         {8000, 33, 41},
                                                                         {40000, 33, 41},
                                                                         {90, 300, 700}}) {
    const auto x = Matrix<T>::random(rows, in, 0, 1);
    const auto w = Matrix<T>::random(out, in, 0, 2);
    const auto g = Matrix<T>::random(rows, out, 0, 3);
    std::vector<Matrix<T>> first;
    for (const int threads : {1, 2, 3, 4, 8})
      for (int repeat = 0; repeat < 2; ++repeat) {
        const testing::ThreadCount count(threads);
        std::vector<Matrix<T>> all = {{rows, out, 0}, {rows, in, 0}, {out, in, 0}};
        multiply<T>(rows, {{in, out, x.read(), w.read(), all[0].write()}});
        backward<T>(rows, {{in, out, x.read(), w.read(), g.read(), all[1].write(), false,
                            all[2].write(), false}});
        if (first.empty()) first = all;
        for (size_t k = 0; k < all.size(); ++k)
          ASSERT_TRUE(all[k] == first[k]) << rows << " rows, " << threads << " threads, " << k;
      }
  }
}

// Sums of nothing are 0, or the bias, or what is there.
TYPED_TEST(GemmTest, EmptyMatrices) {
  using T = TypeParam;
  const auto bias = Matrix<T>::of_grid(1, 5, 0, 1);
  TestFixture::on_every_target([&](const std::string& target) {
    const Matrix<T> nothing(3, 0, 0);
    const Matrix<T> no_weights(5, 0, 0);
    Matrix<T> y(3, 5, 1);
    multiply<T>(3, {{0, 5, nothing.read(), no_weights.read(), y.write(), bias.data()}});
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t o = 0; o < 5; ++o) EXPECT_EQ(y.at(i, o), bias.at(0, o)) << target;
    multiply<T>(3, {{0, 5, nothing.read(), no_weights.read(), y.write()}});
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t o = 0; o < 5; ++o) EXPECT_EQ(y.at(i, o), T{0}) << target;
    const Matrix<T> kept = y = Matrix<T>::of_grid(3, 5, 1, 2);
    multiply<T>(3, {{0, 5, nothing.read(), no_weights.read(), y.write(), nullptr, true}});
    EXPECT_TRUE(y == kept) << target;

    // No rows: the gradient of the weights is 0, or what is there.
    const Matrix<T> no_x(0, 4, 0);
    const Matrix<T> no_g(0, 5, 0);
    const auto w = Matrix<T>::of_grid(5, 4, 0, 3);
    Matrix<T> no_grad_x(0, 4, 0);
    Matrix<T> grad_w(5, 4, 1);
    backward<T>(0, {{4, 5, no_x.read(), w.read(), no_g.read(), no_grad_x.write(), false,
                     grad_w.write(), false}});
    for (int64_t o = 0; o < 5; ++o)
      for (int64_t c = 0; c < 4; ++c) EXPECT_EQ(grad_w.at(o, c), T{0}) << target;
    const Matrix<T> before = grad_w = Matrix<T>::of_grid(5, 4, 1, 4);
    backward<T>(0, {{4, 5, no_x.read(), w.read(), no_g.read(), no_grad_x.write(), false,
                     grad_w.write(), true}});
    EXPECT_TRUE(grad_w == before) << target;

    // No outputs: the gradient of x is 0.
    const auto x = Matrix<T>::of_grid(3, 4, 0, 5);
    const Matrix<T> no_columns(3, 0, 0);
    Matrix<T> grad_x(3, 4, 2);
    Matrix<T> no_grad_w(0, 4, 0);
    backward<T>(3, {{4, 0, x.read(), no_grad_w.read(), no_columns.read(), grad_x.write(), false,
                     no_grad_w.write(), false}});
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t c = 0; c < 4; ++c) EXPECT_EQ(grad_x.at(i, c), T{0}) << target;
  });
}

// NaN and infinities come out where, and only where, a sum has them: zeros are not skipped, and
// neighbours in the same vector see nothing.
TYPED_TEST(GemmTest, NanAndInfinityPropagate) {
  using T = TypeParam;
  constexpr T kInf = std::numeric_limits<T>::infinity();
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  const auto same = [](const Matrix<T>& got, const Matrix<T>& want) {
    for (int64_t i = 0; i < got.rows(); ++i)
      for (int64_t c = 0; c < got.columns(); ++c)
        if (got.at(i, c) != want.at(i, c) &&
            !(std::isnan(got.at(i, c)) && std::isnan(want.at(i, c))))
          return false;
    return true;
  };
  for (const int64_t in : {1, 7, 33})
    for (const int64_t out : {1, 9, 37}) {
      auto x = Matrix<T>::of_grid(23, in, 1, 1);
      auto w = Matrix<T>::of_grid(out, in, 2, 2);
      auto g = Matrix<T>::of_grid(23, out, 0, 3);
      x.at(3, in / 2) = kNan;
      x.at(22, in - 1) = kInf;
      x.at(0, 0) = -kInf;
      w.at(out - 1, 0) = 0;  // times infinity
      w.at(out / 2, in - 1) = kInf;
      g.at(5, out - 1) = kNan;
      g.at(22, 0) = kInf;
      g.at(0, out / 2) = 0;
      Matrix<T> want_y(23, out, 0);
      Matrix<T> want_x(23, in, 0);
      Matrix<T> want_w(out, in, 0);
      naive(x, w, static_cast<const T*>(nullptr), false, want_y);
      naive_grad_x(g, w, false, want_x);
      naive_grad_w(g, x, false, want_w);
      TestFixture::on_every_target([&](const std::string& target) {
        Matrix<T> y(23, out, 0);
        Matrix<T> grad_x(23, in, 0);
        Matrix<T> grad_w(out, in, 0);
        multiply<T>(23, {{in, out, x.read(), w.read(), y.write()}});
        backward<T>(23, {{in, out, x.read(), w.read(), g.read(), grad_x.write(), false,
                          grad_w.write(), false}});
        EXPECT_TRUE(same(y, want_y)) << target << " " << in << " " << out;
        EXPECT_TRUE(same(grad_x, want_x)) << target << " " << in << " " << out;
        EXPECT_TRUE(same(grad_w, want_w)) << target << " " << in << " " << out;
      });
    }
}

}  // namespace
}  // namespace egc
