// Runs the tests with as many threads as there are cores.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "egc/core/parallel.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  at::set_num_threads(egc::available_cores());
  return RUN_ALL_TESTS();
}
