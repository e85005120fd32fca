#include "cli/build_module.h"

extern "C" const egc::cli::BuildModule* egc_build_module() {
  static const egc::cli::BuildModule module = {
      &egc::molecules::build_molecules, &egc::images::build_images, &egc::fetch::fetch_dataset};
  return &module;
}
