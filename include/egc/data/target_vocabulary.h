// The words of sequence labels as numbers: the commonest of the training set, "unknown", "end".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "egc/data/dataset.h"

namespace egc::data {

class TargetVocabulary {
 public:
  static constexpr int64_t kSpecialWords = 2;  // "unknown" and "end"

  TargetVocabulary() = default;

  // The `words` commonest of the given lines; among equally common ones the first seen, as OGB's
  // Code-V2 example does. Sequences are cut or padded with "end" to `length`.
  TargetVocabulary(const TextLines& lines, std::span<const int64_t> train, int64_t words = 5000,
                   int64_t length = 5);

  // Words that there are already, in their order.
  TargetVocabulary(const std::vector<std::string>& words, int64_t length);

  int64_t size() const { return static_cast<int64_t>(words_.size()) + kSpecialWords; }
  int64_t unknown() const { return static_cast<int64_t>(words_.size()); }
  int64_t end() const { return unknown() + 1; }
  int64_t length() const { return length_; }

  // Appends `length` numbers.
  void encode(std::string_view line, std::vector<int64_t>& to) const;
  // The words before the first "end".
  std::vector<std::string> decode(std::span<const int64_t> tokens) const;

  const std::vector<std::string>& words() const { return words_; }

 private:
  int64_t length_ = 5;
  std::vector<std::string> words_;
  std::unordered_map<std::string, int64_t> index_;
};

// The blank-separated words of a line.
std::vector<std::string_view> split_words(std::string_view line);

}  // namespace egc::data
