// Adam against the formula, one number after the other in double.
#include "egc/train/adam.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "egc/core/error.h"
#include "tests/core/expect_error.h"
#include "tests/core/thread_count.h"
#include "tests/tensor/tensors.h"

namespace egc {
namespace {

using nn::ParameterPtr;
using testing::close;
using testing::expect_error;
using testing::random_tensor;
using testing::same_bits;
using testing::tensor_of;
using testing::ThreadCount;
using train::Adam;
using train::AdamOptions;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

ParameterPtr parameter(const Tensor& values) {
  return std::make_shared<nn::Parameter>(
      nn::Parameter{{values.rows(), values.columns()}, values.clone().with_gradient()});
}

// Sizes around the blocks that tasks take.
std::vector<ParameterPtr> parameters() {
  std::vector<ParameterPtr> out;
  for (const int64_t size : {1, 7, 1000, (1 << 15) + 3, 1 << 16})
    out.push_back(parameter(random_tensor(1, size, 3 + out.size(), DType::kF32)));
  return out;
}

std::vector<ParameterPtr> copies(const std::vector<ParameterPtr>& from) {
  std::vector<ParameterPtr> out;
  for (const ParameterPtr& p : from) out.push_back(parameter(p->value));
  return out;
}

// A tenth of the standard normal distribution.
Tensor gradient_of(const Tensor& value, size_t k, int step) {
  const Tensor g = random_tensor(value.rows(), value.columns(),
                                 1000 + 10 * static_cast<uint64_t>(step) + k, DType::kF32);
  for (int64_t i = 0; i < g.size(); ++i) g.data<float>()[i] *= 0.1F;
  return g;
}

void set_gradients(const std::vector<ParameterPtr>& to, int step) {
  for (size_t k = 0; k < to.size(); ++k)
    to[k]->value.gradient()->add(gradient_of(to[k]->value, k, step));
}

// The paper's algorithm 1.
class Formula {
 public:
  Formula(const std::vector<ParameterPtr>& parameters, const AdamOptions& options)
      : options_(options) {
    for (const ParameterPtr& p : parameters) {
      values_.push_back(testing::values_of(p->value));
      mean_.emplace_back(values_.back().size());
      square_.emplace_back(values_.back().size());
    }
  }

  void step(const std::vector<Tensor>& tensors, double lr) {
    ++steps_;
    std::vector<std::vector<double>> gradients;
    for (const Tensor& t : tensors) gradients.push_back(testing::values_of(t));
    double norm = 0;
    for (const auto& gradient : gradients)
      for (const double g : gradient) norm += g * g;
    norm = std::sqrt(norm);
    const bool clips = options_.clip > 0 && norm > options_.clip;
    const double m_share = 1 - std::pow(options_.beta1, steps_);
    const double v_share = 1 - std::pow(options_.beta2, steps_);
    const double scale = clips ? options_.clip / (norm + 1e-6) : 1;
    for (size_t k = 0; k < values_.size(); ++k)
      for (size_t i = 0; i < values_[k].size(); ++i) {
        double& p = values_[k][i];
        double& m = mean_[k][i];
        double& v = square_[k][i];
        const double g = scale * gradients[k][i] + (options_.decoupled ? 0 : options_.wd * p);
        m = options_.beta1 * m + (1 - options_.beta1) * g;
        v = options_.beta2 * v + (1 - options_.beta2) * g * g;
        const double m_hat = m / m_share;
        const double v_hat = v / v_share;
        if (options_.decoupled) p -= lr * options_.wd * p;
        p -= lr * m_hat / (std::sqrt(v_hat) + options_.eps);
      }
  }
  const std::vector<double>& values(size_t k) const { return values_[k]; }

