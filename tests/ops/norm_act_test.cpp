// Batch norm, ReLU, dropout and residual as operators: against the scalar reference, gradients by
// finite differences, running statistics, what dropout draws, bad input. The kernels' numbers are
// tests/kernels/norm_act_test.cpp.
#include "egc/ops/norm_act.h"

#include <cmath>

#include "egc/kernels/reference.h"
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
using testing::tensor_of;

constexpr uint64_t kSeed = 17;
Tape training() { return Tape::training(kSeed); }

// Weights around 1, positive variances.
BatchNormTensors norm_of(int64_t columns, DType type = DType::kF64) {
  BatchNormTensors norm;
  const Tensor weight = random_tensor(1, columns, 21);
  const Tensor variance = random_tensor(1, columns, 22);
  for (int64_t c = 0; c < columns; ++c) {
    weight.data<double>()[c] = 1 + 0.3 * weight.data<double>()[c];
    variance.data<double>()[c] = 0.5 + std::abs(variance.data<double>()[c]);
  }
  norm.weight = weight.to(type).with_gradient();
  norm.bias = random_tensor(1, columns, 23, type).with_gradient();
  norm.running_mean = random_tensor(1, columns, 24, type);
  norm.running_var = variance.to(type);
  return norm;
}

TEST(BatchNorm, Gradcheck) {
  for (const bool in_training : {true, false})
    for (const int64_t rows : {2, 9})
      for (const bool relu : {false, true})
        for (const double dropout : {0.0, 0.4})
          for (const bool with_residual : {false, true}) {
            SCOPED_TRACE(fmt::format("training={} rows={} relu={} dropout={} residual={}",
                                     in_training, rows, relu, dropout, with_residual));
            const Tensor x = random_tensor(rows, 5, 1).with_gradient();
            const BatchNormTensors norm = norm_of(5);
            std::vector<NamedTensor> inputs = {
                {"x", x}, {"weight", norm.weight}, {"bias", norm.bias}};
            Tensor residual;
            if (with_residual) {
              residual = random_tensor(rows, 5, 2).with_gradient();
              inputs.push_back({"residual", residual});
            }
            // Two rows are +-1 whatever they are: steps of 1e-6 see the eps.
            expect_gradients(
                inputs, [&] { return in_training ? training() : Tape::differentiation(); },
                [&](Tape& tape) { return batch_norm_act(tape, x, norm, relu, dropout, residual); },
                1e-6);
          }
}

TEST(BatchNorm, IsTheReference) {
  for (const DType type : {DType::kF32, DType::kF64})
    for (const bool in_training : {true, false})
      for (const double dropout : {0.0, 0.3}) {
        const double tolerance = type == DType::kF32 ? 1e-5 : 1e-12;
        constexpr int64_t kRows = 700;
        constexpr int64_t kColumns = 11;
        const Tensor x = random_tensor(kRows, kColumns, 1, type).with_gradient();
        const Tensor residual = random_tensor(kRows, kColumns, 2, type).with_gradient();
        const Tensor upstream = random_tensor(kRows, kColumns, 3, type);
        const BatchNormTensors norm = norm_of(kColumns, type);
        // What the operator will draw, seen through the dropout of ones.
        Tape draws = training();
        const bool drops = in_training && dropout > 0;
        const Tensor keep = ops::dropout(draws, Tensor::full(kRows, kColumns, DType::kF64, 1),
                                         drops ? dropout : 0.0);
        const auto wide = [](const Tensor& t) { return testing::values_of(t); };
        const std::vector<double> xs = wide(x), ws = wide(norm.weight), bs = wide(norm.bias),
                                  ms = wide(norm.running_mean), vs = wide(norm.running_var),
                                  ks = wide(keep), rs = wide(residual), us = wide(upstream);
        kernels::ReferenceNormActInput in;
        in.rows = kRows;
        in.columns = kColumns;
        in.x = xs.data();
        in.weight = ws.data();
        in.bias = bs.data();
        if (!in_training) {
          in.mean = ms.data();
          in.variance = vs.data();
        }
        in.relu = true;
        in.keep = ks.data();
        in.residual = rs.data();
        in.grad_y = us.data();
        const kernels::ReferenceNormAct want = kernels::reference_norm_act(in);
        Tape tape = in_training ? training() : Tape::differentiation();
        const Tensor y = batch_norm_act(tape, x, norm, /*relu=*/true, dropout, residual);
        EXPECT_TRUE(close(y, tensor_of(kRows, kColumns, want.y), tolerance));
        tape.backward(y, upstream);
        EXPECT_TRUE(
            close(x.gradient()->take(), tensor_of(kRows, kColumns, want.grad_x), tolerance));
        EXPECT_TRUE(close(norm.weight.gradient()->take(), tensor_of(1, kColumns, want.grad_weight),
                          tolerance));
        EXPECT_TRUE(
            close(norm.bias.gradient()->take(), tensor_of(1, kColumns, want.grad_bias), tolerance));
        EXPECT_TRUE(same_bits(residual.gradient()->take(), upstream));
      }
}

