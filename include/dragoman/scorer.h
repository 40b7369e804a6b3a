#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dragoman {

class Engine;

struct ScorerOptions {
  std::string model = {};                // file
  int64_t mini_batch_words = 4096;       // target tokens scored at once
  int max_length = 10'000;               // pieces per side; longer pairs are an Error
  std::vector<std::string> vocabs = {};  // for another program's model, if no file beside it names them
  std::string source_lang = {};          // for a multilingual model; empty: as stored in the model
  std::string target_lang = {};
};

/// The scores of a pair of lines.
struct ScoredPair {
  double log_prob = 0;                 // log p(target | source), base e
  std::vector<float> token_log_probs;  // of each target token, end of sentence included
};

/// Scores pairs of lines as `dragoman score` does. Several scorers may be in use at once, on one engine or on several;
/// each of them is used by one thread at a time.
class [[gnu::visibility("default")]] Scorer {
 public:
  /// Loads the model. Error for a file that is not a model and for options out of bounds. The engine must outlive the
  /// scorer.
  Scorer(Engine & engine, ScorerOptions options);
  ~Scorer();
  Scorer(const Scorer&) = delete;

  /// The scores of the pairs, in their order; each depends on its pair alone, to the bit. Many at once are faster.
  /// Error for sides of different numbers of lines and for a pair that is too long, which it calls by its number from
  /// 1, after `pairs_before` others.
  std::vector<ScoredPair> score(const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                                int64_t pairs_before = 0);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace dragoman
