#include "egc/data/dataset_info.h"

#include <algorithm>
#include <cmath>

#include "egc/core/json_fields.h"
#include "egc/core/json_parse.h"
#include "egc/core/log.h"

namespace egc::data {
namespace {

using Json = nlohmann::ordered_json;

// The one list of fields: reading and writing both go over it.
template <class Visitor, class Info>
void visit(Visitor& v, Info& info) {
  v("name", info.name);
  v.word("task", info.task, tasks());
  v.word("metric", info.metric, metrics());
  v("num_classes", info.num_classes);
  v("num_targets", info.num_targets);
  v("undirected", info.undirected);
  v("add_inverse_edge", info.add_inverse_edge);
  v.word("node_features", info.node_features, feature_kinds());
  v.word("edge_features", info.edge_features, feature_kinds());
  v("categories", info.categories);
  v("edge_categories", info.edge_categories);
  v("edge_weight", info.edge_weight);
  v("recipe", info.recipe);
  v("columns", info.columns);
  v("edge_columns", info.edge_columns);
  v("scaling", info.scaling);
  v("edge_scaling", info.edge_scaling);
  v("class_names", info.class_names);
  v("target_names", info.target_names);
}

class Reader {
 public:
  Reader(const Json& json, const std::string& where) : json_(json, where) {}

  template <class Value>
  void operator()(const char* key, Value& to) {
    known_.emplace_back(key);
    if (json_.read(key, to)) given_.insert(key);
  }
  void operator()(const char* key, std::vector<FeatureColumn>& to) {
    Json list;
    (*this)(key, list);
    if (!given_.contains(key)) return;
    if (!list.is_array()) json_.fail_at(key, "must be a list of columns");
    for (const Json& item : list) {
      const bool fine = item.is_array() && item.size() == 2 && item[0].is_string() &&
                        (item[1].is_number() || item[1].is_array());
      if (!fine) json_.fail_at(key, "must have [name, mean] or [name, [values]] for each column");
      FeatureColumn& column = to.emplace_back();
      column.name = item[0].get<std::string>();
      column.is_text = item[1].is_array();
      if (!column.is_text) column.mean = item[1].get<double>();
      for (const Json& value : column.is_text ? item[1] : Json(Json::array())) {
        if (!value.is_string()) json_.fail_at(key, "must have strings as values");
        column.values.push_back(value.get<std::string>());
      }
    }
  }
  // [[means], [deviations]] for each type of nodes
  void operator()(const char* key, std::vector<FeatureScaling>& to) {
    Json list;
    (*this)(key, list);
    if (!given_.contains(key)) return;
    const auto numbers = [&](const Json& json, bool positive) {
      std::vector<double> out;
      for (const Json& v : json) {
        const double x = v.is_number() ? v.get<double>() : std::nan("");
        if (!std::isfinite(x) || (positive && x <= 0))
          json_.fail_at(key, "must have finite means and positive deviations");
        out.push_back(x);
      }
      return out;
    };
    if (!list.is_array()) json_.fail_at(key, "must be a list");
    if (std::string_view(key) == "edge_scaling" && list.size() > 1)
      json_.fail_at(key, "must have one entry, for all edges, got {}", list.size());
    for (const Json& item : list) {
      if (!(item.is_array() && item.size() == 2 && item[0].is_array() && item[1].is_array() &&
            item[0].size() == item[1].size()))
        json_.fail_at(key, "must have [[means], [deviations]] for each node type, or for edges");
      to.push_back({numbers(item[0], false), numbers(item[1], true)});
    }
  }
  template <class Value>
  void word(const char* key, Value& to, const NamedTable<Value>& table) {
    std::string name;
    (*this)(key, name);
    if (!given_.contains(key)) return;
    try {
      to = table.at(name);
    } catch (const Error& e) {
      json_.fail_at(key, "is invalid: {}", e.what());
    }
  }
  template <class... Args>
  [[noreturn]] void fail_at(const char* key, fmt::format_string<Args...> format, Args&&... args) {
    json_.fail_at(key, format, std::forward<Args>(args)...);
  }
  const std::vector<std::string>& known() const { return known_; }
  const std::set<std::string, std::less<>>& given() const { return given_; }

