// Adam's kernel against the formula in double, on every instruction set, over all tails.
#include "egc/kernels/adam.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "egc/core/rng.h"
#include "egc/kernels/target.h"

namespace egc {
namespace {

std::vector<float> draw(int64_t count, uint64_t stream, float scale) {
  Rng rng(7, stream);
  std::vector<float> out(static_cast<size_t>(count));
  for (float& v : out) v = scale * (rng.uniform() - 0.5F);
  return out;
}

TEST(AdamKernel, IsTheFormulaOnEveryInstructionSet) {
  kernels::AdamStep step;
  step.wd = 0.01F;
  step.keep = 0.875F;
  step.scale = 0.5F;
  step.size = 0.1F;
  step.root = 0.3F;
  for (const std::string& target : kernels::available_targets()) {
    kernels::force_target(target);
    for (int64_t count = 0; count <= 67; ++count) {
      const auto g = draw(count, 1, 2);
      const auto before = draw(count, 2, 1);
      const auto m0 = draw(count, 3, 1);
      auto v0 = draw(count, 4, 1);
      for (float& v : v0) v = std::abs(v);
      auto p = before;
      auto m = m0;
      auto v = v0;
      kernels::adam(step, count, g.data(), p.data(), m.data(), v.data());
      for (size_t i = 0; i < p.size(); ++i) {
        const double gradient = step.scale * g[i] + double{step.wd} * before[i];
        const double mean = double{step.beta1} * m0[i] + (1 - double{step.beta1}) * gradient;
        const double square =
            double{step.beta2} * v0[i] + (1 - double{step.beta2}) * gradient * gradient;
        EXPECT_NEAR(m[i], mean, 1e-6) << target;
        EXPECT_NEAR(v[i], square, 1e-6) << target;
        EXPECT_NEAR(
            p[i], 0.875 * before[i] - step.size * mean / (std::sqrt(square) / step.root + step.eps),
            2e-6)
            << target << " " << count << " " << i;
      }
    }
  }
  kernels::force_target("");
}

}  // namespace
}  // namespace egc
