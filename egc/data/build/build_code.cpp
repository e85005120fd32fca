#include "egc/data/build/build_code.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "egc/core/error.h"
#include "egc/core/json_parse.h"
#include "egc/data/build/child_process.h"
#include "egc/data/build/code_graphs.h"
#include "egc/data/build/functions_to_graphs.h"
#include "egc/data/shuffle.h"

namespace egc::data {
namespace {

using nlohmann::json;

constexpr const char* kUnknown = "__UNK__";
constexpr const char* kNone = "__NONE__";

// One function, words not yet numbers.
struct Function {
  std::string file;
  std::string name;  // sub-tokens, separated by blanks
  std::vector<std::string> types;
  std::vector<std::string> attributes;
  std::vector<uint8_t> attributed;
  std::vector<int32_t> depths;
  std::vector<int32_t> parents;
};

Function parse_function(const json& record) {
  Function f;
  f.file = record.at("file").get<std::string>();
  f.name = fmt::format("{}", fmt::join(record.at("name").get<std::vector<std::string>>(), " "));
  f.types = record.at("types").get<std::vector<std::string>>();
  for (const json& a : record.at("attributes")) {
    f.attributed.push_back(a.is_null() ? 0 : 1);
    f.attributes.push_back(a.is_null() ? std::string() : a.get<std::string>());
  }
  f.depths = record.at("depths").get<std::vector<int32_t>>();
  f.parents = record.at("parents").get<std::vector<int32_t>>();
  return f;
}

std::vector<Function> read_functions(const CodeOptions& options, CodeDataset& out) {
  std::vector<Function> functions;
  ProgressCounter progress(options.on_progress, 0);
  std::set<std::string> seen;  // of name and tree: copies of a function must not be in two parts
  for_each_output_line(
      {"python3", "-I", "-c", kFunctionsToGraphs, options.from.string(),
       std::to_string(options.min_nodes), std::to_string(options.max_nodes)},
      [&](std::string_view line) {
        const auto record = parse_json<json>(line, "python3", ErrorKind::kSystem);
        if (record.contains("error")) {
          out.skipped.push_back(fmt::format("{}: {}", record.at("file").get<std::string>(),
                                            record.at("error").get<std::string>()));
          return;
        }
        progress.add(1);
        Function f = parse_function(record);
        std::string key = f.name;
        for (const auto& t : f.types) key.append(1, ' ').append(t);
        for (const auto& a : f.attributes) key.append(1, ' ').append(a);
        if (seen.insert(key).second) functions.push_back(std::move(f));
      });
  return functions;
}

// What must stay together in one part: a project (the first folder), else a file, else only the
// function itself, the coarsest of which there are enough.
struct Grouping {
  const char* name;
  std::string (*key)(const Function& f, size_t number);
};
constexpr Grouping kGroupings[] = {
    {"project", [](const Function& f, size_t) { return f.file.substr(0, f.file.find('/')); }},
    {"file", [](const Function& f, size_t) { return f.file; }},
    {"function", [](const Function&, size_t number) { return std::to_string(number); }}};

Split split_functions(const std::vector<Function>& functions, const CodeOptions& options) {
  constexpr size_t kEnough = 10;
  std::map<std::string, std::vector<int64_t>> groups;
  const char* kind = "";
  for (const Grouping& grouping : kGroupings) {
    groups.clear();
    kind = grouping.name;
    for (size_t k = 0; k < functions.size(); ++k)
      groups[grouping.key(functions[k], k)].push_back(static_cast<int64_t>(k));
    if (groups.size() >= kEnough) break;
  }
  std::vector<std::vector<int64_t>> sets;
  for (auto& [name, ids] : groups) sets.push_back(std::move(ids));
  Rng rng(options.seed, /*stream=*/0xC0DE);
  shuffle(sets, rng);
  // Whole groups, to the part that is furthest below its share.
  std::vector<int64_t> parts[3];
  const auto total = static_cast<double>(functions.size());
  for (const auto& ids : sets) {
    int best = 0;
    const auto lacks = [&](int p) {
      return options.fractions[p] - static_cast<double>(parts[p].size()) / total;
    };
    for (int p = 1; p < 3; ++p)
      if (lacks(p) > lacks(best)) best = p;
    parts[best].insert(parts[best].end(), ids.begin(), ids.end());
  }
  for (auto& part : parts) std::sort(part.begin(), part.end());
  return {kind, parts[0], parts[1], parts[2]};
}

// Words by falling count, equally common ones by their spelling.
std::vector<std::string> commonest(const std::map<std::string, int64_t>& counts, int64_t most) {
  std::vector<std::pair<std::string, int64_t>> list(counts.begin(), counts.end());
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> out;
  for (const auto& [word, count] : list)
    if (static_cast<int64_t>(out.size()) < most) out.push_back(word);
  return out;
}

std::unordered_map<std::string, int32_t> numbers_of(const std::vector<std::string>& words) {
  std::unordered_map<std::string, int32_t> out;
  for (const std::string& word : words) out.emplace(word, static_cast<int32_t>(out.size()));
  return out;
}

}  // namespace

CodeDataset build_code(const CodeOptions& options) {
  check_data(std::filesystem::is_directory(options.from),
             "{}: expected a directory of Python sources", options.from.string());
  CodeDataset out;
  const std::vector<Function> functions = read_functions(options, out);
  check_data(functions.size() >= 3, "{}: expected at least 3 functions of {} to {} nodes, found {}",
             options.from.string(), options.min_nodes, options.max_nodes, functions.size());
  const Split split = split_functions(functions, options);

  std::map<std::string, int64_t> type_counts;
  std::map<std::string, int64_t> attribute_counts;
  for (const Function& f : functions)
    for (const std::string& t : f.types) ++type_counts[t];
  for (const int64_t k : split.train)
    for (size_t i = 0; i < functions[k].types.size(); ++i)
      if (functions[k].attributed[i] != 0) ++attribute_counts[functions[k].attributes[i]];
  out.types = commonest(type_counts, INT64_MAX);
  out.attributes = commonest(attribute_counts, options.attributes);
  const auto types = numbers_of(out.types);
  const auto attributes = numbers_of(out.attributes);
  const auto unknown = static_cast<int32_t>(out.attributes.size());
  out.attributes.insert(out.attributes.end(), {kUnknown, kNone});

  std::vector<CodeGraph> graphs;
  for (const Function& f : functions) {
    CodeGraph& g = graphs.emplace_back();
    g.name = f.name;
    g.attributed = f.attributed;
    for (size_t i = 0; i < f.types.size(); ++i) {
      const auto it = attributes.find(f.attributes[i]);
      const int32_t attribute = f.attributed[i] == 0     ? unknown + 1
                                : it == attributes.end() ? unknown
                                                         : it->second;
      g.features.insert(g.features.end(), {types.at(f.types[i]), attribute,
                                           std::min<int32_t>(f.depths[i], kAstDepths - 1)});
      if (f.parents[i] >= 0) g.edges.insert(g.edges.end(), {f.parents[i], static_cast<int32_t>(i)});
    }
  }
  Dataset& d = out.dataset;
  d = code_dataset(graphs, std::ssize(out.types), std::ssize(out.attributes));
  d.splits = {split};
  d.info.name = options.name;
  check_dataset(d, options.from.string());
  return out;
}

}  // namespace egc::data
