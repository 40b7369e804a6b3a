#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/structure.h"

namespace dragoman {

/// Makes hostile inputs out of sound ones: bits flipped, runs of bytes lost, doubled, foreign, numbers that are too
/// large, words of the format where others were, and changes of its structure. The input of a number depends on nothing
/// else, so that a crash can be repeated.
class Mutator {
 public:
  explicit Mutator(std::vector<std::string> seeds) : seeds_(std::move(seeds)), structure_(seeds_) {}

  /// The seeds come first, unchanged.
  std::string input(uint64_t number);

 private:
  void mutate(std::string& bytes);
  void mutate_bytes(std::string& bytes);
  void replace_number(std::string& bytes);
  void replace_word(std::string& bytes);
  size_t position(const std::string& bytes);  // headers matter more than what follows
  size_t below(size_t size) { return size_t(random_() % size); }

  std::vector<std::string> seeds_;
  Structure structure_;
  Random random_;
};

}  // namespace dragoman
