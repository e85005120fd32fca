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
      "import", "Convert a PyTorch checkpoint to a model file; no code in it is executed");
  c->add_option("checkpoint", o->checkpoint,
                "File written by torch.save: a state dict, or the authors' checkpoint.pt")
      ->required();
  c->add_option("--from", o->from,
                "Implementation that the checkpoint comes from: authors or pyg (PyTorch Geometric)")
      ->required()
      ->check(CLI::IsMember({"authors", "pyg"}));
  c->add_option("--out", o->out, "Model file to write")->required();
  c->add_option("--config", o->config,
                "Configuration of the network, as in configs/ (default: inferred from the shapes)");
  c->add_option(
      "--dataset", o->dataset,
      "Dataset that it was trained on, a name or a directory; predictions need its description");
  c->add_option("--model", o->model, "mpnn-sum or mpnn-max, which have the same shapes");
  c->add_option("--task", o->task, "Task, if encoder and head do not determine it");
  c->add_option("--heads", o->heads, "Number of heads, for EGC from PyTorch Geometric")
      ->check(CLI::Range(1, 1 << 20));
  c->add_option("--aggregators", o->aggregators,
                "Aggregators in their original order, for EGC with several")
      ->delimiter(',');
  c->add_option("--self-loops", o->self_loops,
                "Self-loops: all, symnorm or none (default: symnorm for authors, all for pyg)");
  c->add_option("--activation", o->activation,
                "Activation of EGC's combination weights (default: identity)");
  c->footer(
      "Example:\n  egc import checkpoint.pt --from authors --config configs/zinc/egc-m.json "
      "--dataset zinc --out zinc.safetensors");
  c->callback([o, c, &common] {
    for (const char* name :
         {"--model", "--task", "--heads", "--aggregators", "--self-loops", "--activation"})
      check(o->config.empty() || c->get_option(name)->count() == 0,
            "--config describes the whole network; it cannot be combined with {}", name);
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
  CLI::App* c = app.add_subcommand("export", "Export a model to other implementations");
  add_model_argument(*c, o->from, /*may_be_several=*/false);
  c->add_option("--out", o->out, "File to write")->required();
  c->add_option(
       "--to", o->form_name,
       "pyg: a state dict (safetensors) with PyTorch Geometric's parameter names and layouts; "
       "authors: the same for the authors' release; onnx: ONNX; model: egc's own format")
      ->check(CLI::IsMember({"pyg", "authors", "onnx", "model"}))
      ->capture_default_str();
  c->add_flag("--onnx", o->onnx, "Same as --to onnx");
  c->add_flag("--half", o->half,
              "With --to model: store matrices in half precision, for half the size");
  c->footer(
      "Example:\n  egc export runs/zinc-egc-m --onnx --out zinc.onnx\n"
      "  egc export runs/zinc-egc-m --to authors --out zinc.safetensors");
  c->callback([o, c, &common] {
    check(!o->onnx || c->get_option("--to")->count() == 0 || o->form_name == "onnx",
          "--onnx and --to {} contradict each other; give one of them", o->form_name);
    o->form = o->onnx ? ExportForm::kOnnx : forms().at(o->form_name);
    check(!o->half || o->form == ExportForm::kModel, "--half needs --to model");
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
