#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "decode/options.h"
#include "decode/picker.h"

namespace dragoman {

/// What is to be translated.
struct Sentence {
  std::vector<int32_t> source;       // pieces without </s>
  std::vector<int32_t> prefix = {};  // what its translation must begin with
  uint64_t line = 0, part = 0;       // key random draws: which line of the input, which part of a long one
};

/// A translation that was found.
struct Hypothesis {
  std::vector<int32_t> ids;  // without </s>
  double log_prob = 0;       // of all pieces, </s> included
  double score = 0;          // by which hypotheses are compared (decode/scoring.h)
  int length = 0;            // pieces that were predicted: the ids and </s>, which is missing at the length limit
  std::vector<float> piece_log_probs = {};  // of each of these
  std::vector<double> by_model = {};        // log_prob under each model, unweighted; empty: there is one
  bool operator==(const Hypothesis&) const = default;
};

/// The hypotheses of one sentence as they grow by a piece a step. The rule is Marian's: a hypothesis that ends takes
/// its place in the beam with it, so a search is over when `beam_size` have ended. It is over sooner when no live one
/// can still come among the n best, which changes nothing in the result. At the length limit live ones are taken as
/// they are, also where no piece may follow. Equal probabilities are ordered by hypothesis, then by id: the result
/// depends on its arguments only.
class Beam {
 public:
  /// A hypothesis to continue: `parent` is its place in live() one step before, -1 at the start.
  struct Live {
    int parent;
    int32_t token;
    double log_prob;
    int node;  // of its last piece
  };

  Beam(const SearchOptions& options, const Sentence& sentence);

  const std::vector<Live>& live() const { return live_; }                  // best first; empty when the search is over
  std::vector<Request> requests() const;                                   // one for each of live()
  void advance(std::span<const std::vector<Continuation>> continuations);  // answers to them
  std::vector<Hypothesis> best() const;                                    // the n best that ended, best first

 private:
  struct Candidate {
    double log_prob;  // of the whole hypothesis
    int parent;
    const Continuation* next;
  };
  struct Node {
    int previous;
    int32_t id;
    float log_prob;
    std::vector<float> by_model;
  };
  struct Ended {
    double score, log_prob;
    int node, length;
  };

  std::vector<Candidate> best_candidates(std::span<const std::vector<Continuation>> continuations) const;
  std::vector<int32_t> forbidden(const Live& hypothesis) const;
  std::vector<int32_t> pieces(int node) const;
  Hypothesis hypothesis(const Ended& ended) const;
  bool can_improve() const;
  void end(int node, double log_prob);
  void end_all();
  size_t positions() const { return size_t(options_->beam_size) - ended_.size(); }
  size_t wanted() const { return size_t(std::max(1, options_->n_best)); }

  const SearchOptions* options_;
  std::vector<int32_t> prefix_;
  PhiloxCounter draw_;
  int limit_, least_;  // pieces
  int length_ = 0;     // steps done
  std::vector<Live> live_;
  std::vector<Node> nodes_;   // pieces of all hypotheses, each with the one before it
  std::vector<Ended> ended_;  // best first
};

}  // namespace dragoman