TEST(BatchNorm, RunningStatisticsMoveInTrainingOnly) {
  const Tensor x = tensor_of(3, 1, {1, 2, 6});  // mean 3, unbiased variance 7
  const auto fresh = [] {
    BatchNormTensors norm;
    norm.weight = Tensor::full(1, 1, DType::kF64, 1);
    norm.bias = Tensor::zeros(1, 1, DType::kF64);
    norm.running_mean = Tensor::full(1, 1, DType::kF64, 10);
    norm.running_var = Tensor::full(1, 1, DType::kF64, 2);
    return norm;
  };
  const BatchNormTensors norm = fresh();
  for (const bool recorded : {false, true}) {
    Tape tape = recorded ? Tape::differentiation() : Tape::inference();
    const Tensor y = batch_norm_act(tape, x, norm, false, 0, {});
    EXPECT_NEAR(y.item(2, 0), (6 - 10) / std::sqrt(2 + 1e-5), 1e-12);
  }
  EXPECT_EQ(norm.running_mean.item(0, 0), 10);
  EXPECT_EQ(norm.running_var.item(0, 0), 2);
  Tape tape = training();
  batch_norm_act(tape, x, norm, false, 0, {});
  EXPECT_NEAR(norm.running_mean.item(0, 0), 0.9 * 10 + 0.1 * 3, 1e-12);
  EXPECT_NEAR(norm.running_var.item(0, 0), 0.9 * 2 + 0.1 * 7, 1e-12);

  // A single row has no variance, no row no statistics at all: as in inference.
  const BatchNormTensors other = fresh();
  Tape single = training();
  const Tensor y = batch_norm_act(single, tensor_of(1, 1, {6}), other, false, 0, {});
  EXPECT_NEAR(y.item(0, 0), (6 - 10) / std::sqrt(2 + 1e-5), 1e-12);
  EXPECT_EQ(batch_norm_act(single, Tensor::zeros(0, 1, DType::kF64), other, false, 0, {}).rows(),
            0);
  EXPECT_EQ(other.running_mean.item(0, 0), 10);
  EXPECT_EQ(other.running_var.item(0, 0), 2);
}

TEST(BatchNorm, FoldedItIsWhatItIsInInference) {
  for (const DType type : {DType::kF32, DType::kF64})
    for (const bool relu : {false, true})
      for (const bool with_residual : {false, true}) {
        const BatchNormTensors norm = norm_of(13, type);
        const Tensor x = random_tensor(40, 13, 1, type);
        const Tensor residual = with_residual ? random_tensor(40, 13, 2, type) : Tensor();
        Tape tape = Tape::inference();
        EXPECT_TRUE(same_bits(apply_epilogue(x, fold_batch_norm(norm, relu, residual)),
                              batch_norm_act(tape, x, norm, relu, 0.5, residual)));
      }
}

