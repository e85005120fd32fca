// Trains a network on a dataset, as `egc train` does, with one call.
//   train_network DATASET RUN
#include <egc/app/train.h>
#include <egc/core/error.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: train_network DATASET RUN\n");
    return 2;
  }
  try {
    egc::app::TrainRequest request;
    request.options.dataset = argv[1];
    request.options.model = "egc-m";
    request.options.settings = {{"hidden", "32"}, {"layers", "2"}, {"epochs", "3"}};
    request.out = argv[2];
    const auto report = egc::app::train(request, {}, [](const egc::train::EpochRecord& e) {
      std::printf("epoch %ld: loss %.4f, validation %.4f\n", static_cast<long>(e.epoch),
                  e.train_loss, e.valid);
      return true;  // go on
    });
    std::printf("test %s: %.4f\n", report.outcomes[0].metric.c_str(), report.outcomes[0].test);
  } catch (const egc::Error& e) {
    std::fprintf(stderr, "train_network: %s\n", e.what());
    return static_cast<int>(e.kind());
  }
}
