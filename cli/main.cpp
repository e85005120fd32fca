// egc: parses the command line, runs one command, turns errors into one sentence and an exit code.
#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <new>

#include "cli/common.h"
#include "cli/explain_parse_error.h"
#include "cli/status_line.h"
#include "egc/core/error.h"
#include "egc/core/log.h"
#include "egc/core/parallel.h"

namespace egc::cli {
namespace {

void send_log_to_stderr(bool quiet) {
  const auto color =
      status_line::is_possible() ? spdlog::color_mode::automatic : spdlog::color_mode::never;
  auto logger = spdlog::stderr_color_mt("egc", color);
  logger->set_pattern("%^egc: %l:%$ %v");
  logger->set_level(quiet ? spdlog::level::warn : spdlog::level::info);
  set_log_sink([logger](LogLevel level, std::string_view message) {
    const auto to = level == LogLevel::kWarning ? spdlog::level::warn
                    : level == LogLevel::kInfo  ? spdlog::level::info
                                                : spdlog::level::debug;
    status_line::clear();
    logger->log(to, "{}", message);
  });
}

// Of every command. Returns --seed.
const CLI::Option* add_common_options(CLI::App& app, CommonOptions& common) {
  app.add_option("--threads", common.threads,
                 "Number of threads (default: all cores available to this process)")
      ->check(CLI::Range(1, 4096));
  const CLI::Option* seed =
      app.add_option("--seed", common.seed, "Random seed")
          ->check([](const std::string& text) {
            return text.starts_with("-") ? "Value " + text + " not in range 0 to 2^64 - 1" : "";
          })
          ->capture_default_str();
  app.add_flag("--quiet", common.quiet, "Print only warnings and errors to stderr");
  app.add_flag("--json", common.json, "Print JSON lines to stdout, and nothing else");
  common.data_dir = app::default_data_dir();
  common.program = "/proc/self/exe";
  app.add_option("--data-dir", common.data_dir,
                 "Directory of the datasets (default: $EGC_DATA, else ~/.cache/egc)");
  return seed;
}

void add_commands(CLI::App& app, const CommonOptions& common) {
  CLI::App* bench = app.add_subcommand("bench", "Run a benchmark");
  bench->require_subcommand(1);
  bench->fallthrough();
  bench->footer("Example:\n  egc bench fusion --topology arxiv-like");
  add_bench_fusion(*bench, common);
  add_bench_layer(*bench, common);
  add_bench_loader(*bench, common);
  add_bench_epoch(*bench, common);

  CLI::App* data = app.add_subcommand("data", "List, inspect, check, build and download datasets");
  data->require_subcommand(1);
  data->fallthrough();
  data->footer("Example:\n  egc data info pattern");
  add_data_info(*data, common);
  add_data_generate(*data, common);
  add_data_partition(*data, common);
  add_data_fetch(*data, common);
  add_data_build(*data, common);

  add_train(app, common);
  add_launch(app, common);
  add_eval(app, common);
  add_predict(app, common);
  add_explain(app, common);
  add_info(app, common);
  add_import(app, common);
  add_export(app, common);
  add_reproduce(app, common);
  add_search(app, common);
  add_completion(app);
  add_man(app);
}

int run(int argc, char** argv) {
  CLI::App app{"egc: graph neural networks built around the Efficient Graph Convolution", "egc"};
  app.require_subcommand(1);
  app.set_version_flag("--version", EGC_VERSION);
  app.fallthrough();
  app.footer("Example:\n  egc train molecules --model egc-m --epochs 20 --out runs/first");
  CommonOptions common;
  const CLI::Option* seed = add_common_options(app, common);
  add_commands(app, common);
  if (argc == 1) {  // nothing was asked for, so nothing is wrong
    fmt::print("{}", app.help());
    return 0;
  }
  // Callbacks run inside parse, after all options are known.
  app.parse_complete_callback([&] {
    common.seed_given = seed->count() > 0;
    send_log_to_stderr(common.quiet);
    set_num_threads(common.threads > 0 ? common.threads : available_cores());
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {  // --help, --version
    return app.exit(e);
  } catch (const CLI::RuntimeError& e) {  // a command that has said why
    return e.get_exit_code();
  } catch (const CLI::ParseError& e) {
    fmt::print(stderr, "egc: {}\n", explain_parse_error(app, e));
    return static_cast<int>(ErrorKind::kUsage);
  }
  return 0;
}

}  // namespace
}  // namespace egc::cli

int main(int argc, char** argv) {
  try {
    return egc::cli::run(argc, argv);
  } catch (const egc::Error& e) {
    fmt::print(stderr, "egc: {}\n", e.what());
    return static_cast<int>(e.kind());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "egc: out of memory\n");
    return static_cast<int>(egc::ErrorKind::kSystem);
  } catch (const std::exception& e) {
    fmt::print(stderr, "egc: {}\n", e.what());
    return static_cast<int>(egc::ErrorKind::kSystem);
  }
}
