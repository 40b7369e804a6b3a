#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/temporary_file.h"

namespace dragoman {

/// Encoded sentence pairs, in the order in which they were added. In memory a pair takes 4 bytes for its lengths, 4 for
/// its line, 4 for each token, and with weights 4 for that; nothing is copied as it grows. All but the lengths may be
/// in a temporary file instead.
class PairStore {
 public:
  static constexpr int longest = 65535;  // tokens of a sentence, </s> included

  struct Pair {
    int32_t line;                                  // in the text, from 0
    std::span<const int32_t> source, target;       // ids, each side ending with </s>
    float weight = 1;                              // in the loss
    std::shared_ptr<const int32_t[]> record = {};  // owns ids that were read from the file
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

  /// Valid until the next `add`. Several threads may ask at once.
  Pair operator[](int64_t i) const;

  /// Moves the pairs to a file in the folder; pairs added later go there too.
  void move_to_file(const std::string& folder);
  void flush();  // a file, after the last `add`

  bool in_file() const { return file_ != nullptr; }
  int64_t record_bytes() const { return end_ * int64_t(sizeof(int32_t)); }  // of all but the lengths
  int64_t memory() const;                                                   // bytes

 private:
  using Lengths = std::array<uint16_t, 2>;

  int64_t record_size(const Lengths& lengths) const { return 1 + weighted_ + lengths[0] + lengths[1]; }
  int64_t address_of(int64_t i) const;
  void append(int64_t address, std::span<const int32_t> record);

  bool weighted_ = false;
  std::deque<Lengths> lengths_;                 // {source, target}
  std::vector<int64_t> addresses_;              // of every 16th record
  std::vector<std::vector<int32_t>> segments_;  // records: line, weight if any, source, target; none with a file
  std::shared_ptr<TemporaryFile> file_;         // the segments, end to end
  int64_t end_ = 0;                             // the address behind the last record
  std::vector<int32_t> added_;                  // the record that is being added
  std::array<int64_t, 2> tokens_ = {0, 0};
};

}  // namespace dragoman
