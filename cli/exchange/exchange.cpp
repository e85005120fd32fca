// egc import and egc export: models from and for other implementations.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/predict/model_argument.h"
#include "egc/app/convert.h"
#include "egc/app/find_dataset.h"
#include "egc/core/error.h"
#include "egc/core/named_table.h"

namespace egc::cli {
namespace {

using app::ExportForm;

const NamedTable<ExportForm>& forms() {
  static const NamedTable<ExportForm> table("form", {{"model", ExportForm::kModel},
                                                     {"pyg", ExportForm::kPyg},
                                                     {"authors", ExportForm::kAuthors},
                                                     {"onnx", ExportForm::kOnnx}});
  return table;
}

}  // namespace

void add_import(CLI::App& app, const CommonOptions& common) {
  struct Options : app::ImportOptions {
    std::string from;
    std::string dataset;
  };
  auto o = std::make_shared<Options>();
  CLI::App* c = app.add_subcommand(
      "import", "Makes a model file from a checkpoint of Python; nothing in it is executed");
  c->add_option("checkpoint", o->checkpoint,
                "A file of torch.save: a state dictionary, or the authors' checkpoint.pt")
      ->required();
  c->add_option("--from", o->from, "authors or pyg: whose layers it has")
      ->required()
      ->check(CLI::IsMember({"authors", "pyg"}));
  c->add_option("--out", o->out, "The model file to write")->required();
  c->add_option("--config", o->config, "The network, as in configs/ (default: as the shapes tell)");
  c->add_option("--dataset", o->dataset,
                "What it was trained on, a name or a directory: predictions need its features");
  c->add_option("--model", o->model, "mpnn-sum or mpnn-max, which shapes do not tell apart");
  c->add_option("--task", o->task, "Where encoder and head do not tell it");
  c->add_option("--heads", o->heads, "Of EGC in PyTorch Geometric's form")
      ->check(CLI::Range(1, 1 << 20));
  c->add_option("--aggregators", o->aggregators, "Of EGC with several, in the order it was given")
      ->delimiter(',');
  c->add_option("--self-loops", o->self_loops,
                "all, symnorm or none (default: symnorm for authors, all for pyg)");
  c->add_option("--activation", o->activation, "Of EGC's weights (default: identity)");
  c->footer(
      "Example:\n  egc import checkpoint.pt --from authors --config configs/zinc/egc-m.json "
      "--dataset zinc --out zinc.safetensors");
  c->callback([o, c, &common] {
    for (const char* name :
         {"--model", "--task", "--heads", "--aggregators", "--self-loops", "--activation"})
      check(o->config.empty() || c->get_option(name)->count() == 0,
            "--config tells everything of the network; {} cannot change it", name);
    o->from_authors = o->from == "authors";
    std::optional<data::Dataset> dataset;
    if (!o->dataset.empty()) dataset = app::load_dataset(o->dataset, common);
    if (!o->self_loops) o->self_loops = o->from_authors ? "symnorm" : "all";
    const app::ModelFacts facts = app::import_model(*o, dataset ? &*dataset : nullptr);
    if (common.json)
      fmt::print("{}\n",
                 nlohmann::ordered_json{
                     {"model", facts.model}, {"parameters", facts.parameters}, {"out", o->out}}
                     .dump());
    else
      fmt::print("{}: {}, {} parameters\n", o->out, facts.model, facts.parameters);
  });
}

void add_export(CLI::App& app, const CommonOptions& common) {
  struct Options : app::ExportOptions {
    ModelArgument from;
    std::string form_name = "pyg";
    bool onnx = false;
  };
  auto o = std::make_shared<Options>();
  CLI::App* c = app.add_subcommand("export", "Writes a model for other implementations");
  add_model_argument(*c, o->from, /*may_be_several=*/false);
  c->add_option("--out", o->out, "The file to write")->required();
  c->add_option("--to", o->form_name,
                "pyg: a state dictionary (safetensors) whose layers have PyTorch Geometric's names "
                "and orders; authors: the authors' release; onnx; model: our own form")
      ->check(CLI::IsMember({"pyg", "authors", "onnx", "model"}))
      ->capture_default_str();
  c->add_flag("--onnx", o->onnx, "The same as --to onnx");
  c->add_flag("--half", o->half, "With --to model: matrices in half precision, half the size");
  c->footer(
      "Example:\n  egc export runs/zinc-egc-m --onnx --out zinc.onnx\n"
      "  egc export runs/zinc-egc-m --to authors --out zinc.safetensors");
  c->callback([o, c, &common] {
    check(!o->onnx || c->get_option("--to")->count() == 0 || o->form_name == "onnx",
          "--onnx and --to {} are two forms; one at a time", o->form_name);
    o->form = o->onnx ? ExportForm::kOnnx : forms().at(o->form_name);
    check(!o->half || o->form == ExportForm::kModel, "--half goes with --to model only");
    o->model = find_models(o->from, common).front();
    app::export_model(*o);
    if (common.json)
      fmt::print(
          "{}\n",
          nlohmann::ordered_json{{"out", o->out}, {"form", forms().name_of(o->form)}}.dump());
    else
      fmt::print("{}\n", o->out);
  });
}

}  // namespace egc::cli
