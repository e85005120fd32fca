// What layers and networks are made of: parameters, buffers and other modules, by name.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "egc/core/rng.h"
#include "egc/tensor/nd_array.h"
#include "egc/tensor/tape.h"

namespace egc::nn {

// A tensor that is trained, or a buffer that is only kept (running statistics).
struct Parameter {
  std::vector<int64_t> shape;  // in files; the value is a matrix whose columns are the last extent
  Tensor value;

  // The gradient of the last backward pass, undefined where there is none.
  const Tensor& grad() const { return value.gradient()->value(); }
};
using ParameterPtr = std::shared_ptr<Parameter>;

class Module {
 public:
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Draws the values from before training, of everything below.
  virtual void reset_parameters(Rng& rng);

  using Named = std::pair<std::string, ParameterPtr>;
  // Own ones first, then those of the modules, with dots between the names.
  std::vector<Named> named_parameters() const;
  std::vector<ParameterPtr> parameters() const;
  int64_t num_parameters() const;

  // All modules of a kind, this one included.
  template <class M>
  std::vector<M*> modules();

  // Parameters, buffers and counters, copied.
  State state() const;
  // Every one must be there, with its shape, and nothing else; all is checked before anything is
  // changed. Types are converted.
  // Those of a module of the same structure.
  void copy_values(const Module& from);
  void load_state(const State& state, const std::string& where);

  DType dtype() const;
  // Converts parameters and buffers: float32 or float64.
  void to(DType type);
  void clear_gradients();

 protected:
  Module() = default;

  // Uninitialised, within the budget where one is set (parameter_budget.h).
  ParameterPtr add_parameter(std::string name, std::vector<int64_t> shape);
  ParameterPtr add_buffer(std::string name, std::vector<int64_t> shape);
  std::shared_ptr<int64_t> add_counter(std::string name);
  template <class M>
  std::shared_ptr<M> add_module(std::string name, std::shared_ptr<M> module) {
    children_.emplace_back(std::move(name), module);
    return module;
  }

 private:
  template <class F>
  void visit(const std::string& prefix, const F& f) const;

  std::vector<Named> parameters_;
  std::vector<Named> buffers_;
  std::vector<std::pair<std::string, std::shared_ptr<int64_t>>> counters_;
  std::vector<std::pair<std::string, std::shared_ptr<Module>>> children_;
};

template <class M>
std::vector<M*> Module::modules() {
  std::vector<M*> out;
  visit("", [&](const std::string&, const Module& module) {
    if (auto* found = dynamic_cast<M*>(const_cast<Module*>(&module))) out.push_back(found);
  });
  return out;
}

template <class F>
void Module::visit(const std::string& prefix, const F& f) const {
  f(prefix, *this);
  for (const auto& [name, child] : children_) child->visit(prefix + name + ".", f);
}

// Glorot's uniform initialisation of [rows, columns]; Linear's of a layer with `in` inputs.
void glorot_uniform(const Tensor& t, int64_t fan_in, int64_t fan_out, Rng& rng);
inline void glorot_uniform(const Tensor& t, Rng& rng) {
  glorot_uniform(t, t.columns(), t.rows(), rng);
}
void uniform(const Tensor& t, double bound, Rng& rng);
void normal(const Tensor& t, Rng& rng);

// While it lives, modules made by this thread throw ErrorKind::kModel beyond `elements` parameters
// in all: a model file's configuration must not make us allocate more than the file has.
class ParameterBudget {
 public:
  explicit ParameterBudget(int64_t elements);
  ~ParameterBudget();
  ParameterBudget(const ParameterBudget&) = delete;
  ParameterBudget& operator=(const ParameterBudget&) = delete;
};

}  // namespace egc::nn
