#include "egc/app/evaluate.h"

#include "egc/core/error.h"
#include "egc/train/evaluate.h"
#include "egc/train/predictor.h"

namespace egc::app {

EvalResult evaluate_model(const std::vector<std::string>& models, const data::Dataset& dataset,
                          const std::string& part, int64_t batch) {
  train::Predictor predictor(std::vector<std::filesystem::path>(models.begin(), models.end()));
  const auto& classes = predictor.trained_on().class_names;
  check_data(
      classes.empty() || dataset.info.class_names.empty() || classes == dataset.info.class_names,
      "{} has the classes {}, the network was trained on {}", dataset.info.name,
      fmt::join(dataset.info.class_names, ", "), fmt::join(classes, ", "));
  const train::TrainConfig trained = predictor.training();
  const train::TaskData data(predictor.prepare(dataset), trained.split, predictor.vocabulary());
  const auto predictions = train::predict_part(predictor.network(), data, train::parts().at(part),
                                               batch > 0 ? batch : trained.batch);
  check_data(predictions.size() > 0, "{}: nothing in the {} part has a label", dataset.info.name,
             part);
  return {std::string(data::metrics().name_of(dataset.info.metric)), predictions.score(),
          predictions.size()};
}

}  // namespace egc::app
