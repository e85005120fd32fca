// Loads a model that `egc train` wrote and predicts for the graphs of a dataset: everything that
// is needed is in the model file.
//   predict_file runs/mine/best.safetensors data/mine
#include <egc/core/error.h>
#include <egc/data/raw/read_dataset.h>
#include <egc/inference/model.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: predict_file MODEL DATASET\n");
    return 2;
  }
  try {
    egc::inference::Model model = egc::inference::Model::load(argv[1]);
    const egc::data::Dataset dataset = egc::data::read_dataset(argv[2]);
    const auto table = model.predict(dataset, /*batch=*/256);
    for (int64_t row = 0; row < table.rows; ++row) {
      std::printf("%ld", static_cast<long>(row));
      for (int64_t k = 0; k < table.columns; ++k)
        std::printf(",%g", table.values[static_cast<size_t>(row * table.columns + k)]);
      std::printf("\n");
    }
  } catch (const egc::Error& e) {
    std::fprintf(stderr, "predict_file: %s\n", e.what());
    return static_cast<int>(e.kind());
  }
}
