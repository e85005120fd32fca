#include "egc/app/evaluate.h"

#include "egc/core/error.h"
#include "egc/inference/model.h"
#include "egc/train/evaluate.h"
#include "egc/train/run_config.h"

namespace egc::app {

EvalResult evaluate_model(const std::vector<std::string>& models, const data::Dataset& dataset,
                          const std::string& part, int64_t batch) {
  auto model = inference::Model::load_ensemble({models.begin(), models.end()});
  const auto& classes = model.trained_on().class_names;
  check_data(
      classes.empty() || dataset.info.class_names.empty() || classes == dataset.info.class_names,
      "{} has the classes {}, but the model was trained on {}", dataset.info.name,
      fmt::join(dataset.info.class_names, ", "), fmt::join(classes, ", "));
  const train::TrainConfig trained = train::training_of(model.notes());
  const train::TaskData data(model.prepare(dataset), trained.split, model.vocabulary());
  const auto predictions = train::predict_part(model.network(), data, train::parts().at(part),
                                               batch > 0 ? batch : trained.batch);
  check_data(predictions.size() > 0, "{}: no item of its {} set has a label", dataset.info.name,
             part);
  return {std::string(data::metrics().name_of(dataset.info.metric)), predictions.score(),
          predictions.size()};
}

}  // namespace egc::app
