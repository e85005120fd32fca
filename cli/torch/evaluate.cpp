#include "egc/train/evaluate.h"

#include "cli/torch/module.h"
#include "egc/core/error.h"
#include "egc/train/predictor.h"

namespace egc::cli {

EvalResult evaluate_model(const std::string& model, const data::Dataset& dataset,
                          const std::string& part, int64_t batch) {
  train::Predictor predictor(model);
  predictor.check_input(dataset);
  const train::TrainConfig trained = predictor.training();
  const train::TaskData data(dataset, trained.split, predictor.vocabulary());
  const auto predictions = train::predict_part(predictor.network(), data, train::parts().at(part),
                                               batch > 0 ? batch : trained.batch);
  check_data(predictions.size() > 0, "{}: nothing in the {} part has a label", dataset.info.name,
             part);
  return {std::string(data::metrics().name_of(dataset.info.metric)), predictions.score(),
          predictions.size()};
}

}  // namespace egc::cli
