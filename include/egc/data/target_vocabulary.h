// The vocabulary of sequence labels: the most frequent words of the training set, "unknown" and
// "end".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "egc/data/dataset.h"

namespace egc::data {

// Translates words to tokens and back.
class TargetVocabulary {
 public:
  static constexpr int64_t kSpecialWords = 2;  // "unknown" and "end"

  TargetVocabulary() = default;  // without words

  // Learns the `words` most frequent words of the lines `train`; of equally frequent ones the
  // first, as OGB's Code-V2 example does. Sequences are cut or padded with "end" to `length`.
  TargetVocabulary(const TextLines& lines, std::span<const int64_t> train, int64_t words = 5000,
                   int64_t length = 5);

  // From given words, in their order.
  TargetVocabulary(const std::vector<std::string>& words, int64_t length);

  // Number of tokens.
  int64_t size() const { return static_cast<int64_t>(words_.size()) + kSpecialWords; }
  // Token of unknown words.
  int64_t unknown() const { return static_cast<int64_t>(words_.size()); }
  int64_t end() const { return unknown() + 1; }  // token after the last word
  int64_t length() const { return length_; }     // of encoded sequences

  // Appends the `length` tokens of a line.
  void encode(std::string_view line, std::vector<int64_t>& to) const;
  // The words before the first "end".
  std::vector<std::string> decode(std::span<const int64_t> tokens) const;

  const std::vector<std::string>& words() const { return words_; }  // without the special ones

 private:
  int64_t length_ = 5;
  std::vector<std::string> words_;
  std::unordered_map<std::string, int64_t> index_;
};

// The blank-separated words of a line.
std::vector<std::string_view> split_words(std::string_view line);

}  // namespace egc::data
