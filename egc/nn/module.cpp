#include "egc/nn/module.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "egc/core/error.h"

namespace egc::nn {
namespace {

constexpr int64_t kNoBudget = -1;
thread_local int64_t budget = kNoBudget;

void take_from_budget(const std::vector<int64_t>& shape) {
  int64_t elements = 1;
  bool fits = true;
  for (const int64_t extent : shape)
    fits = fits && extent >= 0 && !__builtin_mul_overflow(elements, extent, &elements);
  check(fits || budget != kNoBudget, "a parameter cannot be {}", spell_shape(shape));
  if (budget == kNoBudget) return;
  if (!fits || elements > budget)
    fail(ErrorKind::kModel,
         "the configuration needs a parameter of shape {}, beyond the limit of {} remaining values",
         spell_shape(shape), budget);
  budget -= elements;
}

Tensor new_values(const std::vector<int64_t>& shape) {
  take_from_budget(shape);
  int64_t rows = 1;
  for (size_t d = 0; d + 1 < shape.size(); ++d) rows *= shape[d];
  return Tensor::empty(rows, shape.empty() ? 1 : shape.back(), DType::kF32);
}

// "the tensors "a", "b" are missing; the network has no tensor "c""
std::string spell_differences(const std::vector<std::string>& unknown,
                              const std::vector<std::string>& missing) {
  const auto plural = [](const auto& names) { return names.size() > 1 ? "s" : ""; };
  std::string out;
  if (!missing.empty())
    out = fmt::format("the tensor{} \"{}\" {} missing", plural(missing),
                      fmt::join(missing, "\", \""), missing.size() > 1 ? "are" : "is");
  if (!unknown.empty())
    out += fmt::format("{}the network has no tensor{} \"{}\"", out.empty() ? "" : "; ",
                       plural(unknown), fmt::join(unknown, "\", \""));
  return out;
}

// Of each value, without it.
using Shapes = std::map<std::string, std::vector<int64_t>>;

void check_names(const Shapes& own, const State& state, const std::string& where) {
  std::vector<std::string> unknown;
  std::vector<std::string> missing;
  for (const auto& [name, array] : state)
    if (!own.contains(name)) unknown.push_back(name);
  for (const auto& [name, shape] : own)
    if (!state.contains(name)) missing.push_back(name);
  if (!unknown.empty() || !missing.empty())
    fail(ErrorKind::kModel, "{}: {}", where, spell_differences(unknown, missing));
}

void check_shapes(const Shapes& own, const State& state, const std::string& where) {
  for (const auto& [name, shape] : own) {
    const NdArray& given = state.at(name);
    // A single value may come as [1] or as [].
    const bool is_single =
        std::all_of(shape.begin(), shape.end(), [](int64_t extent) { return extent == 1; });
    if (given.shape() != shape && !(given.numel() == 1 && is_single))
      fail(ErrorKind::kModel, "{}: \"{}\" must be {}, got {}", where, name, spell_shape(shape),
           spell_shape(given.shape()));
  }
}

}  // namespace

void Module::reset_parameters(Rng& rng) {
  for (const auto& [name, child] : children_) child->reset_parameters(rng);
}

std::vector<Module::Named> Module::named_parameters() const {
  std::vector<Named> out;
  visit("", [&](const std::string& prefix, const Module& m) {
    for (const auto& [name, p] : m.parameters_) out.emplace_back(prefix + name, p);
  });
  return out;
}

std::vector<ParameterPtr> Module::parameters() const {
  std::vector<ParameterPtr> out;
  for (auto& [name, p] : named_parameters()) out.push_back(p);
  return out;
}

int64_t Module::num_parameters() const {
  int64_t count = 0;
  for (const ParameterPtr& p : parameters()) count += p->value.size();
  return count;
}

State Module::state() const {
  State out;
  visit("", [&](const std::string& prefix, const Module& m) {
    for (const auto* list : {&m.parameters_, &m.buffers_})
      for (const auto& [name, p] : *list) out[prefix + name] = NdArray(p->shape, p->value);
    for (const auto& [name, counter] : m.counters_)
      out[prefix + name] = NdArray({}, std::span<const int64_t>(counter.get(), 1));
  });
  return out;
}

void Module::load_state(const State& state, const std::string& where) {
  Shapes own;
  visit("", [&](const std::string& prefix, const Module& m) {
    for (const auto* list : {&m.parameters_, &m.buffers_})
      for (const auto& [name, p] : *list) own[prefix + name] = p->shape;
    for (const auto& [name, counter] : m.counters_) own[prefix + name] = {};
  });
  check_names(own, state, where);
  check_shapes(own, state, where);
  visit("", [&](const std::string& prefix, const Module& m) {
    for (const auto* list : {&m.parameters_, &m.buffers_})
      for (const auto& [name, p] : *list) {
        const Tensor values = state.at(prefix + name).to_tensor(p->value.dtype());
        p->value.copy_from(values.reshaped(p->value.rows(), p->value.columns()));
      }
    for (const auto& [name, counter] : m.counters_)
      *counter = state.at(prefix + name).to(DType::kI64).values<int64_t>()[0];
  });
}

void Module::copy_values(const Module& from) {
  std::vector<const Module*> sources;
  from.visit("", [&](const std::string&, const Module& m) { sources.push_back(&m); });
  size_t next = 0;
  visit("", [&](const std::string&, const Module& m) {
    const Module& source = *sources.at(next++);
    for (const auto list : {&Module::parameters_, &Module::buffers_})
      for (size_t k = 0; k < (m.*list).size(); ++k)
        (m.*list)[k].second->value.copy_from((source.*list).at(k).second->value);
    for (size_t k = 0; k < m.counters_.size(); ++k)
      *m.counters_[k].second = *source.counters_.at(k).second;
  });
}

DType Module::dtype() const {
  const auto all = parameters();
  return all.empty() ? DType::kF32 : all[0]->value.dtype();
}

void Module::to(DType type) {
  visit("", [&](const std::string&, const Module& m) {
    for (const auto& [name, p] : m.parameters_) p->value = p->value.to(type).with_gradient();
    for (const auto& [name, p] : m.buffers_) p->value = p->value.to(type);
  });
}

void Module::clear_gradients() {
  for (const ParameterPtr& p : parameters()) p->value.gradient()->take();
}

ParameterPtr Module::add_parameter(std::string name, std::vector<int64_t> shape) {
  const Tensor value = new_values(shape).with_gradient();
  auto p = std::make_shared<Parameter>(Parameter{std::move(shape), value});
  parameters_.emplace_back(std::move(name), p);
  return p;
}

ParameterPtr Module::add_buffer(std::string name, std::vector<int64_t> shape) {
  const Tensor value = new_values(shape);
  auto p = std::make_shared<Parameter>(Parameter{std::move(shape), value});
  buffers_.emplace_back(std::move(name), p);
  return p;
}

std::shared_ptr<int64_t> Module::add_counter(std::string name) {
  auto counter = std::make_shared<int64_t>(0);
  counters_.emplace_back(std::move(name), counter);
  return counter;
}

void uniform(const Tensor& t, double bound, Rng& rng) {
  with_type(t.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* to = t.data<T>();
    for (int64_t k = 0; k < t.size(); ++k)
      to[k] = static_cast<T>(bound * (2 * static_cast<double>(rng.uniform()) - 1));
  });
}

void glorot_uniform(const Tensor& t, int64_t fan_in, int64_t fan_out, Rng& rng) {
  uniform(t, std::sqrt(6.0 / static_cast<double>(fan_in + fan_out)), rng);
}

void normal(const Tensor& t, Rng& rng) {
  with_type(t.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t k = 0; k < t.size(); ++k) {
      // Box and Muller; 1 - uniform is never 0.
      const double radius = std::sqrt(-2 * std::log(1 - static_cast<double>(rng.uniform())));
      t.data<T>()[k] = static_cast<T>(
          radius * std::cos(2 * std::numbers::pi * static_cast<double>(rng.uniform())));
    }
  });
}

ParameterBudget::ParameterBudget(int64_t elements) { budget = elements; }
ParameterBudget::~ParameterBudget() { budget = kNoBudget; }

}  // namespace egc::nn
