#include "cli/data/build_module.h"

extern "C" const egc::cli::BuildModule* egc_build_module() {
  using egc::molecules::MoleculeStream;
  static const egc::cli::BuildModule module = {
      &egc::molecules::build_molecules,
      [](const std::filesystem::path& path, const std::string& column,
         const egc::data::DatasetInfo& info) {
        return std::make_shared<MoleculeStream>(path, column, info);
      },
      [](MoleculeStream& stream, int64_t count) { return stream.next(count); },
      &egc::images::build_images, &egc::fetch::fetch_dataset};
  return &module;
}
