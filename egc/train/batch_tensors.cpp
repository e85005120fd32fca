#include "egc/train/batch_tensors.h"

#include <ATen/ATen.h>

namespace egc::train {
namespace {

template <class T>
at::Tensor borrow(const std::shared_ptr<data::GraphBatch>& owner, std::vector<T>& values,
                  at::IntArrayRef shape, at::ScalarType type) {
  if (values.empty()) return at::empty(shape, type);
  return at::from_blob(
      values.data(), shape, [owner](void*) {}, type);
}

}  // namespace

BatchTensors to_tensors(data::GraphBatch batch, Task task) {
  const auto owner = std::make_shared<data::GraphBatch>(std::move(batch));
  BatchTensors out;
  out.input.graph = owner->graphs.graph;
  out.input.first_node = owner->graphs.first_node;
  out.ids = owner->ids;
  const int64_t nodes = owner->graphs.graph.num_targets();
  if (owner->is_categorical)
    out.input.x = borrow(owner, owner->categories, {nodes, owner->columns}, at::kLong);
  else
    out.input.x = borrow(owner, owner->floats, {nodes, owner->columns}, at::kFloat);
  const auto graphs = static_cast<int64_t>(owner->ids.size());
  if (task == Task::kGraphSequence)
    out.target = borrow(owner, owner->classes, {graphs, owner->label_columns}, at::kLong);
  else if (owner->has_classes)
    out.target =
        borrow(owner, owner->classes, {static_cast<int64_t>(owner->classes.size())}, at::kLong);
  else
    out.target = borrow(owner, owner->values, {graphs, owner->label_columns}, at::kFloat);
  return out;
}

}  // namespace egc::train
