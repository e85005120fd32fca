// What every command shares: where datasets are, and the seed.
#pragma once

#include <cstdint>
#include <string>

namespace egc::app {

struct Session {
  uint64_t seed = 0;
  std::string data_dir;  // where datasets are kept
  // The egc program, which trains several runs at once in processes of its own.
  std::string program = "/proc/self/exe";
};

}  // namespace egc::app
