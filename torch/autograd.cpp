#include "egc/torch/autograd.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "egc/core/parallel.h"

namespace egc::torch {
namespace {

namespace ag = ::torch::autograd;

// One call with a gradient, from its forward pass to its backward pass. LibTorch guards it against
// two backward passes at a time.
class Pass : public ::torch::CustomClassHolder {
 public:
  Pass(std::string operation, Operator op, const std::vector<at::Tensor>& inputs)
      : operation_(std::move(operation)), op_(std::move(op)) {
    for (const at::Tensor& t : inputs) is_given_.push_back(t.defined());
  }

  const std::string& operation() const { return operation_; }
  bool is_recorded() const { return tape_.has_value(); }
  bool is_constant() const { return output_ == nullptr; }

  // given: the inputs that are defined.
  Tensor record(at::TensorList given) {
    inputs_.clear();
    for (const at::Tensor& t : given) {
      const Tensor input = borrow(operation_, t);
      inputs_.push_back(t.requires_grad() ? input.with_gradient() : input);
    }
    tape_.emplace(Tape::differentiation());
    std::vector<Tensor> all;
    auto next = inputs_.begin();
    for (const bool is_given : is_given_) all.push_back(is_given ? *next++ : Tensor());
    const Tensor out = op_(*tape_, all);
    output_ = out.gradient();
    return out.detached();
  }

  // The gradients of the inputs that are defined. What was recorded is gone afterwards.
  ag::variable_list backward(const at::Tensor& grad_output, at::TensorList given) {
    Tape tape = std::move(*tape_);
    tape_.reset();
    const std::vector<Tensor> inputs = std::exchange(inputs_, {});
    const std::shared_ptr<Gradient> output = std::exchange(output_, nullptr);
    const Tensor grad = borrow(operation_, grad_output);
    const bool passed_on = std::any_of(inputs.begin(), inputs.end(),
                                       [&](const Tensor& t) { return t.gradient() == output; });
    if (passed_on)
      output->add(grad);
    else
      tape.backward(output, grad);
    ag::variable_list grads(inputs.size());
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (inputs[k].gradient() == nullptr) continue;
      Tensor of_input = inputs[k].gradient()->take();
      if (!of_input.defined()) continue;
      // Sums of gradients share their terms; LibTorch may write to what it is given.
      if (!of_input.is_sole_owner()) of_input = of_input.clone();
      grads[k] = to_torch(of_input).view(given[k].sizes());
    }
    return grads;
  }

 private:
  std::string operation_;
  Operator op_;
  std::vector<bool> is_given_;
  std::vector<Tensor> inputs_;
  std::optional<Tape> tape_;
  std::shared_ptr<Gradient> output_;  // null: the output depends on no input with a gradient
};

// Shared with nobody: LibTorch may write to what it is given.
at::Tensor finished(Tensor out) {
  if (!out.is_sole_owner()) out = out.clone();
  return to_torch(out);
}

struct Recorded : ag::Function<Recorded> {
  static at::Tensor forward(ag::AutogradContext* context, at::TensorList inputs,
                            const c10::intrusive_ptr<Pass>& pass) {
    const at::Tensor out = finished(pass->record(inputs));
    // The tape has what it needs; these notice writes to the inputs until the backward pass.
    context->save_for_backward(inputs.vec());
    context->saved_data["pass"] = c10::IValue::make_capsule(pass);
    if (pass->is_constant()) context->mark_non_differentiable({out});
    return out;
  }

  static ag::variable_list backward(ag::AutogradContext* context,
                                    const ag::variable_list& grad_outputs) {
    const auto pass =
        c10::static_intrusive_pointer_cast<Pass>(context->saved_data["pass"].toCapsule());
    check(!at::GradMode::is_enabled(),
          "{}: second derivatives are not implemented; call backward without create_graph",
          pass->operation());
    const ag::variable_list inputs = context->get_saved_variables();
    if (!pass->is_recorded()) pass->record(inputs);
    ag::variable_list grads = pass->backward(grad_outputs[0], inputs);
    grads.emplace_back();  // of the pass
    return grads;
  }
};

// LibTorch's number of threads is everybody's.
void follow_number_of_threads() {
  static std::atomic<int> last{0};
  const int now = at::get_num_threads();
  if (last.exchange(now) != now) set_num_threads(now);
}

}  // namespace

std::string describe(const at::Tensor& t) {
  return fmt::format("[{}] {}", fmt::join(t.sizes(), ", "), c10::toString(t.scalar_type()));
}

Tensor borrow(const std::string& operation, const at::Tensor& t) {
  const at::ScalarType type = t.scalar_type();
  check(t.layout() == at::kStrided && t.is_cpu() && t.has_storage() &&
            (type == at::kFloat || type == at::kDouble),
        "{}: expected a dense tensor of float32 or float64 in the CPU's memory, got {} on {}",
        operation, describe(t), t.device().str());
  const auto owner = std::make_shared<at::Tensor>(t.detach().resolve_neg().contiguous());
  const int64_t columns = t.dim() == 0 ? 1 : t.size(-1);
  int64_t rows = 1;
  for (int64_t k = 0; k + 1 < t.dim(); ++k) rows *= t.size(k);
  return type == at::kDouble ? Tensor::borrow(owner->data_ptr<double>(), rows, columns, owner)
                             : Tensor::borrow(owner->data_ptr<float>(), rows, columns, owner);
}

at::Tensor to_torch(const Tensor& t) {
  const auto options = at::dtype(t.dtype() == DType::kF64 ? at::kDouble : at::kFloat);
  if (t.size() == 0) return at::empty({t.rows(), t.columns()}, options);
  return at::from_blob(
      t.raw(), {t.rows(), t.columns()}, [kept = t.detached()](void*) {}, options);
}

at::Tensor run(const std::string& operation, const Operator& op,
               const std::vector<at::Tensor>& inputs) {
  follow_number_of_threads();
  std::vector<at::Tensor> given;
  for (const at::Tensor& t : inputs)
    if (t.defined()) given.push_back(t);
  for (const at::Tensor& t : given)  // tangents would be dropped without a word
    check(!t._fw_grad(/*level=*/0).defined(), "{}: forward-mode differentiation is not supported",
          operation);
  const bool wants_gradient = at::GradMode::is_enabled() &&
                              std::any_of(given.begin(), given.end(),
                                          [](const at::Tensor& t) { return t.requires_grad(); });
  if (wants_gradient)
    return Recorded::apply(at::TensorList(given), c10::make_intrusive<Pass>(operation, op, inputs));
  std::vector<Tensor> borrowed;
  for (const at::Tensor& t : inputs)
    borrowed.push_back(t.defined() ? borrow(operation, t) : Tensor());
  Tape tape = Tape::inference();
  return finished(op(tape, borrowed));
}

}  // namespace egc::torch
