#include "egc/inference/batch_tensors.h"

namespace egc::inference {

BatchTensors to_tensors(data::GraphBatch batch) {
  const auto owner = std::make_shared<data::GraphBatch>(std::move(batch));
  BatchTensors out;
  out.input.graph = owner->graphs.graph;
  out.input.first_node = owner->graphs.first_node;
  out.ids = owner->ids;
  if (owner->is_categorical)
    out.input.categories = {owner->categories, owner->columns, owner};
  else
    out.input.x = Tensor::borrow(owner->floats.data(), owner->graphs.graph.num_targets(),
                                 owner->columns, owner);
  if (owner->encoding_columns > 0)
    out.input.encodings = Tensor::borrow(owner->encodings.data(), owner->graphs.graph.num_targets(),
                                         owner->encoding_columns, owner);
  out.targets = {owner->values, owner->classes, owner->label_columns, owner};
  return out;
}

}  // namespace egc::inference
