// One step of Adam (Kingma and Ba, ICLR 2015) or of AdamW over a stretch of parameters.
#pragma once

#include <cstdint>

namespace egc::kernels {

struct AdamStep {
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float eps = 1e-8F;
  float wd = 0;     // L2: times the parameter, added to the gradient
  float keep = 1;   // AdamW's 1 - lr * wd: times the parameter, before the step
  float scale = 1;  // of the gradient
  float size = 0;   // learning rate / (1 - beta1^steps)
  float root = 1;   // sqrt(1 - beta2^steps)
};

// All [count]; mean and square are the moments. Numbers too small to be normal become 0: weights
// that nothing uses any more shrink without end, and processors take a hundred cycles for each.
void adam(const AdamStep& step, int64_t count, const float* gradient, float* parameter, float* mean,
          float* square);

}  // namespace egc::kernels
