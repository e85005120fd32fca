// A small heterogeneous graph: papers with words, authors who write about few topics, fields. Every
// signal alone is weak (words are noisy, citations cross topics), together they tell the topic.
#include <algorithm>

#include "egc/core/rng.h"
#include "egc/data/generate/generators.h"
#include "egc/data/splits.h"

namespace egc::data {
namespace {

constexpr uint32_t kTopics = 5;
constexpr uint32_t kWords = 40;

enum Type : int64_t { kAuthor, kField, kPaper };  // sorted by name, as in the files

uint32_t near_topic(uint32_t topic, float loyalty, Rng& rng) {
  return rng.uniform() < loyalty ? topic : rng.below(kTopics);
}

// A member of a topic, where members are id % kTopics == topic.
int32_t member(uint32_t topic, uint32_t count, Rng& rng) {
  return static_cast<int32_t>(rng.below(count / kTopics) * kTopics + topic);
}

}  // namespace

Dataset generate_academic(const GeneratorOptions& options) {
  const auto papers = static_cast<uint32_t>(scaled_count(2000, options.size, 100));
  const uint32_t authors = papers / 2;
  constexpr uint32_t kFields = 50;
  Rng rng(options.seed);
  std::vector<int32_t> topic(papers);
  for (int32_t& t : topic) t = static_cast<int32_t>(rng.below(kTopics));
  std::vector<std::vector<int32_t>> of_topic(kTopics);
  for (uint32_t p = 0; p < papers; ++p) of_topic[topic[p]].push_back(static_cast<int32_t>(p));

  std::vector<float> words(size_t{papers} * kWords, 0);
  std::vector<int32_t> writes;
  std::vector<int32_t> cites;
  std::vector<int32_t> has_topic;
  for (uint32_t p = 0; p < papers; ++p) {
    const auto own_topic = static_cast<uint32_t>(topic[p]);
    const auto id = static_cast<int32_t>(p);
    for (int k = 0; k < 6; ++k)
      words[size_t{p} * kWords +
            static_cast<size_t>(member(near_topic(own_topic, 0.25F, rng), kWords, rng))] += 1;
    for (uint32_t left = 1 + rng.below(3); left > 0; --left)
      writes.insert(writes.end(), {member(near_topic(own_topic, 0.6F, rng), authors, rng), id});
    for (uint32_t left = rng.below(6); left > 0; --left) {
      const auto& others = of_topic[near_topic(own_topic, 0.6F, rng)];
      if (!others.empty())
        cites.insert(cites.end(), {id, others[rng.below(static_cast<uint32_t>(others.size()))]});
    }
    for (int k = 0; k < 2; ++k)
      has_topic.insert(has_topic.end(),
                       {id, member(near_topic(own_topic, 0.4F, rng), kFields, rng)});
  }

  Dataset d;
  HeteroParts& h = d.hetero;
  h.schema.node_types = {"author", "field", "paper"};
  h.num_nodes = {authors, kFields, papers};
  h.schema.relations = {
      {"writes", kAuthor, kPaper}, {"cites", kPaper, kPaper}, {"has_topic", kPaper, kField}};
  h.edges = {{std::move(writes), 2}, {std::move(cites), 2}, {std::move(has_topic), 2}};
  h.features.resize(3);
  h.features[kPaper].floats = {std::move(words), kWords};
  h.target_type = kPaper;
  d.labels.classes = std::move(topic);
  d.splits = {random_split(papers, {0.6, 0.2, 0.2}, options.seed)};
  d.info.task = Task::kNodeClassificationHetero;
  d.info.metric = Metric::kAccuracy;
  d.info.num_classes = kTopics;
  d.info.node_features = FeatureKind::kFloat;
  d.info.undirected = true;
  d.info.add_inverse_edge = true;
  return d;
}

}  // namespace egc::data