 private:
  JsonReader json_;
  std::vector<std::string> known_;
  std::set<std::string, std::less<>> given_;
};

class Writer {
 public:
  void operator()(const char* key, const std::string& value) {
    if (!value.empty()) json_[key] = value;
  }
  template <class Value>
  void operator()(const char* key, const std::vector<Value>& value) {
    if (!value.empty()) json_[key] = value;
  }
  void operator()(const char* key, const std::vector<FeatureColumn>& columns) {
    for (const FeatureColumn& c : columns)
      json_[key].push_back(c.is_text ? Json::array({c.name, c.values})
                                     : Json::array({c.name, c.mean}));
  }
  void operator()(const char* key, const std::vector<FeatureScaling>& scaling) {
    for (const FeatureScaling& s : scaling) json_[key].push_back({s.mean, s.deviation});
  }
  void operator()(const char* key, int64_t value) { json_[key] = value; }
  void operator()(const char* key, bool value) { json_[key] = value; }
  template <class Value>
  void word(const char* key, Value value, const NamedTable<Value>& table) {
    json_[key] = table.name_of(value);
  }
  std::string text() const { return json_.dump(1, ' ', false, Json::error_handler_t::replace); }

 private:
  Json json_ = Json::object();
};

constexpr int64_t kMaxCategories = int64_t{1} << 31;

GivenInfo read_fields(const Json& json, const std::string& where) {
  GivenInfo out;
  Reader reader(json, where);
  visit(reader, out.info);
  out.keys = reader.given();
  for (const auto& [key, value] : json.items())
    if (std::find(reader.known().begin(), reader.known().end(), key) == reader.known().end())
      log_warning("{}: ignoring unknown key \"{}\"; known: {}", where, key,
                  fmt::join(reader.known(), ", "));
  if (out.info.num_classes < 0 || out.info.num_classes > kMaxCategories)
    reader.fail_at("num_classes", "must be a number of classes, got {}", out.info.num_classes);
  if (out.info.num_targets < 1)
    reader.fail_at("num_targets", "must be at least 1, got {}", out.info.num_targets);
  for (const char* key : {"categories", "edge_categories"})
    for (const int64_t count :
         std::string_view(key) == "categories" ? out.info.categories : out.info.edge_categories)
      if (count < 1 || count > kMaxCategories)
        reader.fail_at(key, "must be numbers from 1 to 2^31, got {}", count);
  return out;
}

}  // namespace

const NamedTable<Metric>& metrics() {
  static const NamedTable<Metric> table("metric", {{"mae", Metric::kMae},
                                                   {"accuracy", Metric::kAccuracy},
                                                   {"weighted-accuracy", Metric::kWeightedAccuracy},
                                                   {"rocauc", Metric::kRocAuc},
                                                   {"f1", Metric::kF1}});
  return table;
}

Metric usual_metric(Task task) {
  switch (task) {
    case Task::kGraphRegression:
      return Metric::kMae;
    case Task::kGraphBinary:
      return Metric::kRocAuc;
    case Task::kGraphSequence:
      return Metric::kF1;
    default:
      return Metric::kAccuracy;
  }
}

const NamedTable<FeatureKind>& feature_kinds() {
  static const NamedTable<FeatureKind> table("kind of features",
                                             {{"none", FeatureKind::kNone},
                                              {"float", FeatureKind::kFloat},
                                              {"categorical", FeatureKind::kCategorical}});
  return table;
}

GivenInfo parse_info(const std::string& json_text, const std::string& where) {
  const auto json = parse_json<Json>(json_text, where, ErrorKind::kData);
  try {
    return read_fields(json, where);
  } catch (const Error& e) {
    throw Error(ErrorKind::kData, e.what());  // a wrong file, not a wrong call
  }
}

std::string to_json(const DatasetInfo& info) {
  Writer writer;
  visit(writer, info);
  return writer.text();
}

}  // namespace egc::data
