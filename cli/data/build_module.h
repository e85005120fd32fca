// The door to RDKit, OpenCV and libcurl: they live in a library of their own, loaded on demand.
#pragma once

#include "egc/fetch/fetch_dataset.h"
#include "egc/images/build_images.h"
#include "egc/molecules/build_molecules.h"
#include "egc/molecules/molecule_stream.h"

namespace egc::cli {

struct BuildModule {
  data::Dataset (*build_molecules)(const molecules::MoleculeOptions& options,
                                   std::vector<molecules::BadSmiles>& bad);
  std::shared_ptr<molecules::MoleculeStream> (*open_molecules)(const std::filesystem::path& path,
                                                               const std::string& smiles_column,
                                                               const data::DatasetInfo& info);
  std::optional<molecules::MoleculeStream::Chunk> (*next_molecules)(
      molecules::MoleculeStream& stream, int64_t count);
  data::Dataset (*build_images)(const images::ImageOptions& options);
  std::filesystem::path (*fetch_dataset)(const data::KnownDataset& known,
                                         const fetch::FetchOptions& options);
};

// Loads it on the first call. Throws kSystem where that fails.
const BuildModule& build_module();

}  // namespace egc::cli
