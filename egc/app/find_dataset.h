// Datasets by what people call them: a directory, a name in the data directory, or a generator.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "egc/app/session.h"
#include "egc/data/dataset.h"

namespace egc::app {

// MAG as the networks for one type of nodes see it.
inline constexpr std::string_view kPapersOfMag = "mag-papers";

// Where the dataset lies; nothing where it is generated. Throws kData, with what was looked for.
std::optional<std::filesystem::path> dataset_directory(const std::string& name,
                                                       const Session& session);
// `cache`: whether the binary cache may answer.
data::Dataset load_dataset(const std::string& name, const Session& session, bool cache = true);

}  // namespace egc::app
