#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace dragoman {

/// Encoded sentence pairs, in the order in which they were added. A pair takes 4 bytes for its lengths, 4 for its line
/// and 4 for each token, and with weights 4 for that; nothing is copied as it grows.
class PairStore {
 public:
  static constexpr int longest = 65535;  // tokens of a sentence, </s> included

  struct Pair {
    int32_t line;                             // where it stands in the text, from 0
    std::span<const int32_t> source, target;  // ids, each side ending with </s>
    float weight = 1;                         // in the loss
  };

  PairStore() = default;
  explicit PairStore(bool weighted) : weighted_(weighted) {}

  bool weighted() const { return weighted_; }  // else all weights are 1
  void add(const Pair& pair);

  int64_t size() const { return int64_t(lengths_.size()); }
  int64_t source_length(int64_t i) const { return lengths_[i][0]; }
  int64_t target_length(int64_t i) const { return lengths_[i][1]; }
  int64_t source_tokens() const { return tokens_[0]; }
  int64_t target_tokens() const { return tokens_[1]; }

  /// Valid until the next `add`.
  Pair operator[](int64_t i) const;

 private:
  using Lengths = std::array<uint16_t, 2>;

  int64_t record_size(const Lengths& lengths) const { return 1 + weighted_ + lengths[0] + lengths[1]; }

  bool weighted_ = false;
  std::deque<Lengths> lengths_;                 // {source, target}
  std::vector<int64_t> addresses_;              // of every 16th record
  std::vector<std::vector<int32_t>> segments_;  // records: line, weight if any, source, target
  int64_t end_ = 0;                             // the address behind the last record
  std::array<int64_t, 2> tokens_ = {0, 0};
};

}  // namespace dragoman
