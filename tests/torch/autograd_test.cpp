// Operators of egc within LibTorch's autograd: values, gradients, and what is refused.
#include "egc/torch/autograd.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/forward_grad.h>

#include "egc/core/parallel.h"
#include "egc/ops/aggregate.h"
#include "egc/ops/linear.h"
#include "egc/ops/row_parts.h"
#include "egc/torch/functional.h"
#include "tests/core/expect_error.h"
#include "tests/kernels/random_problem.h"
#include "tests/torch/tensors.h"

namespace egc {
namespace {

using testing::awkward_graph;
using testing::expect_error;
using testing::relative_difference;
using Inputs = std::vector<Tensor>;

at::Tensor dense(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return torch::run(
      "linear", [](Tape& tape, const Inputs& in) { return ops::linear(tape, in[0], in[1], in[2]); },
      {x, weight, bias});
}

at::Tensor log_softmax(const at::Tensor& x) {
  return torch::run(
      "log_softmax",
      [](Tape& tape, const Inputs& in) { return ops::log_softmax(tape, in[0], in[0].columns()); },
      {x});
}

at::Tensor leaf(at::IntArrayRef sizes, at::ScalarType type = at::kDouble) {
  return at::randn(sizes, type).requires_grad_();
}

void expect_torch_error(const std::string& fragment, const std::function<void()>& f) {
  try {
    f();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::exception& e) {
    EXPECT_NE(std::string(e.what()).find(fragment), std::string::npos) << e.what();
  }
}

TEST(TorchRun, ValuesAndGradientsAreThoseOfTorch) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble})
    for (const bool with_bias : {true, false}) {
      const double tolerance = type == at::kFloat ? 1e-5 : 1e-12;
      const at::Tensor x = leaf({7, 5}, type);
      const at::Tensor weight = leaf({3, 5}, type);
      const at::Tensor bias = with_bias ? leaf({3}, type) : at::Tensor();
      const at::Tensor r = at::randn({7, 3}, type);
      const auto grads = [&](const at::Tensor& y) {
        for (const at::Tensor& t : {x, weight, bias})
          if (t.defined()) t.mutable_grad() = at::Tensor();
        y.backward(r);
        std::vector<at::Tensor> all = {y.detach()};
        for (const at::Tensor& t : {x, weight, bias})
          if (t.defined()) all.push_back(t.grad());
        return all;
      };
      const auto ours = grads(dense(x, weight, bias));
      const auto theirs = grads(at::linear(x, weight, bias));
      for (size_t k = 0; k < theirs.size(); ++k)
        EXPECT_LE(relative_difference(ours[k], theirs[k]), tolerance) << k;
    }
}

TEST(TorchRun, InputsAreNotCopiedAndNeitherIsTheResult) {
  const at::Tensor x = at::randn({4, 3});
  const void* seen = nullptr;
  const void* made = nullptr;
  const auto spmm = [&](Tape& tape, const Inputs& in) {
    seen = in[0].raw();
    const Tensor out = ops::spmm(
        tape, Csr::from_edges(4, std::vector<int64_t>{0, 1}, std::vector<int64_t>{2, 3}), in[0]);
    made = out.raw();
    return out;
  };
  for (const bool wanted : {false, true}) {
    const at::Tensor input = wanted ? x.clone().requires_grad_() : x;
    const at::Tensor y = torch::run("spmm", spmm, {input});
    EXPECT_EQ(seen, input.data_ptr());
    EXPECT_EQ(made, y.data_ptr());
    EXPECT_EQ(y.requires_grad(), wanted);
  }
}

TEST(TorchRun, ResultsOutliveTheirInputs) {
  at::Tensor y;
  at::Tensor want;
  {
    const at::Tensor x = leaf({600, 500});
    const at::Tensor weight = leaf({40, 500});
    y = dense(x, weight, {});
    want = at::linear(x, weight).detach();
  }
  y.sum().backward();
  EXPECT_LE(relative_difference(y.detach(), want), 1e-12);
}

TEST(TorchRun, NoGradientWhereNoneIsWanted) {
  const at::Tensor x = leaf({4, 3});
  const at::Tensor weight = leaf({2, 3});
  const auto recording = [&](const std::vector<at::Tensor>& inputs) {
    bool recorded = false;
    const at::Tensor y = torch::run(
        "linear",
        [&](Tape& tape, const Inputs& in) {
          recorded = tape.is_recording();
          return ops::linear(tape, in[0], in[1], {});
        },
        inputs);
    EXPECT_EQ(recorded, y.grad_fn() != nullptr);
    return recorded;
  };
  EXPECT_TRUE(recording({x, weight}));
  EXPECT_FALSE(recording({x.detach(), weight.detach()}));
  {
    const at::NoGradGuard no_grad;
    EXPECT_FALSE(recording({x, weight}));
  }
  {
    const c10::InferenceMode mode;
    EXPECT_FALSE(recording({at::randn({4, 3}), at::randn({2, 3})}));
  }
  // Of one input only: the other's is not computed.
  dense(x, weight.detach(), {}).sum().backward();
  EXPECT_TRUE(x.grad().defined());
  EXPECT_FALSE(weight.grad().defined());
}

