#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/temporary_file.h"
#include "model/token_link.h"

namespace dragoman {

/// Encoded sentence pairs, in the order in which they were added. In memory a pair takes 4 bytes for its lengths, 4 for
/// its line, 4 for each token, 4 for its weight if pairs are weighted, and 2 and 4 for each link if they are linked;
/// nothing is copied as the store grows. All but the lengths may be in a temporary file instead. Several processes may
/// share a complete store as one mapped file.
class PairStore {
 public:
  static constexpr int longest = 65535;  // tokens of a sentence, </s> included, and links of a pair

  struct Pair {
    int32_t line;                                  // in the text, from 0
    std::span<const int32_t> source, target;       // ids, each side ending with </s>
    float weight = 1;                              // in the loss
    std::vector<TokenLink> links = {};             // of tokens
    std::shared_ptr<const int32_t[]> record = {};  // owns ids that were read from the file
  };

  PairStore() = default;
  explicit PairStore(bool weighted, bool linked = false) : weighted_(weighted), linked_(linked) {}
  /// Maps what `to_file` has written, which may be in another process. Nothing can be added.
  explicit PairStore(const FileDescriptor& file);

  bool weighted() const { return weighted_; }  // else all weights are 1
  bool linked() const { return linked_; }      // else there are no links

  void add(const Pair& pair);

  int64_t size() const { return mapped_ ? int64_t(mapped_->lengths.size()) : int64_t(lengths_.size()); }
  int64_t source_length(int64_t i) const { return lengths(i)[0]; }
  int64_t target_length(int64_t i) const { return lengths(i)[1]; }
  int64_t source_tokens() const { return tokens_[0]; }
  int64_t target_tokens() const { return tokens_[1]; }
  /// The mean weight of a target token; 1 if pairs are not weighted or all weights are 0.
  double mean_weight() const { return weighted_ && target_weight_ > 0 ? target_weight_ / double(tokens_[1]) : 1; }

  /// Valid until the next `add`. Several threads may call it at once.
  Pair operator[](int64_t i) const;

  /// Moves the pairs to a file in the folder; pairs added later go there too.
  void move_to_file(const std::string& folder);
  void flush();  // call it after the last `add` if pairs are in a file
  /// All pairs as one file, for PairStore(file): the temporary file, or one in memory. The store is empty afterwards.
  FileDescriptor to_file();

  bool in_file() const { return file_ != nullptr; }
  int64_t record_bytes() const { return end_ * int64_t(sizeof(int32_t)); }  // of all but the lengths
  int64_t memory() const;                                                   // bytes

 private:
  using Lengths = std::array<uint16_t, 2>;
  struct Footer;
  struct Mapped {
    MappedFile file;
    std::span<const int32_t> records;
    std::span<const int64_t> addresses;
    std::span<const Lengths> lengths;
    std::span<const uint16_t> links;
  };

  const Lengths& lengths(int64_t i) const { return mapped_ ? mapped_->lengths[size_t(i)] : lengths_[size_t(i)]; }
  int64_t links(int64_t i) const {
    if (!linked_) return 0;
    return mapped_ ? mapped_->links[size_t(i)] : links_[size_t(i)];
  }
  int64_t record_size(int64_t i) const { return 1 + weighted_ + lengths(i)[0] + lengths(i)[1] + links(i); }
  int64_t address_of(int64_t i) const;
  void append(int64_t address, std::span<const int32_t> record);
  void move_to(std::shared_ptr<TemporaryFile> file);

  bool weighted_ = false, linked_ = false;
  std::deque<Lengths> lengths_;                 // {source, target}
  std::deque<uint16_t> links_;                  // their numbers; none if pairs are not linked
  std::vector<int64_t> addresses_;              // of every 16th record
  std::vector<std::vector<int32_t>> segments_;  // records: line, weight if any, source, target, links; none with a file
  std::shared_ptr<TemporaryFile> file_;         // the segments, end to end
  std::shared_ptr<const Mapped> mapped_;        // all of the above, if the store is complete and shared
  int64_t end_ = 0;                             // the address after the last record
  std::vector<int32_t> added_;                  // the record that is being added
  std::array<int64_t, 2> tokens_ = {0, 0};
  double target_weight_ = 0;  // sum of the target tokens' weights
};

}  // namespace dragoman