TEST(BatchNorm, SharedInputsAddUp) {
  const Tensor x = random_tensor(8, 4, 1).with_gradient();
  const BatchNormTensors norm = norm_of(4);
  expect_gradients({{"x", x}, {"weight", norm.weight}, {"bias", norm.bias}}, training,
                   [&](Tape& tape) {
                     const Tensor once = batch_norm_act(tape, x, norm, true, 0.2, x);
                     return batch_norm_act(tape, once, norm, false, 0, x);
                   });
}

TEST(BatchNorm, SameBitsForAnyNumberOfThreads) {
  const Tensor x = random_tensor(5000, 23, 1, DType::kF32).with_gradient();
  const Tensor upstream = random_tensor(5000, 23, 2, DType::kF32);
  std::vector<Tensor> first;
  for (const int threads : {1, 2, 3, 4, 8}) {
    const testing::ThreadCount count(threads);
    const BatchNormTensors norm = norm_of(23, DType::kF32);
    Tape tape = training();
    const Tensor y = batch_norm_act(tape, x, norm, true, 0.3, {});
    tape.backward(y, upstream);
    const std::vector<Tensor> all = {y.detached(),
                                     x.gradient()->take(),
                                     norm.weight.gradient()->take(),
                                     norm.bias.gradient()->take(),
                                     norm.running_mean,
                                     norm.running_var};
    if (first.empty()) first = all;
    for (size_t k = 0; k < all.size(); ++k)
      EXPECT_TRUE(same_bits(all[k], first[k])) << threads << " threads, tensor " << k;
  }
}

TEST(Dropout, DropsAsOftenAsItSaysAndScalesTheRest) {
  const Tensor ones = Tensor::full(500, 100, DType::kF32, 1);
  for (const double p : {0.1, 0.5, 0.9}) {
    const double exact = std::round(p * 65536) / 65536;  // 16 random bits decide
    Tape tape = training();
    const Tensor y = dropout(tape, ones, p);
    int64_t dropped = 0;
    for (const double v : testing::values_of(y)) {
      if (v == 0)
        ++dropped;
      else
        ASSERT_NEAR(v, 1 / (1 - exact), 1e-6 / (1 - exact));
    }
    // Five deviations of 50,000 draws.
    EXPECT_NEAR(static_cast<double>(dropped) / 50000, p, 5 * std::sqrt(p * (1 - p) / 50000));
  }
}

TEST(Dropout, DrawsAreAFunctionOfTheSeedAndOfTheOperatorsBefore) {
  const Tensor x = Tensor::full(300, 40, DType::kF32, 1);
  const auto draw = [&](uint64_t seed, int operators_before, int threads) {
    const testing::ThreadCount count(threads);
    Tape tape = Tape::training(seed);
    for (int k = 0; k < operators_before; ++k) dropout(tape, x, 0.5);
    return dropout(tape, x, 0.5);
  };
  const Tensor first = draw(1, 0, 1);
  EXPECT_TRUE(same_bits(draw(1, 0, 3), first));
  EXPECT_FALSE(same_bits(draw(2, 0, 1), first));
  EXPECT_FALSE(same_bits(draw(1, 1, 1), first));
}

TEST(Dropout, DoesNothingOutsideOfTrainingOrWithProbability0) {
  const Tensor x = random_tensor(5, 3, 1).with_gradient();
  for (const bool recorded : {false, true}) {
    Tape tape = recorded ? Tape::differentiation() : Tape::inference();
    EXPECT_EQ(dropout(tape, x, 0.5).raw(), x.raw());
  }
  Tape tape = training();
  EXPECT_EQ(dropout(tape, x, 0).raw(), x.raw());
}

