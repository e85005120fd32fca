// What every command knows: the common options, and where results go.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "egc/app/session.h"

namespace egc::cli {

struct CommonOptions : app::Session {
  int threads = 0;  // 0: the cores that this process may use
  bool seed_given = false;
  bool quiet = false;
  bool json = false;  // JSON lines on stdout, nothing else
};

// One line per command of the table in main.cpp.
void add_bench_fusion(CLI::App& bench, const CommonOptions& common);
void add_bench_layer(CLI::App& bench, const CommonOptions& common);
void add_bench_epoch(CLI::App& bench, const CommonOptions& common);
void add_bench_loader(CLI::App& bench, const CommonOptions& common);
void add_data_info(CLI::App& data, const CommonOptions& common);
void add_data_generate(CLI::App& data, const CommonOptions& common);
void add_data_partition(CLI::App& data, const CommonOptions& common);
void add_data_fetch(CLI::App& data, const CommonOptions& common);
void add_data_build(CLI::App& data, const CommonOptions& common);
void add_eval(CLI::App& app, const CommonOptions& common);
void add_explain(CLI::App& app, const CommonOptions& common);
void add_info(CLI::App& app, const CommonOptions& common);
void add_launch(CLI::App& app, const CommonOptions& common);
void add_import(CLI::App& app, const CommonOptions& common);
void add_export(CLI::App& app, const CommonOptions& common);
void add_predict(CLI::App& app, const CommonOptions& common);
void add_reproduce(CLI::App& app, const CommonOptions& common);
void add_search(CLI::App& app, const CommonOptions& common);
void add_train(CLI::App& app, const CommonOptions& common);
// These print what `app` can do; what is added to it later is not missing.
void add_completion(CLI::App& app);
void add_man(CLI::App& app);

}  // namespace egc::cli
