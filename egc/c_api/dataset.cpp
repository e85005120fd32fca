// Datasets as lists of named arrays, in both directions. Names are those of data::visit_arrays(),
// with the split's own name where that has a number.
#include "egc/c_api/dataset.h"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "egc/app/find_dataset.h"
#include "egc/c_api/call.h"
#include "egc/c_api/session.h"
#include "egc/data/dataset_info.h"
#include "egc/data/raw/write_dataset.h"

namespace egc::c_api {
namespace {

using data::Array;
using data::Dataset;
using data::Matrix;

template <class T>
constexpr egc_dtype code_of() {
  if constexpr (std::is_same_v<T, float>) return EGC_FLOAT32;
  if constexpr (std::is_same_v<T, int32_t>) return EGC_INT32;
  if constexpr (std::is_same_v<T, int64_t>) return EGC_INT64;
  if constexpr (sizeof(T) == 1) return EGC_UINT8;
}

const char* spelled(int32_t dtype) {
  constexpr const char* kNames[] = {"float32", "float64", "int32", "int64", "uint8"};
  return dtype >= 0 && dtype < std::ssize(kNames) ? kNames[dtype] : "unknown";
}

template <class T>
egc_array view_of(const Array<T>& a) {
  return {nullptr, code_of<T>(), 1, {a.size(), 1}, a.span().data()};
}
template <class T>
egc_array view_of(const Matrix<T>& m) {
  return {nullptr, code_of<T>(), 2, {m.rows(), m.columns}, m.values.span().data()};
}

// A matrix without rows has columns all the same.
template <class T>
int64_t columns_of(const Array<T>& /*array*/) {
  return 0;
}
template <class T>
int64_t columns_of(const Matrix<T>& m) {
  return m.columns;
}

// split.0.train becomes split.<name>.train.
std::string public_name(const std::string& name, const Dataset& d) {
  if (!name.starts_with("split.")) return name;
  const size_t end = name.find('.', 6);
  return "split." + d.splits[std::stoul(name.substr(6, end - 6))].name + name.substr(end);
}

// Copies a caller's array to where it belongs.
class Reader {
 public:
  Reader(int64_t count, const egc_array* arrays) {
    check(count >= 0 && (arrays != nullptr || count == 0), "egc_dataset: arrays is NULL");
    for (int64_t k = 0; k < count; ++k) {
      const std::string name = text_of(arrays[k].name);
      check(arrays[k].shape[0] >= 0 && arrays[k].shape[1] >= 0 &&
                (arrays[k].dimensions == 1 || arrays[k].dimensions == 2),
            "egc_dataset: array \"{}\" must have one or two dimensions", name);
      check(given_.emplace(name, arrays + k).second, "egc_dataset: array \"{}\" is given twice",
            name);
    }
  }

  template <class T>
  void operator()(const std::string& name, Array<T>& to) {
    if (const egc_array* a = take<T>(name, 1)) to = copy<T>(*a, a->shape[0]);
  }
  template <class T>
  void operator()(const std::string& name, Matrix<T>& to) {
    const egc_array* a = take<T>(name, 2);
    if (a == nullptr) return;
    to.columns = a->shape[1];
    to.values = copy<T>(*a, a->shape[0] * a->shape[1]);
  }

  // split.<name>.train and so on: the names of splits, in the order of their names.
  std::vector<data::Split> named_splits() const {
    std::vector<data::Split> out;
    for (const auto& [name, array] : given_) {
      const size_t end = name.rfind('.');
      if (!name.starts_with("split.") || end <= 6) continue;
      const std::string split = name.substr(6, end - 6);
      if (out.empty() || out.back().name != split) out.emplace_back().name = split;
    }
    return out;
  }

  // Refuses arrays that nothing asked for.
  void expect_all_taken() const {
    for (const auto& [name, array] : given_)
      check(array == nullptr, "egc_dataset: unknown array \"{}\"", name);
  }

