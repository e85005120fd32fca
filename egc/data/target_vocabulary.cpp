#include "egc/data/target_vocabulary.h"

#include <algorithm>

namespace egc::data {

std::vector<std::string_view> split_words(std::string_view line) {
  std::vector<std::string_view> out;
  while (!line.empty()) {
    const size_t end = line.find(' ');
    if (end > 0) out.push_back(line.substr(0, end));
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  }
  return out;
}

TargetVocabulary::TargetVocabulary(const TextLines& lines, std::span<const int64_t> train,
                                   int64_t words, int64_t length)
    : length_(length) {
  std::unordered_map<std::string_view, size_t> index;
  std::vector<std::pair<std::string_view, int64_t>> counts;  // in the order of first appearance
  for (const int64_t k : train)
    for (const std::string_view word : split_words(lines[k])) {
      const auto [it, fresh] = index.try_emplace(word, counts.size());
      if (fresh) counts.emplace_back(word, 0);
      ++counts[it->second].second;
    }
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  counts.resize(std::min(counts.size(), static_cast<size_t>(words)));
  for (const auto& [word, count] : counts) {
    index_.emplace(word, static_cast<int64_t>(words_.size()));
    words_.emplace_back(word);
  }
}

TargetVocabulary::TargetVocabulary(const std::vector<std::string>& words, int64_t length)
    : length_(length), words_(words) {
  for (size_t k = 0; k < words.size(); ++k) index_.emplace(words[k], static_cast<int64_t>(k));
}

void TargetVocabulary::encode(std::string_view line, std::vector<int64_t>& to) const {
  const auto words = split_words(line);
  for (int64_t k = 0; k < length_; ++k) {
    if (k >= static_cast<int64_t>(words.size())) {
      to.push_back(end());
      continue;
    }
    const auto it = index_.find(std::string(words[k]));
    to.push_back(it == index_.end() ? unknown() : it->second);
  }
}

std::vector<std::string> TargetVocabulary::decode(std::span<const int64_t> tokens) const {
  std::vector<std::string> out;
  for (const int64_t token : tokens) {
    if (token == end()) break;
    out.push_back(token >= 0 && token < unknown() ? words_[token] : "__UNK__");
  }
  return out;
}

}  // namespace egc::data
