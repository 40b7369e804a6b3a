#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace dragoman {

/// Sentence pairs as concatenated ids: 4 bytes per piece and 16 per pair.
class ParallelIds {
 public:
  void add(std::span<const int32_t> source, std::span<const int32_t> target) {
    sides_[0].add(source);
    sides_[1].add(target);
  }
  /// Every source becomes the target of its pair, and the target the source.
  void swap_sides() { std::swap(sides_[0], sides_[1]); }
  int64_t size() const { return int64_t(sides_[0].ends.size()) - 1; }
  std::span<const int32_t> source(int64_t pair) const { return sides_[0].sentence(pair); }
  std::span<const int32_t> target(int64_t pair) const { return sides_[1].sentence(pair); }

 private:
  struct Side {
    std::vector<int32_t> ids;
    std::vector<int64_t> ends = {0};

    void add(std::span<const int32_t> sentence) {
      ids.insert(ids.end(), sentence.begin(), sentence.end());
      ends.push_back(int64_t(ids.size()));
    }
    std::span<const int32_t> sentence(int64_t i) const {
      return std::span(ids).subspan(size_t(ends[i]), size_t(ends[i + 1] - ends[i]));
    }
  };
  Side sides_[2];
};

}  // namespace dragoman
