// egc eval: the score of a trained model on a part of a dataset.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/predict/model_argument.h"
#include "egc/app/evaluate.h"
#include "egc/app/find_dataset.h"
#include "egc/report/spell.h"

namespace egc::cli {

void add_eval(CLI::App& app, const CommonOptions& common) {
  struct Options {
    ModelArgument model;
    std::string dataset;
    std::string part = "test";
    int64_t batch = 0;
  };
  auto o = std::make_shared<Options>();
  CLI::App* c = app.add_subcommand("eval", "Evaluate a trained model on a dataset");
  add_model_argument(*c, o->model, /*may_be_several=*/true);
  c->add_option("dataset", o->dataset, "Known or generated dataset, or a dataset directory")
      ->required();
  c->add_option("--split", o->part, "Set to evaluate: train, valid or test")
      ->check(CLI::IsMember({"train", "valid", "test"}))
      ->capture_default_str();
  c->add_option("--batch", o->batch, "Batch size, in graphs (default: as in training)")
      ->check(CLI::Range(1, 1 << 20));
  c->footer("Example:\n  egc eval runs/zinc-egc-m zinc --split test");
  c->callback([o, &common] {
    const std::vector<std::string> models = find_models(o->model, common);
    const data::Dataset d = app::load_dataset(o->dataset, options_for_data(o->model, common));
    const app::EvalResult r = app::evaluate_model(models, d, o->part, o->batch);
    if (common.json)
      fmt::print("{}\n", nlohmann::ordered_json{{"metric", r.metric},
                                                {"split", o->part},
                                                {"value", r.value},
                                                {"items", r.items},
                                                {"dataset", d.info.name}}
                             .dump());
    else
      fmt::print("{} {} of {}: {} ({} labelled items)\n", o->part, r.metric, d.info.name,
                 report::spell_score(r.metric, r.value), r.items);
  });
}

}  // namespace egc::cli
