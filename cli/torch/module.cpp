#include "cli/torch/module.h"

#include <ATen/Parallel.h>

extern "C" const egc::cli::TorchModule* egc_torch_module() {
  static const egc::cli::TorchModule module = {
      &at::set_num_threads,    &egc::cli::aten_csr_matmul, &egc::cli::aten_matmul,
      &egc::cli::bench_layer,  &egc::cli::bench_models,    &egc::cli::bench_loader,
      &egc::cli::bench_epoch,  &egc::cli::create_runs,     &egc::cli::train_place,
      &egc::cli::train_run,    &egc::cli::evaluate_model,  &egc::cli::predict,
      &egc::cli::explain,      &egc::cli::model_facts,     &egc::cli::config_facts,
      &egc::cli::export_model, &egc::cli::import_model};
  return &module;
}
