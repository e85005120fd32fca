// Adam against LibTorch's own.
#include "egc/train/adam.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/optim/adam.h>

#include <cmath>

#include "egc/core/error.h"
#include "tests/core/expect_error.h"

namespace egc {
namespace {

using testing::expect_error;
using train::Adam;

// Sizes around the blocks that tasks take.
std::vector<at::Tensor> parameters() {
  at::manual_seed(3);
  std::vector<at::Tensor> out;
  for (const int64_t size : {1, 7, 1000, (1 << 15) + 3, 1 << 16})
    out.push_back(at::randn({size}).requires_grad_());
  return out;
}

std::vector<at::Tensor> copies(const std::vector<at::Tensor>& from) {
  std::vector<at::Tensor> out;
  for (const at::Tensor& t : from) out.push_back(t.detach().clone().requires_grad_());
  return out;
}

void set_gradients(std::vector<at::Tensor>& to, int step) {
  at::manual_seed(100 + step);
  for (at::Tensor& t : to) t.mutable_grad() = at::randn_like(t) * 0.1;
}

TEST(Adam, StepsAsLibTorchDoes) {
  for (const double wd : {0.0, 0.01}) {
    auto ours = parameters();
    auto theirs = copies(ours);
    Adam adam(ours, {.wd = wd});
    torch::optim::Adam reference(theirs, torch::optim::AdamOptions(1e-2).weight_decay(wd));
    for (int step = 0; step < 50; ++step) {
      set_gradients(ours, step);
      set_gradients(theirs, step);
      adam.step(1e-2);
      reference.step();
    }
    // Fifty steps may differ by a rounding each.
    for (size_t k = 0; k < ours.size(); ++k)
      EXPECT_LE(((ours[k] - theirs[k]) / theirs[k].abs().clamp_min(1)).abs().max().item<double>(),
                50 * 1.2e-7)
          << k << " wd " << wd;
  }
}

TEST(Adam, NumbersAreNormalOrZero) {
  // Weight decay alone moves it: towards 0.
  std::vector<at::Tensor> p = {at::logspace(-45, 0, 100).to(at::kFloat).detach().requires_grad_()};
  Adam adam(p, {.wd = 1e-6});
  for (int step = 0; step < 3000; ++step) {
    p[0].mutable_grad() = at::zeros({100});
    adam.step(1e-3);
  }
  nn::State all = adam.state();
  all["parameter"] = p[0].detach();
  for (const auto& [name, tensor] : all) {
    if (tensor.scalar_type() != at::kFloat) continue;
    const at::Tensor small = (tensor != 0).logical_and(tensor.abs() < 1.17e-38);
    EXPECT_EQ(small.sum().item<int64_t>(), 0) << name;
  }
  // Others' numbers are as they were.
  volatile float tiny = 1e-40F;
  EXPECT_GT(tiny * 1.0F, 0.0F);
}

TEST(Adam, TakesTheGradientsAway) {
  auto p = parameters();
  set_gradients(p, 0);
  Adam(p, {}).step(0.1);
  for (const at::Tensor& t : p) EXPECT_FALSE(t.grad().defined());
}

TEST(Adam, AParameterWithoutAGradientStays) {
  auto p = parameters();
  const at::Tensor before = p[2].detach().clone();
  set_gradients(p, 0);
  p[2].mutable_grad().reset();
  Adam(p, {.wd = 0.1}).step(0.1);
  EXPECT_TRUE(p[2].equal(before));
}

TEST(Adam, ClippingScalesAllGradientsTogether) {
  auto clipped = parameters();
  auto scaled = copies(clipped);
  set_gradients(clipped, 0);
  set_gradients(scaled, 0);
  double square = 0;
  for (const at::Tensor& t : scaled)
    square += t.grad().to(at::kDouble).square().sum().item<double>();
  for (at::Tensor& t : scaled) t.mutable_grad().mul_(0.5 / (std::sqrt(square) + 1e-6));
  // The first step of Adam forgets the size of gradients unless eps is large.
  Adam(clipped, {.eps = 1, .clip = 0.5}).step(0.1);
  Adam(scaled, {.eps = 1}).step(0.1);
  for (size_t k = 0; k < clipped.size(); ++k)
    EXPECT_LE((clipped[k] - scaled[k]).abs().max().item<double>(), 1e-9) << k;
}

TEST(Adam, GoesOnFromItsState) {
  auto through = parameters();
  auto stopped = copies(through);
  Adam one(through, {.wd = 0.01});
  Adam first(stopped, {.wd = 0.01});
  for (int step = 0; step < 4; ++step) {
    set_gradients(through, step);
    one.step(0.01);
  }
  for (int step = 0; step < 2; ++step) {
    set_gradients(stopped, step);
    first.step(0.01);
  }
  Adam second(stopped, {.wd = 0.01});
  second.load(first.state(), "here");
  for (int step = 2; step < 4; ++step) {
    set_gradients(stopped, step);
    second.step(0.01);
  }
  for (size_t k = 0; k < through.size(); ++k) EXPECT_TRUE(through[k].equal(stopped[k])) << k;
}

TEST(Adam, AStateThatDoesNotFitIsRefused) {
  auto p = parameters();
  Adam adam(p, {});
  auto state = adam.state();
  state["mean"] = at::zeros({3});
  expect_error(ErrorKind::kModel, {"mean", "Float"}, [&] { adam.load(state, "here"); });
  state.erase("mean");
  expect_error(ErrorKind::kModel, {"here", "mean"}, [&] { adam.load(state, "here"); });
  state = adam.state();
  state["steps"] = at::zeros({2}, at::kLong);
  expect_error(ErrorKind::kModel, {"steps"}, [&] { adam.load(state, "here"); });
  state["steps"] = at::full({}, -1, at::kLong);
  expect_error(ErrorKind::kModel, {"-1 steps"}, [&] { adam.load(state, "here"); });
}

}  // namespace
}  // namespace egc