 private:
  AdamOptions options_;
  std::vector<std::vector<double>> values_, mean_, square_;
  int steps_ = 0;
};

TEST(Adam, StepsAsTheFormulaSays) {
  constexpr int kSteps = 50;
  std::vector<std::vector<Tensor>> gradients(kSteps);
  for (int step = 0; step < kSteps; ++step)
    for (const ParameterPtr& p : parameters())
      gradients[static_cast<size_t>(step)].push_back(
          gradient_of(p->value, gradients[static_cast<size_t>(step)].size(), step));
  for (const AdamOptions& options : {
           AdamOptions{},
           AdamOptions{.wd = 0.01},
           AdamOptions{.wd = 0.1, .beta1 = 0.5, .beta2 = 0.95, .eps = 1e-3},
           AdamOptions{.clip = 0.5},
           AdamOptions{.wd = 0.01, .eps = 1, .clip = 3},
           AdamOptions{.eps = 1, .clip = 1e6},  // never reached
           AdamOptions{.wd = 0.3, .decoupled = true},
           AdamOptions{.wd = 2, .decoupled = true, .eps = 1, .clip = 0.5},
       }) {
    const auto ours = parameters();
    Formula formula(ours, options);
    Adam adam(ours, options);
    for (int step = 0; step < kSteps; ++step) {
      const double lr = step < 30 ? 1e-2 : 3e-3;
      const std::vector<Tensor>& given = gradients[static_cast<size_t>(step)];
      for (size_t k = 0; k < ours.size(); ++k) ours[k]->value.gradient()->add(given[k]);
      adam.step(lr);
      formula.step(given, lr);
    }
    // A rounding of each step.
    for (size_t k = 0; k < ours.size(); ++k) {
      const Tensor& p = ours[k]->value;
      for (int64_t i = 0; i < p.size(); ++i) {
        const double want = formula.values(k)[static_cast<size_t>(i)];
        ASSERT_NEAR(p.data<float>()[i], want, kSteps * 1.2e-7 * std::max(1.0, std::abs(want)))
            << "parameter " << k << ", wd " << options.wd << ", clip " << options.clip;
      }
    }
  }
}

TEST(Adam, NumbersAreNormalOrZero) {
  // Weight decay alone moves it: towards 0.
  std::vector<double> values;
  for (int k = 0; k < 100; ++k) values.push_back(std::pow(10, -45 * (1 - k / 99.0)));
  const std::vector<ParameterPtr> p = {parameter(tensor_of(1, 100, values, DType::kF32))};
  Adam adam(p, {.wd = 1e-6});
  for (int step = 0; step < 3000; ++step) {
    p[0]->value.gradient()->add(Tensor::zeros(1, 100, DType::kF32));
    adam.step(1e-3);
  }
  State all = adam.state();
  all["parameter"] = NdArray({100}, p[0]->value);
  for (const auto& [name, array] : all) {
    if (array.dtype() != DType::kF32) continue;
    for (const float v : array.values<float>())
      EXPECT_TRUE(v == 0 || std::isnormal(v)) << name << ": " << v;
  }
  // Others' numbers are as they were.
  volatile float tiny = 1e-40F;
  EXPECT_GT(tiny * 1.0F, 0.0F);
}

// Nothing of what happens to a number reaches its neighbours.
TEST(Adam, HostileGradientsSpoilTheirOwnNumbersAlone) {
  const Tensor start = random_tensor(1, 67, 1, DType::kF32);
  const std::vector<double> hostile = {kNaN, kInfinity, -kInfinity, 3e38, -3e38, 1e-44, -0.0};
  const std::vector<ParameterPtr> clean = {parameter(start)};
  const std::vector<ParameterPtr> spoilt = {parameter(start)};
  Adam one(clean, {.wd = 0.01});
  Adam other(spoilt, {.wd = 0.01});
  for (int step = 0; step < 5; ++step) {
    set_gradients(clean, step);
    const Tensor g = gradient_of(start, 0, step);
    for (size_t k = 0; k < hostile.size(); ++k)
      g.data<float>()[9 * k] = static_cast<float>(hostile[k]);
    spoilt[0]->value.gradient()->add(g);
    one.step(0.1);
    other.step(0.1);
  }
  for (int64_t i = 0; i < start.size(); ++i) {
    const float value = spoilt[0]->value.data<float>()[i];
    const auto k = static_cast<size_t>(i / 9);
    if (i % 9 != 0 || k >= hostile.size())
      EXPECT_EQ(value, clean[0]->value.data<float>()[i]) << i;
    else
      EXPECT_EQ(std::isfinite(value), std::isfinite(hostile[k])) << hostile[k] << ": " << value;
  }
}

TEST(Adam, TakesTheGradientsAway) {
  const auto p = parameters();
  set_gradients(p, 0);
  Adam(p, {}).step(0.1);
  for (const ParameterPtr& one : p) EXPECT_FALSE(one->grad().defined());
}

TEST(Adam, AParameterWithoutAGradientStays) {
  const auto p = parameters();
  Adam adam(p, {.wd = 0.1, .decoupled = true, .clip = 0.1});
  set_gradients(p, 0);
  adam.step(0.1);
  const Tensor before = p[2]->value.clone();
  const State state = adam.state();
  set_gradients(p, 1);
  p[2]->value.gradient()->take();
  adam.step(0.1);
  EXPECT_TRUE(same_bits(p[2]->value, before));
  const int64_t first = 1 + 7;
  for (const char* moment : {"mean", "square"}) {
    EXPECT_TRUE(
        adam.state().at(moment).rows(first, 1000).equals(state.at(moment).rows(first, 1000)));
    EXPECT_FALSE(adam.state().at(moment).rows(0, 1).equals(state.at(moment).rows(0, 1)));
  }
}

TEST(Adam, ClippingScalesAllGradientsTogether) {
  const auto clipped = parameters();
  const auto scaled = copies(clipped);
  set_gradients(clipped, 0);
  double square = 0;
  for (const ParameterPtr& p : clipped)
    for (const double g : testing::values_of(p->grad())) square += g * g;
  const double scale = 0.5 / (std::sqrt(square) + 1e-6);
  for (size_t k = 0; k < scaled.size(); ++k) {
    const Tensor g = gradient_of(scaled[k]->value, k, 0);
    for (int64_t i = 0; i < g.size(); ++i) g.data<float>()[i] *= static_cast<float>(scale);
    scaled[k]->value.gradient()->add(g);
  }
  // The first step of Adam forgets the size of gradients unless eps is large.
  Adam(clipped, {.eps = 1, .clip = 0.5}).step(0.1);
  Adam(scaled, {.eps = 1}).step(0.1);
  for (size_t k = 0; k < clipped.size(); ++k)
    EXPECT_TRUE(close(clipped[k]->value, scaled[k]->value, 1e-9)) << k;
}

TEST(Adam, IsTheSameForAnyNumberOfThreads) {
  std::vector<std::vector<ParameterPtr>> all;
  for (const int threads : {1, 2, 4}) {
    const ThreadCount count(threads);
    all.push_back(parameters());
    Adam adam(all.back(), {.wd = 0.01, .clip = 1});
    for (int step = 0; step < 3; ++step) {
      set_gradients(all.back(), step);
      adam.step(0.01);
    }
  }
  for (size_t k = 0; k < all[0].size(); ++k)
    for (const auto& other : all) EXPECT_TRUE(same_bits(other[k]->value, all[0][k]->value)) << k;
}

TEST(Adam, GoesOnFromItsState) {
  const auto through = parameters();
  const auto stopped = copies(through);
  const AdamOptions options = {.wd = 0.01, .clip = 1};
  Adam one(through, options);
  Adam first(stopped, options);
  for (int step = 0; step < 4; ++step) {
    set_gradients(through, step);
    one.step(0.01);
  }
  for (int step = 0; step < 2; ++step) {
    set_gradients(stopped, step);
    first.step(0.01);
  }
  const State state = first.state();
  EXPECT_EQ(state.at("steps").item(), 2);
  // What is saved is a copy: the first one's next step does not change it.
  set_gradients(stopped, 9);
  const auto elsewhere = copies(stopped);
  first.step(0.01);
  Adam second(elsewhere, options);
  second.load(state, "here");
  for (int step = 2; step < 4; ++step) {
    set_gradients(elsewhere, step);
    second.step(0.01);
  }
  for (size_t k = 0; k < through.size(); ++k)
    EXPECT_TRUE(same_bits(through[k]->value, elsewhere[k]->value)) << k;
  for (const auto& [name, array] : one.state()) EXPECT_TRUE(second.state().at(name).equals(array));
}

TEST(Adam, ParametersInDoubleAreRefused) {
  expect_error(ErrorKind::kUsage, {"adam", "float32", "[1, 3] float64"},
               [] { Adam({parameter(Tensor::zeros(1, 3, DType::kF64))}, {}); });
}

TEST(Adam, AStateThatDoesNotFitIsRefused) {
  const auto p = parameters();
  Adam adam(p, {});
  set_gradients(p, 0);
  adam.step(0.1);
  const State good = adam.state();
  const auto refused = [&](const char* name, const NdArray& values, const std::string& fragment) {
    State state = good;
    state[name] = values;
    expect_error(ErrorKind::kModel, {"here", fragment}, [&] { adam.load(state, "here"); });
    for (const auto& [part, array] : adam.state()) EXPECT_TRUE(array.equals(good.at(part))) << part;
  };
  const std::vector<float> three(3);
  const std::vector<int64_t> steps = {1, 2};
  const int64_t negative = -1;
  refused("mean", NdArray({3}, std::span<const float>(three)), "float32 in \"mean\"");
  refused("square", good.at("square").to(DType::kF64), "\"square\"");
  refused("steps", NdArray({2}, std::span<const int64_t>(steps)), "steps");
  refused("steps", NdArray({}, std::span<const int64_t>(&negative, 1)), "-1 steps");
  for (const char* name : {"mean", "square", "steps"}) {
    State state = good;
    state.erase(name);
    expect_error(ErrorKind::kModel, {"here", name}, [&] { adam.load(state, "here"); });
  }
}

}  // namespace
}  // namespace egc
