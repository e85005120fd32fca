// egc train: one run, or several with different seeds, and what came of them.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/spell.h"
#include "cli/stop_signal.h"
#include "cli/train_runs.h"
#include "egc/core/error.h"
#include "egc/core/json_parse.h"
#include "egc/core/statistics.h"
#include "egc/core/text_file.h"

namespace egc::cli {
namespace {

using app::TrainOutcome;
using Json = nlohmann::ordered_json;

void summarise(const std::vector<TrainOutcome>& outcomes, const std::string& dir,
               const CommonOptions& common) {
  std::vector<double> tests;
  for (const TrainOutcome& r : outcomes) tests.push_back(r.test);
  const auto [mean, deviation, count] = spread_of(tests);
  const TrainOutcome& first = outcomes.front();
  if (common.json) {
    fmt::print("{}\n", Json{{"summary", true},
                            {"metric", first.metric},
                            {"mean", mean},
                            {"std", deviation},
                            {"seeds", count},
                            {"run", dir}}
                           .dump(-1, ' ', false, Json::error_handler_t::replace));
    return;
  }
  fmt::print("{} on {}, {} parameters\n", first.model, first.dataset, first.parameters);
  fmt::print("  seed  epochs  best    valid {:<9} test {:<9}  time\n", first.metric, first.metric);
  for (const TrainOutcome& r : outcomes)
    fmt::print("  {:>4}  {:>6}  {:>4}  {:>15}  {:>13}  {}\n", r.seed, r.epochs, r.best_epoch,
               spell_score(r.metric, r.valid), spell_score(r.metric, r.test),
               spell_time(r.seconds));
  if (count > 1)
    fmt::print("  test {} {} (mean and deviation over {} seeds)\n", first.metric,
               spell_score(first.metric, mean, deviation), count);
  fmt::print("{}\n", dir);
}

// A configuration may name its dataset.
std::string dataset_of(const std::string& config) {
  const Json json =
      parse_json<Json>(read_text_file(config, ErrorKind::kUsage), config, ErrorKind::kUsage);
  const auto it = json.is_object() ? json.find("dataset") : json.end();
  return it != json.end() && it->is_string() ? it->get<std::string>() : "";
}

// A rank above 0: rank 0 has the files and tells the rest.
void follow(const TrainCommand& o, CommonOptions common, const std::string& dir,
            const volatile std::sig_atomic_t* stop) {
  common.quiet = true;
  common.json = false;
  TrainingData data(common);
  for (const TrainOutcome& r : train_in_turn({dir}, o, common, data, stop))
    if (r.interrupted) throw CLI::RuntimeError(kInterrupted);
}

void train(const TrainCommand& o, const CommonOptions& common) {
  check(o.resume.empty() != o.flags.dataset.empty(),
        "egc train takes a dataset, or --resume with a run, not both and not neither");
  const auto* stop = watch_stop_signals();
  const std::string dir = !o.resume.empty() ? o.resume
                          : o.out.empty()   ? free_directory(o.flags, o.overwrite)
                                            : o.out;
  const distributed::GroupAddress place = app::train_place();
  if (place.rank > 0) return follow(o, common, dir, stop);
  check(place.size == 1 || o.seeds == 1, "a group of processes trains one seed at a time, got {}",
        o.seeds);
  TrainingData data(common);
  std::unique_ptr<Replaced> replaced;  // until the new runs have results
  const std::vector<std::string> runs =
      o.resume.empty() ? begin_runs(o, common, data, dir, replaced) : runs_in(dir);
  check(place.size == 1 || runs.size() == 1,
        "a group of processes goes on with one run at a time; {} has {}", dir, runs.size());
  const auto outcomes = o.jobs == 1 || runs.size() == 1 ? train_in_turn(runs, o, common, data, stop)
                                                        : train_at_once(runs, o, common, stop);
  for (const TrainOutcome& r : outcomes) {
    if (!r.interrupted) continue;
    fmt::print(stderr, "egc: interrupted; egc train --resume {} goes on\n", dir);
    throw CLI::RuntimeError(kInterrupted);
  }
  for (const TrainOutcome& r : outcomes) {
    if (!r.paused) continue;
    if (!common.json)
      fmt::print("paused after epoch {}, best valid {} {}; egc train --resume {} goes on\n",
                 r.epochs, r.metric, spell_score(r.metric, r.valid), dir);
    return;
  }
  if (runs.size() > 1) write_seeds_report(dir, runs, outcomes);
  summarise(outcomes, dir, common);
}

}  // namespace

void add_train(CLI::App& app, const CommonOptions& common) {
  auto o = std::make_shared<TrainCommand>();
  app::TrainFlags& f = o->flags;
  CLI::App* c = app.add_subcommand("train", "Trains a network on a dataset");
  c->add_option("dataset", f.dataset, "A known or generated dataset, or a directory");
  c->add_option(
      "--model", f.model,
      "egc-s egc-m egc gcn gin sage gat gatv2 mpnn-sum mpnn-max pna mlp ga-mlp rgcn regc");
  c->add_option("--config", f.config, "A JSON file with everything; flags override it");
  c->add_option("--out", o->out, "Where the run is kept (default: runs/<dataset>-<model>)");
  c->add_flag("--overwrite", o->overwrite, "Replaces the run that is in --out");
  c->add_option("--resume", o->resume, "Goes on with a run that was stopped");
  c->add_option("--seeds", o->seeds, "Trains that many times, with seeds from --seed on")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  c->add_option("--jobs", o->jobs, "Seeds at a time; they share the threads")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  c->add_option("--hidden", f.hidden, "Width of the layers");
  c->add_option("--parameters", f.parameters,
                "Instead of --hidden: the width that gives about so many, for instance 100k")
      ->transform(
          CLI::AsNumberWithUnit(std::map<std::string, int64_t>{{"k", 1000}, {"M", 1000000}}));
  c->add_option("--layers", f.layers, "Number of layers");
  c->add_option("--heads", f.heads, "Heads");
  c->add_option("--bases", f.bases, "Bases");
  c->add_option("--aggregators", f.aggregators, "For instance add,std,max")->delimiter(',');
  c->add_option("--self-loops", f.self_loops, "all, symnorm or none");
  c->add_option("--activation", f.activation,
                "Of the weightings: identity, softmax, sigmoid, hardtanh");
  // An optional bool as the target of a flag would be set without the flag.
  const auto add_switch = [&](const char* name, std::optional<bool>& to, const char* help) {
    c->add_flag_function(
        name, [&to](int64_t count) { to = count > 0; }, help);
  };
  add_switch("--norm,!--no-norm", f.norm, "Batch norm after every layer");
  add_switch("--residual,!--no-residual", f.residual, "A residual connection around every layer");
  c->add_option(
      "--encoder", f.encoder,
      "Of the node features: none, linear, embedding, atom or ast (default: by their kind)");
  c->add_option("--readout", f.readout, "Of graph tasks: mean, sum or max over the nodes");
  c->add_option("--dropout", f.dropout, "Dropout probability");
  c->add_option("--dropout-at", f.dropout_at,
                "Where dropout acts: encoder, conv-input, activation, head")
      ->delimiter(',');
  c->add_option("--lr", f.lr, "Learning rate");
  c->add_option("--wd", f.wd, "Weight decay: L2, added to the gradient");
  c->add_option("--batch", f.batch, "Graphs in a batch");
  c->add_option("--epochs", f.epochs, "At most");
  c->add_option("--patience", f.patience,
                "Epochs without a better validation before it stops; 0: never");
  c->add_option("--lr-factor", f.lr_factor, "What the learning rate is multiplied by on a plateau");
  c->add_option("--lr-patience", f.lr_patience, "Epochs of a plateau");
  c->add_option("--min-lr", f.min_lr, "Least learning rate");
  c->add_option("--clip", f.clip, "Most norm of the gradients; 0: no limit");
  c->add_option("--watch", f.watch, "What validation is judged by: loss, or the dataset's metric");
  c->add_option("--split", f.split, "Which split of the dataset (default: its first)");
  c->add_option("--standardize", f.standardize,
                "Scale float features by mean and deviation of the training set: train or none "
                "(default: train for number columns of tables, none for others)");
  c->add_option("--aggregator-sparsity", f.aggregator_sparsity,
                "Strength of a penalty that lets EGC do without some aggregators");
  c->add_option("--drop-edges", f.drop_edges, "Share of edges that a training step goes without");
  c->add_option("--drop-nodes", f.drop_nodes, "Share of nodes that a training step goes without");
  c->add_option("--until", o->until, "Pauses after that epoch; --resume goes on")
      ->check(CLI::Range(0, 1 << 30));
  c->add_option("--checkpoint-every", o->checkpoint_every, "Epochs")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  c->footer("Example:\n  egc train molecules --model egc-m --epochs 20 --out runs/first");
  c->callback([o, c, &common] {
    if (!o->resume.empty())
      for (const CLI::Option* option : c->get_options())
        check(option->count() == 0 || option->get_name() == "--resume" ||
                  option->get_name() == "--jobs" || option->get_name() == "--until" ||
                  option->get_name() == "--checkpoint-every",
              "--resume goes on with a run as it was begun; {} cannot change it",
              option->get_name());
    if (o->flags.dataset.empty() && !o->flags.config.empty())
      o->flags.dataset = dataset_of(o->flags.config);
    train(*o, common);
  });
}

}  // namespace egc::cli
