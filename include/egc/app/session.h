// Settings that all commands share.
#pragma once

#include <cstdint>
#include <string>

namespace egc::app {

// Where datasets are stored unless somebody says otherwise: $EGC_DATA, or else ~/.cache/egc.
std::string default_data_dir();

// Settings that all commands share.
struct Session {
  uint64_t seed = 0;     // of all randomness
  std::string data_dir;  // where datasets are stored
  // Path of the egc program, which searches and parallel seeds start as processes.
  std::string program;
};

}  // namespace egc::app