 private:
  template <class T>
  const egc_array* take(const std::string& name, int dimensions) {
    const auto it = given_.find(name);
    if (it == given_.end()) return nullptr;
    const egc_array* a = std::exchange(it->second, nullptr);
    check(a->dtype == code_of<T>(), "egc_dataset: array \"{}\" must be {}, got {}", name,
          spelled(code_of<T>()), spelled(a->dtype));
    check(a->dimensions == dimensions, "egc_dataset: array \"{}\" must have {} dimensions, got {}",
          name, dimensions, a->dimensions);
    check(a->data != nullptr || a->shape[0] * a->shape[1] == 0, "egc_dataset: array \"{}\" is NULL",
          name);
    return a;
  }
  template <class T>
  static std::vector<T> copy(const egc_array& a, int64_t count) {
    const T* from = static_cast<const T*>(a.data);
    return std::vector<T>(from, from + count);
  }

  std::map<std::string, const egc_array*> given_;  // null: taken
};

Dataset from_arrays(const std::string& info_json, Reader& arrays) {
  Dataset d;
  const data::GivenInfo given = data::parse_info(info_json, "egc_dataset");
  d.info = given.info;
  if (!given.has("metric")) d.info.metric = data::usual_metric(d.info.task);
  check(d.info.task != Task::kNodeClassificationHetero,
        "egc_dataset: heterogeneous datasets are not made from arrays; write their files "
        "(docs/datasets.md)");
  d.splits = arrays.named_splits();
  visit_arrays(d, [&](const std::string& name, auto& to) { arrays(public_name(name, d), to); });
  arrays.expect_all_taken();
  if (d.edges.columns == 0) d.edges.columns = 2;
  const bool has_labels = d.labels.rows() > 0 || !d.splits.empty();
  has_labels ? check_dataset(d, d.info.name) : check_graphs(d, d.info.name);
  return d;
}

}  // namespace

app::Session session_of(const char* data_dir, uint64_t seed) {
  app::Session out;
  out.seed = seed;
  out.data_dir = data_dir != nullptr ? data_dir : app::default_data_dir();
  return out;
}

}  // namespace egc::c_api

egc_dataset::egc_dataset(egc::data::Dataset of)
    : data(std::move(of)), info(egc::data::to_json(data.info)) {
  egc::data::visit_arrays(data, [&](const std::string& name, const auto& array) {
    if (array.empty() && egc::c_api::columns_of(array) == 0) return;
    arrays.push_back(egc::c_api::view_of(array));
    names.push_back(egc::c_api::public_name(name, data));
  });
  for (size_t k = 0; k < names.size(); ++k) arrays[k].name = names[k].c_str();
}

using egc::c_api::call;
using egc::c_api::given;

egc_status egc_dataset_load(const char* name, const char* data_dir, uint64_t seed,
                            egc_dataset** dataset) {
  return call([&] {
    auto& out = given(dataset, "egc_dataset_load", "dataset");
    out = nullptr;
    const std::string wanted = &given(name, "egc_dataset_load", "name");
    out = new egc_dataset(egc::app::load_dataset(wanted, egc::c_api::session_of(data_dir, seed)));
  });
}

egc_status egc_dataset_from_arrays(const char* info_json, int64_t count, const egc_array* arrays,
                                   egc_dataset** dataset) {
  return call([&] {
    auto& out = given(dataset, "egc_dataset_from_arrays", "dataset");
    out = nullptr;
    egc::c_api::Reader reader(count, arrays);
    out = new egc_dataset(
        egc::c_api::from_arrays(&given(info_json, "egc_dataset_from_arrays", "info_json"), reader));
  });
}

egc_status egc_dataset_save(const egc_dataset* dataset, const char* directory) {
  return call([&] {
    const auto& d = given(dataset, "egc_dataset_save", "dataset").data;
    const char* to = &given(directory, "egc_dataset_save", "directory");
    egc::check(d.labels.rows() > 0, "egc_dataset_save: {} has no labels", d.info.name);
    egc::data::write_dataset(d, to);
  });
}

void egc_dataset_free(egc_dataset* dataset) { delete dataset; }
const char* egc_dataset_info(const egc_dataset* dataset) { return dataset->info.c_str(); }
int64_t egc_dataset_num_arrays(const egc_dataset* dataset) { return std::ssize(dataset->arrays); }

egc_status egc_dataset_array(const egc_dataset* dataset, int64_t k, egc_array* array) {
  return call([&] {
    const auto& arrays = given(dataset, "egc_dataset_array", "dataset").arrays;
    egc::check(k >= 0 && k < std::ssize(arrays), "egc_dataset_array: no array {}; there are {}", k,
               arrays.size());
    given(array, "egc_dataset_array", "array") = arrays[static_cast<size_t>(k)];
  });
}
