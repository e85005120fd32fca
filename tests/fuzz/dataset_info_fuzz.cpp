// dataset.json; the input is the file. What was read must be the same after writing and reading.
#include "egc/data/dataset_info.h"

#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  egc::data::GivenInfo given;
  if (!egc::fuzz::throws_only({egc::ErrorKind::kData}, [&] {
        given = egc::data::parse_info(egc::fuzz::Input(data, size).text(), "dataset.json");
      }))
    return 0;
  const std::string text = to_json(given.info);
  egc::fuzz::expect(egc::data::parse_info(text, "copy").info == given.info,
                    "another dataset after writing: {}", text);
  return 0;
}
