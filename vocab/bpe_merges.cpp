#include "vocab/bpe_merges.h"

#include <algorithm>
#include <queue>

#include "base/error.h"
#include "base/utf8.h"

namespace dragoman {
namespace {

constexpr std::string_view word_end = "</w>";

uint64_t pair_of(int32_t left, int32_t right) { return uint64_t(uint32_t(left)) << 32 | uint32_t(right); }

std::string_view next_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
  return line;
}

size_t first_character_bytes(std::string_view text) {
  size_t bytes = 1;
  while (bytes < text.size() && continues_character(text[bytes])) ++bytes;
  return bytes;
}

}  // namespace

/// The symbols of a word, each with its neighbours; a merge moves the right symbol into the left one.
class WordBeingMerged {
 public:
  WordBeingMerged(const BpeMerges& merges, std::string_view word) : merges_(merges), word_(word) {
    for (size_t from = 0; from < word.size();) {
      const size_t bytes = first_character_bytes(word.substr(from));
      symbols_.push_back({merges.symbol(word.substr(from, bytes)), from, bytes});
      from += bytes;
    }
    if (merges.ends_are_symbols_)
      symbols_.push_back({merges.symbol(word_end), word.size(), 0});
    else
      symbols_.back().id = merges.symbol(std::string(word.substr(symbols_.back().begin)).append(word_end));
    for (size_t i = 0; i < symbols_.size(); ++i) {
      symbols_[i].left = int64_t(i) - 1;
      symbols_[i].right = i + 1 < symbols_.size() ? int64_t(i) + 1 : none;
    }
  }

  // As in subword-nmt, each round merges all pairs of the lowest rank, from left to right; new pairs wait for the next
  // round.
  void merge_all() {
    for (int64_t i = 0; i < int64_t(symbols_.size()); ++i) queue_pair(i);
    std::vector<int64_t> merged;
    while (!queue_.empty()) {
      const int32_t rank = queue_.top().rank;
      for (merged.clear(); !queue_.empty() && queue_.top().rank == rank; queue_.pop())
        if (const int64_t at = queue_.top().at; merge_at(at, rank)) merged.push_back(at);
      for (const int64_t at : merged) {
        queue_pair(symbols_[size_t(at)].left);
        queue_pair(at);
      }
    }
  }

  std::vector<std::string_view> parts() const {
    std::vector<std::string_view> parts;
    for (int64_t i = 0; i != none; i = symbols_[size_t(i)].right)
      if (const Symbol& s = symbols_[size_t(i)]; s.bytes > 0) parts.push_back(word_.substr(s.begin, s.bytes));
    return parts;
  }

 private:
  static constexpr int64_t none = -1;
  struct Symbol {
    int32_t id;
    size_t begin, bytes;
    int64_t left = none, right = none;
  };
  struct Pair {
    int32_t rank;
    int64_t at;
    bool operator<(const Pair& other) const {  // the queue gives its largest first
      return rank != other.rank ? rank > other.rank : at > other.at;
    }
  };

  const BpeMerges::Merge* merge_of(int64_t at) const {
    if (at == none || symbols_[size_t(at)].right == none) return nullptr;
    return merges_.find(symbols_[size_t(at)].id, symbols_[size_t(symbols_[size_t(at)].right)].id);
  }

  void queue_pair(int64_t at) {
    if (const auto* merge = merge_of(at)) queue_.push({merge->rank, at});
  }

  // False if an earlier merge has changed the pair.
  bool merge_at(int64_t at, int32_t rank) {
    const auto* merge = merge_of(at);
    if (!merge || merge->rank != rank) return false;
    Symbol& left = symbols_[size_t(at)];
    Symbol& right = symbols_[size_t(left.right)];
    left.id = merge->symbol;
    left.bytes += right.bytes;
    left.right = right.right;
    if (left.right != none) symbols_[size_t(left.right)].left = at;
    right.right = none;
    return true;
  }

  const BpeMerges& merges_;
  const std::string_view word_;
  std::vector<Symbol> symbols_;
  std::priority_queue<Pair> queue_;
};

BpeMerges::BpeMerges(std::string_view file, const std::string& name) {
  constexpr std::string_view mark = "#version:";
  int64_t line = 0;
  if (file.starts_with(mark)) {
    read_version(next_line(file).substr(mark.size()), name);
    ++line;
  }
  while (file.ends_with('\n')) file.remove_suffix(1);
  while (!file.empty()) add(next_line(file), ++line, name);
  require(!merges_.empty(), "{} contains no merges of byte-pair encoding", name);
}

void BpeMerges::read_version(std::string_view version, const std::string& name) {
  version.remove_prefix(std::min(version.find_first_not_of(' '), version.size()));
  require(version == "0.1" || version == "0.2", "{}: merges of version \"{}\", expected 0.1 or 0.2", name, version);
  ends_are_symbols_ = version == "0.1";
}

void BpeMerges::add(std::string_view line, int64_t number, const std::string& name) {
  const size_t blank = line.find(' ');
  const bool two = blank != line.npos && blank > 0 && line.find(' ', blank + 1) == line.npos;
  if (!two)
    throw Error(fmt::format("{}, line {}: \"{}\" is not a merge, expected two symbols separated by a space", name,
                            number, line.substr(0, 80)),
                "name the file that subword-nmt learn-bpe wrote");
  std::string merged(line);
  merged.erase(blank, 1);
  const int32_t left = add_symbol(line.substr(0, blank)), right = add_symbol(line.substr(blank + 1));
  merges_.try_emplace(pair_of(left, right), Merge{int32_t(merges_.size()), add_symbol(merged)});
}

int32_t BpeMerges::add_symbol(std::string_view text) {
  return symbols_.try_emplace(std::string(text), int32_t(symbols_.size())).first->second;
}

int32_t BpeMerges::symbol(std::string_view text) const {
  const auto found = symbols_.find(std::string(text));
  return found == symbols_.end() ? -1 : found->second;
}

const BpeMerges::Merge* BpeMerges::find(int32_t left, int32_t right) const {
  const auto found = merges_.find(pair_of(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

std::vector<std::string_view> BpeMerges::split(std::string_view word) const {
  if (first_character_bytes(word) == word.size()) return {word};
  WordBeingMerged merging(*this, word);
  merging.merge_all();
  return merging.parts();
}

}  // namespace dragoman
