#include <nlohmann/json.hpp>

#include "egc/app/find_models.h"
#include "egc/c_api/call.h"
#include "egc/c_api/dataset.h"
#include "egc/inference/model.h"
#include "egc/models/network.h"

struct egc_model {  // NOLINT: its name is of the C interface
  egc::inference::Model model;
  std::string info;  // JSON
};

struct egc_predictions {  // NOLINT
  egc::inference::PredictionTable table;
  std::string words;  // JSON
};

namespace egc::c_api {
namespace {

using Json = nlohmann::ordered_json;

inference::Model load(const std::string& name, bool ensemble) {
  const std::vector<std::string> files = app::find_models(name, ensemble);
  return inference::Model::load_ensemble({files.begin(), files.end()});
}

std::string info_of(inference::Model& model) {
  const auto note = [&](const char* key) {
    const auto it = model.notes().find(key);
    return it == model.notes().end() ? Json() : Json::parse(it->second, nullptr, false);
  };
  return Json{{"model", model.config().model},
              {"parameters", model.network().num_parameters()},
              {"config", Json::parse(models::to_json(model.config()))},
              {"metrics", note("metrics")},
              {"dataset", Json::parse(data::to_json(model.trained_on()))}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace
}  // namespace egc::c_api

using egc::c_api::call;
using egc::c_api::given;

egc_status egc_model_load(const char* name, int ensemble, egc_model** model) {
  return call([&] {
    auto& out = given(model, "egc_model_load", "model");
    out = nullptr;
    egc::inference::Model loaded =
        egc::c_api::load(&given(name, "egc_model_load", "name"), ensemble != 0);
    std::string info = egc::c_api::info_of(loaded);
    out = new egc_model{std::move(loaded), std::move(info)};
  });
}

void egc_model_free(egc_model* model) { delete model; }
const char* egc_model_info(const egc_model* model) { return model->info.c_str(); }

egc_status egc_model_predict(egc_model* model, const egc_dataset* dataset, int64_t batch,
                             egc_predictions** predictions) {
  return call([&] {
    constexpr const char* kName = "egc_model_predict";
    auto& out = given(predictions, kName, "predictions");
    out = nullptr;
    egc::check(batch >= 0, "{}: batch must be at least 1, got {}", kName, batch);
    auto made = std::make_unique<egc_predictions>();
    made->table =
        given(model, kName, "model")
            .model.predict(given(dataset, kName, "dataset").data, batch == 0 ? 256 : batch);
    if (!made->table.words.empty())
      made->words = egc::c_api::Json(made->table.words)
                        .dump(-1, ' ', false, egc::c_api::Json::error_handler_t::replace);
    out = made.release();
  });
}

void egc_predictions_free(egc_predictions* predictions) { delete predictions; }

const float* egc_predictions_values(const egc_predictions* predictions, int64_t* rows,
                                    int64_t* columns) {
  const auto& table = predictions->table;
  *rows = table.rows;
  *columns = table.columns;
  return table.words.empty() ? table.values.data() : nullptr;
}

const int64_t* egc_predictions_classes(const egc_predictions* predictions) {
  const auto& classes = predictions->table.classes;
  return classes.empty() ? nullptr : classes.data();
}

const char* egc_predictions_words(const egc_predictions* predictions) {
  return predictions->words.empty() ? nullptr : predictions->words.c_str();
}
