#include "cli/predict/model_argument.h"

#include <filesystem>

#include "egc/app/find_models.h"

namespace egc::cli {

namespace fs = std::filesystem;

void add_model_argument(CLI::App& c, ModelArgument& argument, bool may_be_several) {
  c.add_option("model", argument.name,
               "Run, model file or name of a shipped model; of a run with several seeds, the best "
               "on the validation set or that of --seed")
      ->required();
  if (may_be_several)
    c.add_flag("--ensemble", argument.ensemble, "Average the predictions of all seeds of the run");
}

CommonOptions options_for_data(const ModelArgument& argument, const CommonOptions& common) {
  std::error_code ignored;
  const bool chosen = common.seed_given && fs::is_directory(argument.name, ignored) &&
                      !fs::exists(fs::path(argument.name) / "config.json", ignored);
  CommonOptions out = common;
  if (chosen) out.seed = 0;
  return out;
}

std::vector<std::string> find_models(const ModelArgument& argument, const CommonOptions& common) {
  return app::find_models(argument.name, argument.ensemble,
                          common.seed_given ? std::optional(common.seed) : std::nullopt);
}

}  // namespace egc::cli
