// egc info: what is in a model file, or what a configuration would make.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/predict/model_argument.h"
#include "egc/app/model_facts.h"
#include "egc/core/error.h"
#include "egc/core/json_parse.h"

namespace egc::cli {

namespace {

using Json = nlohmann::ordered_json;

// What implementations of EGC differ in.
Json layer_facts(const std::string& model, const Json& config) {
  if (!model.starts_with("egc")) return Json::object();
  return {{"self_loops", config.value("self_loops", "all")},
          {"weight_order", "head, aggregator, basis"},
          {"std", "sqrt(var + 1e-5)"}};
}

}  // namespace

void add_info(CLI::App& app, const CommonOptions& common) {
  struct Options {
    std::string model;
    std::string config;
  };
  auto o = std::make_shared<Options>();
  CLI::App* c = app.add_subcommand("info", "Show what a model, a run or a configuration contains");
  c->add_option("model", o->model,
                "Run, model file, name of a shipped model, or configuration (.json)");
  c->add_option("--config", o->config, "Configuration file, whatever its extension");
  c->footer("Example:\n  egc info runs/zinc-egc-m\n  egc info configs/zinc/egc-m.json");
  c->callback([o, &common] {
    check(o->model.empty() != o->config.empty(), "egc info takes either a model or --config");
    const bool is_config = o->model.empty() || (o->model.ends_with(".json") &&
                                                !std::filesystem::is_directory(o->model));
    const std::string path = is_config
                                 ? (o->model.empty() ? o->config : o->model)
                                 : find_models(ModelArgument{.name = o->model}, common).front();
    const app::ModelFacts facts = is_config ? app::config_facts(path) : app::model_facts(path);
    const auto part = [&](const std::string& text) {
      return text.empty() ? Json(Json::object())
                          : parse_json<Json>(text, path + ": metadata", ErrorKind::kModel);
    };
    const Json config = part(facts.config_json);
    const Json metrics = part(facts.metrics_json);
    const Json dataset = part(facts.dataset_json);
    const Json layer = layer_facts(facts.model, config);
    if (common.json) {
      fmt::print("{}\n", Json{{"model", facts.model},
                              {"parameters", facts.parameters},
                              {"config", config},
                              {"layer", layer},
                              {"metrics", metrics},
                              {"dataset", dataset}}
                             .dump());
      return;
    }
    fmt::print("{}, {} parameters\n", facts.model, facts.parameters);
    const auto show = [](const char* title, const Json& json) {
      if (json.empty()) return;
      fmt::print("{}\n", title);
      for (const auto& [key, value] : json.items()) fmt::print("  {:<16} {}\n", key, value.dump());
    };
    show("configuration", config);
    show("layer", layer);
    show("trained on", dataset);
    show("scores", metrics);
  });
}

}  // namespace egc::cli
