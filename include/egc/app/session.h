// What every command shares: where datasets are, and the seed.
#pragma once

#include <cstdint>
#include <string>

namespace egc::app {

struct Session {
  uint64_t seed = 0;
  std::string data_dir;  // where datasets are kept
  // The egc program, for searches and for several runs at once: they are processes of their own.
  std::string program;
};

}  // namespace egc::app
