#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace dragoman {

/// Makes hostile inputs out of sound ones: bits flipped, runs of bytes lost, doubled, foreign, numbers that are too
/// large. The input of a number depends on nothing else, so that a crash can be repeated.
class Mutator {
 public:
  explicit Mutator(std::vector<std::string> seeds) : seeds_(std::move(seeds)) {}

  /// The seeds come first, unchanged.
  std::string input(uint64_t number);

 private:
  void mutate(std::string& bytes);
  void replace_number(std::string& bytes);
  size_t position(const std::string& bytes);  // headers matter more than what follows
  size_t below(size_t size) { return size_t(random_() % size); }

  std::vector<std::string> seeds_;
  std::mt19937_64 random_;
};

}  // namespace dragoman