TEST(TorchRun, InputsNeedNotBeContiguous) {
  const at::Tensor x = leaf({5, 7});
  const at::Tensor weight = leaf({3, 10});
  const at::Tensor wide = weight.slice(1, 0, 10, 2);
  const at::Tensor y = dense(x.t(), wide, {});
  const at::Tensor want = at::linear(x.t(), wide);
  EXPECT_LE(relative_difference(y.detach(), want.detach()), 1e-12);
  // Neither need the gradient of the result: that of sum() is one value under every index.
  const auto grads = ::torch::autograd::grad({y.sum()}, {x, weight});
  const auto wanted = ::torch::autograd::grad({want.sum()}, {x, weight});
  for (int k = 0; k < 2; ++k) EXPECT_LE(relative_difference(grads[k], wanted[k]), 1e-12);
}

TEST(TorchRun, OtherShapesAreMatricesToo) {
  const at::Tensor x = leaf({2, 3, 4});
  const at::Tensor y = torch::run("add",
                                  [](Tape& tape, const Inputs& in) {
                                    return ops::add(tape, {in[0], in[0]});
                                  },
                                  {x});
  EXPECT_EQ(y.sizes(), (std::vector<int64_t>{6, 4}));
  y.sum().backward();
  EXPECT_TRUE(at::equal(x.grad(), at::full({2, 3, 4}, 2.0, at::kDouble)));
}

TEST(TorchRun, GradientsThatShareABufferAreWrittenToAlone) {
  const at::Tensor a = leaf({3, 2});
  const at::Tensor b = leaf({3, 2});
  const at::Tensor upstream = at::ones({3, 2}, at::kDouble);
  const auto add = [&] {
    return torch::run("add", [](Tape& tape, const Inputs& in) { return ops::add(tape, in); },
                      {a, b});
  };
  add().backward(upstream);
  a.mutable_grad().fill_(7);
  EXPECT_TRUE(at::equal(b.grad(), upstream));
  EXPECT_TRUE(at::equal(upstream, at::ones({3, 2}, at::kDouble)));
}

TEST(TorchRun, AnOperatorMayGiveItsInputBack) {
  const at::Tensor x = leaf({3, 2});
  const auto same = [](Tape&, const Inputs& in) { return in[0]; };
  const at::Tensor y = torch::run("same", same, {x});
  EXPECT_NE(y.data_ptr(), x.data_ptr());
  y.backward(at::full({3, 2}, 3.0, at::kDouble));
  EXPECT_TRUE(at::equal(x.grad(), at::full({3, 2}, 3.0, at::kDouble)));
  const at::Tensor constant = torch::run(
      "constant", [](Tape&, const Inputs&) { return Tensor::full(1, 1, DType::kF64, 2); }, {x});
  EXPECT_FALSE(constant.requires_grad());
}

TEST(TorchRun, WhatTheOperatorKeepsIsNotWrittenToThroughTheResult) {
  const at::Tensor x = leaf({3, 4});  // log_softmax keeps its result for the backward pass
  const at::Tensor r = at::randn({3, 4}, at::kDouble);
  const at::Tensor want = x.log_softmax(1);
  const at::Tensor y = log_softmax(x);
  EXPECT_LE(relative_difference(y.detach(), want.detach()), 1e-12);
  y.detach().zero_();
  EXPECT_LE(relative_difference(::torch::autograd::grad({y}, {x}, {r})[0],
                                ::torch::autograd::grad({want}, {x}, {r})[0]),
            1e-12);
}

TEST(TorchRun, WritesToInputsAreNoticed) {
  const at::Tensor x = leaf({4, 3});
  const at::Tensor weight = leaf({2, 3});
  for (const bool of_weight : {false, true}) {
    const at::Tensor y = dense(x, weight, {}).sum();
    {
      const at::NoGradGuard no_grad;
      at::Tensor(of_weight ? weight : x).mul_(2);
    }
    expect_torch_error("modified by an inplace operation", [&] { y.backward(); });
  }
}

TEST(TorchRun, ResultsMayBeWrittenTo) {
  const at::Tensor x = leaf({4, 3});
  const at::Tensor weight = leaf({2, 3});
  at::Tensor y = dense(x, weight, {});
  y.relu_();
  y.sum().backward();
  const at::Tensor want = ::torch::autograd::grad({at::linear(x, weight).relu().sum()}, {x})[0];
  EXPECT_LE(relative_difference(x.grad(), want), 1e-12);
}

