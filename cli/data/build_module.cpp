#include "cli/data/build_module.h"

#include "cli/load_library.h"

namespace egc::cli {

const BuildModule& build_module() {
  using Entry = const BuildModule* (*)();
  static const BuildModule* const module =
      reinterpret_cast<Entry>(load_entry("libegc_cli_build.so", "egc_build_module"))();
  return *module;
}

}  // namespace egc::cli
