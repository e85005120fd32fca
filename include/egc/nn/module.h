// Modules: layers and networks with named parameters, as in torch.nn.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "egc/core/rng.h"
#include "egc/tensor/nd_array.h"
#include "egc/tensor/tape.h"

namespace egc::nn {

// A trained parameter, or a buffer that is only stored (running statistics).
struct Parameter {
  std::vector<int64_t> shape;  // in files; `value` has the last extent as its columns
  Tensor value;                // the values; a leaf with a gradient, unless it is a buffer

  // The gradient of the last backward pass; undefined if there is none.
  const Tensor& grad() const { return value.gradient()->value(); }
};
using ParameterPtr = std::shared_ptr<Parameter>;  // shared by modules and optimizers

// Base class of layers and networks: parameters, buffers and submodules by name.
class Module {
 public:
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Initializes the parameters of the module and its submodules.
  virtual void reset_parameters(Rng& rng);

  // A name with dots ("conv.bias") and its parameter.
  using Named = std::pair<std::string, ParameterPtr>;
  // The module's parameters, then those of its submodules.
  std::vector<Named> named_parameters() const;
  std::vector<ParameterPtr> parameters() const;  // in the same order
  int64_t num_parameters() const;                // number of trained values

  // All modules of type M, this one included.
  template <class M>
  std::vector<M*> modules();

  // Parameters, buffers and counters, copied: the state_dict.
  State state() const;
  // Copies the values of a module with the same structure.
  void copy_values(const Module& from);
  // Loads a state: names and shapes must match exactly, types are converted. Throws kModel, naming
  // `where`, before anything is changed.
  void load_state(const State& state, const std::string& where);

  DType dtype() const;     // of the parameters
  void to(DType type);     // converts parameters and buffers to float32 or float64
  void clear_gradients();  // as zero_grad(): all gradients become undefined

 protected:
  Module() = default;  // for derived classes

  // Registers an uninitialized parameter; throws where a ParameterBudget is exceeded.
  ParameterPtr add_parameter(std::string name, std::vector<int64_t> shape);
  ParameterPtr add_buffer(std::string name, std::vector<int64_t> shape);  // registers a buffer
  // Registers a number that is stored with the state.
  std::shared_ptr<int64_t> add_counter(std::string name);
  // Registers a submodule and returns it.
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

// Glorot's (Xavier's) uniform initialization.
void glorot_uniform(const Tensor& t, int64_t fan_in, int64_t fan_out, Rng& rng);
// As above for a weight [out, in].
inline void glorot_uniform(const Tensor& t, Rng& rng) {
  glorot_uniform(t, t.columns(), t.rows(), rng);
}
void uniform(const Tensor& t, double bound, Rng& rng);  // uniform in [-bound, bound)
void normal(const Tensor& t, Rng& rng);                 // standard normal

// While it exists, modules that this thread makes throw kModel beyond `elements` parameters in
// total: the configuration in a damaged model file cannot allocate more memory than the file has
// values.
class ParameterBudget {
 public:
  // Sets the budget of this thread.
  explicit ParameterBudget(int64_t elements);
  ~ParameterBudget();  // removes it
  ParameterBudget(const ParameterBudget&) = delete;
  ParameterBudget& operator=(const ParameterBudget&) = delete;
};

}  // namespace egc::nn
