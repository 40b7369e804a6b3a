#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dragoman {

/// Merges of byte-pair encoding in the order in which they were learned, as subword-nmt writes them: an optional first
/// line "#version: 0.2", then two symbols per line. In version 0.2 the last character of a word and "</w>" are one
/// symbol; in version 0.1, which has no such first line, "</w>" is a symbol of its own.
class BpeMerges {
 public:
  BpeMerges(std::string_view file, const std::string& name);  // Error for any other file

  /// The pieces of a word that is not empty; joined, they are the word.
  std::vector<std::string_view> split(std::string_view word) const;

 private:
  friend class WordBeingMerged;
  struct Merge {
    int32_t rank, symbol;
  };
  using Symbols = std::unordered_map<std::string, int32_t>;

  void read_version(std::string_view version, const std::string& name);
  void add(std::string_view line, int64_t number, const std::string& name);
  int32_t add_symbol(std::string_view text);
  int32_t symbol(std::string_view text) const;           // -1: in no merge
  const Merge* find(int32_t left, int32_t right) const;  // null: no merge

  Symbols symbols_;
  std::unordered_map<uint64_t, Merge> merges_;  // by both symbols
  bool ends_are_symbols_ = true;                // version 0.1
};

}  // namespace dragoman
