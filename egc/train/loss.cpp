#include "egc/train/loss.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "egc/core/error.h"

namespace egc::train {
namespace {

// The sum of all in one fixed order, in double: ATen's own changes its bits with the number of
// threads.
class FixedSum : public torch::autograd::Function<FixedSum> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x) {
    context->saved_data["sizes"] = x.sizes();
    const at::Tensor values = x.to(at::kDouble).contiguous();
    double sum = 0;
    for (const double v : c10::ArrayRef<double>(values.data_ptr<double>(), values.numel()))
      sum += v;
    return at::full({}, sum, x.options());
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradient) {
    return {gradient[0].expand(context->saved_data["sizes"].toIntVector())};
  }
};

at::Tensor fixed_sum(const at::Tensor& x) { return FixedSum::apply(x); }

at::Tensor mean_of_labelled(const at::Tensor& each, const at::Tensor& labelled) {
  const at::Tensor count = labelled.sum().clamp_min(1);  // whole numbers: any order is exact
  return fixed_sum(at::where(labelled, each, at::zeros({}, each.options()))) / count;
}

// Rarer classes weigh more: the share of the others.
at::Tensor class_weights(const at::Tensor& target, int64_t classes) {
  const at::Tensor labelled = target.masked_select(target.ge(0));
  const at::Tensor counts = at::bincount(labelled, {}, classes).to(at::kFloat);
  const auto total = static_cast<double>(std::max<int64_t>(1, labelled.numel()));
  return at::where(counts.gt(0), (total - counts) / total, at::zeros_like(counts));
}

at::Tensor negative_log_likelihood(const at::Tensor& log_probabilities, const at::Tensor& target,
                                   bool balanced) {
  const int64_t classes = log_probabilities.size(1);
  const at::Tensor weight =
      balanced ? class_weights(target, classes) : at::ones({classes}, log_probabilities.options());
  const at::Tensor labelled = target.ge(0);
  const at::Tensor safe = target.clamp_min(0);
  const at::Tensor weights = weight.index_select(0, safe) * labelled;
  const at::Tensor each = -log_probabilities.gather(1, safe.unsqueeze(1)).squeeze(1) * weights;
  return fixed_sum(each) / fixed_sum(weights).clamp_min(1e-12);
}

}  // namespace

at::Tensor loss(Task task, const at::Tensor& output, const at::Tensor& target, bool balanced) {
  switch (task) {
    case Task::kGraphRegression: {
      const at::Tensor labelled = target.isnan().logical_not();
      return mean_of_labelled((output - target.nan_to_num(0)).abs(), labelled);
    }
    case Task::kGraphBinary: {
      const at::Tensor labelled = target.isnan().logical_not();
      const at::Tensor each = at::binary_cross_entropy_with_logits(output, target.nan_to_num(0), {},
                                                                   {}, at::Reduction::None);
      return mean_of_labelled(each, labelled);
    }
    case Task::kGraphSequence: {  // the mean over positions, each the mean over graphs
      const at::Tensor flat = output.flatten(0, 1).log_softmax(1);
      return negative_log_likelihood(flat, target.flatten(), false);
    }
    case Task::kGraphClassification:
      return negative_log_likelihood(output.log_softmax(1), target, balanced);
    case Task::kNodeClassification:
    case Task::kNodeClassificationHetero:
      return negative_log_likelihood(output, target, balanced);
  }
  fail(ErrorKind::kUsage, "loss: unknown task");
}

}  // namespace egc::train