TEST(Dropout, Gradcheck) {
  const Tensor x = random_tensor(9, 7, 1).with_gradient();
  const Tensor residual = random_tensor(9, 7, 2).with_gradient();
  for (const double p : {0.0, 0.3}) {
    expect_gradients({{"x", x}}, training, [&](Tape& tape) {
      // The two draw differently.
      return dropout(tape, add_scaled_rows(tape, x, x, Tensor::full(9, 1, DType::kF64, 1)), p);
    });
    expect_gradients({{"x", x}}, training, [&](Tape& tape) { return relu_dropout(tape, x, p); });
    expect_gradients({{"x", x}, {"residual", residual}}, training,
                     [&](Tape& tape) { return relu_dropout(tape, x, p, residual); });
    expect_gradients({{"x", x}}, training, [&](Tape& tape) { return relu_dropout(tape, x, p, x); });
  }
  // Differentiating what is computed as in inference: ReLU without dropout.
  expect_gradients(
      {{"x", x}}, [] { return Tape::differentiation(); },
      [&](Tape& tape) { return relu_dropout(tape, x, 0.3, x); });
}

TEST(Relu, IsItsDefinitionAndLetsNanPass) {
  const Tensor x = tensor_of(1, 5, {-2, 0, 3, NAN, -INFINITY});
  const Tensor residual = tensor_of(1, 5, {1, 1, 1, 1, 1});
  Tape tape = Tape::inference();
  EXPECT_TRUE(close(relu_dropout(tape, x, 0.5), tensor_of(1, 5, {0, 0, 3, NAN, 0}), 0));
  EXPECT_TRUE(close(relu_dropout(tape, x, 0.5, residual), tensor_of(1, 5, {1, 1, 4, NAN, 1}), 0));
  EXPECT_TRUE(
      close(apply_epilogue(x, {{}, {}, true, residual}), tensor_of(1, 5, {1, 1, 4, NAN, 1}), 0));
  EXPECT_EQ(apply_epilogue(x, {}).raw(), x.raw());
}

TEST(NormAct, BadInputIsNamed) {
  const BatchNormTensors norm = norm_of(4);
  const Tensor x = random_tensor(6, 4, 1);
  Tape tape = training();
  const auto refuses = [](std::initializer_list<std::string> parts, const auto& f) {
    expect_error(ErrorKind::kUsage, parts, f);
  };
  refuses({"batch norm: x must be [N, 4] float64, got [6, 5] float64"},
          [&] { batch_norm_act(tape, random_tensor(6, 5, 1), norm, true, 0, {}); });
  refuses({"batch norm: x must be [N, 4] float64, got [6, 4] float32"},
          [&] { batch_norm_act(tape, x.to(DType::kF32), norm, true, 0, {}); });
  refuses({"batch norm: the residual must be [6, 4] float64, got [5, 4] float64"},
          [&] { batch_norm_act(tape, x, norm, true, 0, random_tensor(5, 4, 1)); });
  refuses({"relu: the residual must be [6, 4] float64, got [6, 3] float64"},
          [&] { relu_dropout(tape, x, 0, random_tensor(6, 3, 1)); });
  refuses({"relu: x must be"}, [&] { relu_dropout(tape, {}, 0); });
  refuses({"dropout: x must be"}, [&] { dropout(tape, {}, 0.5); });
  for (const double p : {-0.1, 1.0, static_cast<double>(NAN)}) {
    refuses({"dropout", fmt::format("{}", p)}, [&] { dropout(tape, x, p); });
    refuses({"dropout", fmt::format("{}", p)}, [&] { relu_dropout(tape, x, p); });
    refuses({"dropout", fmt::format("{}", p)}, [&] { batch_norm_act(tape, x, norm, true, p, {}); });
  }
  refuses({"epilogue: residual must be [6, 4] float64, got [5, 4] float64"}, [&] {
    apply_epilogue(x, {{}, {}, false, random_tensor(5, 4, 1)});
  });
  refuses({"epilogue: it has no gradient"}, [&] {
    apply_epilogue(x.with_gradient(), {{}, {}, true, {}});
  });
}

}  // namespace
}  // namespace egc::ops