TEST(TorchRun, ARetainedGraphIsTakenBackwardsAgain) {
  const at::Tensor x = leaf({4, 3});
  const at::Tensor weight = leaf({2, 3});
  int calls = 0;
  const at::Tensor y = torch::run("linear",
                                  [&](Tape& tape, const Inputs& in) {
                                    ++calls;
                                    return ops::linear(tape, in[0], in[1], {});
                                  },
                                  {x, weight});
  const at::Tensor r = at::randn({4, 2}, at::kDouble);
  std::vector<at::Tensor> first;
  for (int k = 0; k < 3; ++k) {
    const auto grads = ::torch::autograd::grad({y}, {x, weight}, {r}, /*retain_graph=*/true);
    if (first.empty()) first = grads;
    for (int g = 0; g < 2; ++g) EXPECT_TRUE(at::equal(grads[g], first[g]));
    EXPECT_EQ(calls, 1 + k);  // the first pass has the tape of the forward pass
  }
  y.backward(r);
  expect_torch_error("a second time", [&] { y.backward(r); });
}

TEST(TorchRun, SecondDerivativesAreRefused) {
  const at::Tensor x = leaf({4, 3});
  const at::Tensor weight = leaf({2, 3});
  const at::Tensor y = dense(x, weight, {});
  expect_error(ErrorKind::kUsage, {"linear", "second derivatives", "create_graph"}, [&] {
    ::torch::autograd::grad({y.sum()}, {x}, {}, /*retain_graph=*/true, /*create_graph=*/true);
  });
  // The first ones are still there.
  EXPECT_EQ(::torch::autograd::grad({y.sum()}, {x})[0].sizes(), x.sizes());
}

TEST(TorchRun, ForwardModeIsRefused) {
  const auto level = ::torch::autograd::ForwardADLevel::get_next_idx();
  const at::Tensor plain = at::randn({4, 3}, at::kDouble);
  const at::Tensor weight = at::randn({2, 3}, at::kDouble);
  const at::Tensor dual = at::_make_dual(plain, at::ones_like(plain), static_cast<int64_t>(level));
  for (const bool enabled : {true, false}) {
    const at::AutoGradMode mode(enabled);
    expect_error(ErrorKind::kUsage, {"linear", "forward-mode"}, [&] { dense(dual, weight, {}); });
  }
  dense(plain, weight, {});
  ::torch::autograd::ForwardADLevel::release_idx(level);
}

TEST(TorchRun, OtherTypesAndPlacesAreRefused) {
  const at::Tensor weight = at::randn({2, 3});
  for (const at::ScalarType type : {at::kHalf, at::kBFloat16, at::kLong, at::kBool})
    expect_error(ErrorKind::kUsage, {"linear", "float32 or float64", c10::toString(type)}, [&] {
      dense(at::ones({4, 3}, type), weight, {});
    });
  expect_error(ErrorKind::kUsage, {"in the CPU's memory", "meta"}, [&] {
    dense(at::ones({4, 3}, at::kMeta), weight, {});
  });
  expect_error(ErrorKind::kUsage, {"dense"}, [&] {
    dense(at::ones({4, 3}).to_sparse(), weight, {});
  });
  expect_error(ErrorKind::kUsage, {"float32", "float64"}, [&] {
    dense(at::ones({4, 3}, at::kDouble), weight, {});
  });
}

TEST(TorchRun, EmptyTensors) {
  const at::Tensor x = leaf({0, 3});
  const at::Tensor weight = leaf({2, 3});
  const at::Tensor y = dense(x, weight, {});
  EXPECT_EQ(y.sizes(), (std::vector<int64_t>{0, 2}));
  y.sum().backward();
  EXPECT_EQ(x.grad().sizes(), x.sizes());
  EXPECT_TRUE(at::equal(weight.grad(), at::zeros({2, 3}, at::kDouble)));
}

TEST(TorchRun, ThreadsAreAsManyAsLibTorchs) {
  const int before = at::get_num_threads();
  const at::Tensor x = at::randn({4, 3});
  for (const int threads : {1, 3, 2}) {
    at::set_num_threads(threads);
    log_softmax(x);
    EXPECT_EQ(num_threads(), threads);
  }
  at::set_num_threads(before);
  log_softmax(x);
}

TEST(TorchSpmm, ValuesAndGradient) {
  for (const bool weighted : {false, true}) {
    const Csr graph = awkward_graph(weighted);
    at::Tensor x = leaf({14, 5});
    const at::Tensor r = at::randn({14, 5}, at::kDouble);
    const auto run = [&] { return torch::spmm(graph, x); };
    run().backward(r);
    EXPECT_LE(relative_difference(x.grad(), testing::numeric_gradient(run, x, r)), 1e-7);
  }
  expect_error(ErrorKind::kUsage, {"spmm", "[14, N]", "[13, 5]"}, [] {
    torch::spmm(awkward_graph(), at::ones({13, 5}));
  });
  expect_error(ErrorKind::kUsage, {"spmm", "matrix", "[14]"},
               [] { torch::spmm(awkward_graph(), at::ones({14})); });
}

}  // namespace
}  // namespace egc
