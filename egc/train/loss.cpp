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

bool has_values(Task task) { return task == Task::kGraphRegression || task == Task::kGraphBinary; }

// counts: [1].
at::Tensor mean_of_labelled(const at::Tensor& each, const at::Tensor& target,
                            const at::Tensor& counts) {
  const at::Tensor labelled = target.isnan().logical_not();
  const at::Tensor sum = fixed_sum(at::where(labelled, each, at::zeros({}, each.options())));
  return sum / std::max(1.0, counts.item<double>());
}

// Rarer classes weigh more: the share of the others.
at::Tensor class_weights(const at::Tensor& counts) {
  const double total = std::max(1.0, counts.sum().item<double>());  // whole numbers: exact
  return at::where(counts.gt(0), (total - counts) / total, at::zeros_like(counts));
}

// counts: [1] or, balanced, [classes].
at::Tensor negative_log_likelihood(const at::Tensor& log_probabilities, const at::Tensor& target,
                                   bool balanced, const at::Tensor& counts) {
  const at::Tensor weight =
      balanced ? class_weights(counts) : at::ones({log_probabilities.size(1)}, at::kDouble);
  const double weights = (balanced ? (weight * counts).sum() : counts).item<double>();
  const at::Tensor safe = target.clamp_min(0);
  const at::Tensor mine =
      weight.to(log_probabilities.scalar_type()).index_select(0, safe) * target.ge(0);
  const at::Tensor each = -log_probabilities.gather(1, safe.unsqueeze(1)).squeeze(1) * mine;
  return fixed_sum(each) / std::max(1e-12, weights);
}

}  // namespace

at::Tensor count_labels(Task task, const at::Tensor& output, const at::Tensor& target,
                        bool balanced) {
  if (has_values(task)) return target.isnan().logical_not().sum().to(at::kDouble).view({1});
  if (!balanced) return target.ge(0).sum().to(at::kDouble).view({1});
  return at::bincount(target.masked_select(target.ge(0)), {}, output.size(-1)).to(at::kDouble);
}

at::Tensor loss(Task task, const at::Tensor& output, const at::Tensor& target, bool balanced,
                const at::Tensor& counts_of_all) {
  const at::Tensor counts =
      counts_of_all.defined() ? counts_of_all : count_labels(task, output, target, balanced);
  switch (task) {
    case Task::kGraphRegression:
      return mean_of_labelled((output - target.nan_to_num(0)).abs(), target, counts);
    case Task::kGraphBinary:
      return mean_of_labelled(at::binary_cross_entropy_with_logits(output, target.nan_to_num(0), {},
                                                                   {}, at::Reduction::None),
                              target, counts);
    case Task::kGraphSequence: {  // the mean over positions, each the mean over graphs
      const at::Tensor flat = output.flatten(0, 1).log_softmax(1);
      return negative_log_likelihood(flat, target.flatten(), false, counts);
    }
    case Task::kGraphClassification:
      return negative_log_likelihood(output.log_softmax(1), target, balanced, counts);
    case Task::kNodeClassification:
    case Task::kNodeClassificationHetero:
      return negative_log_likelihood(output, target, balanced, counts);
  }
  fail(ErrorKind::kUsage, "loss: unknown task");
}

}  // namespace egc::train
