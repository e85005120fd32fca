// Made-up functions in Code-V2's form: a random syntax tree in depth-first order, and the words of
// the function's name to be told from it. The verb shows in the types of nodes, the nouns among the
// identifiers. Sizes and vocabularies are those of ogbg-code2, so its networks fit.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "egc/core/parallel.h"
#include "egc/core/rng.h"
#include "egc/data/build/code_graphs.h"
#include "egc/data/generate/generators.h"
#include "egc/data/splits.h"

namespace egc::data {
namespace {

constexpr std::string_view kVerbs[] = {"get",  "set",    "is",    "has",   "make", "read",
                                       "add",  "remove", "find",  "parse", "load", "write",
                                       "save", "update", "check", "print"};
constexpr std::string_view kNouns[] = {
    "name", "value",  "key",  "list", "file",  "path",  "node",  "edge",  "graph", "user",
    "item", "index",  "size", "type", "data",  "text",  "line",  "word",  "token", "table",
    "row",  "column", "time", "date", "image", "color", "event", "state", "error", "config"};
constexpr auto kNumVerbs = static_cast<uint32_t>(std::size(kVerbs));
constexpr auto kNumNouns = static_cast<uint32_t>(std::size(kNouns));
constexpr int32_t kTypes = 98;
constexpr int32_t kTypesOfVerb = kTypes / static_cast<int32_t>(kNumVerbs);
constexpr int32_t kAttributes = 10030;  // identifiers, nouns first; then unknown and none
constexpr int32_t kNoAttribute = kAttributes - 1;

class FunctionMaker {
 public:
  explicit FunctionMaker(Rng rng) : rng_(rng) {
    verb_ = rng_.below(kNumVerbs);
    nouns_ = {rng_.below(kNumNouns)};
    if (rng_.below(2) == 0) nouns_.push_back(rng_.below(kNumNouns));
  }

  CodeGraph make() {
    CodeGraph f;
    f.name = kVerbs[verb_];
    for (const uint32_t noun : nouns_) f.name.append(" ").append(kNouns[noun]);
    std::vector<int32_t> path;  // from the root to the node before
    const int32_t nodes = draw_size();
    for (int32_t i = 0; i < nodes; ++i) {
      while (path.size() > 1 && rng_.below(25) < 13) path.pop_back();
      if (i > 0) f.edges.insert(f.edges.end(), {path.back(), i});
      const bool has_attribute = rng_.below(20) < 9;
      const auto depth = static_cast<int32_t>(path.size());
      f.features.insert(f.features.end(),
                        {draw_type(), has_attribute ? draw_attribute() : kNoAttribute,
                         std::min(depth, kAstDepths - 1)});
      f.attributed.push_back(has_attribute ? 1 : 0);
      path.push_back(i);
    }
    return f;
  }

 private:
  // 125 on average, as there; many small ones.
  int32_t draw_size() {
    return 11 + static_cast<int32_t>(std::min(1000.0, -114 * std::log(1.0 - rng_.uniform())));
  }
  int32_t draw_type() {
    return rng_.below(3) == 0 ? static_cast<int32_t>(verb_) * kTypesOfVerb +
                                    static_cast<int32_t>(rng_.below(kTypesOfVerb))
                              : static_cast<int32_t>(rng_.below(kTypes));
  }
  int32_t draw_attribute() {
    if (rng_.below(4) == 0)
      return static_cast<int32_t>(nouns_[rng_.below(static_cast<uint32_t>(nouns_.size()))]);
    const float u = rng_.uniform();  // its cube: few are common
    constexpr int32_t kOthers = kNoAttribute - static_cast<int32_t>(kNumNouns);
    return static_cast<int32_t>(kNumNouns) + static_cast<int32_t>(u * u * u * kOthers);
  }

  Rng rng_;
  uint32_t verb_ = 0;
  std::vector<uint32_t> nouns_;
};

}  // namespace

Dataset generate_functions(const GeneratorOptions& options) {
  const int64_t train = scaled_count(8000, options.size);
  const int64_t valid = scaled_count(1000, options.size);
  const int64_t test = scaled_count(1000, options.size);
  std::vector<CodeGraph> functions(static_cast<size_t>(train + valid + test));
  parallel_tasks(std::ssize(functions), [&](int64_t k) {
    functions[k] = FunctionMaker(Rng(options.seed, static_cast<uint64_t>(k))).make();
  });
  Dataset d = code_dataset(functions, kTypes, kAttributes);
  d.splits = {ranges_split("generated", train, valid, test)};
  return d;
}

}  // namespace egc::data
