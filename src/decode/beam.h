#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "decode/options.h"

namespace dragoman {

/// A translation that a search found.
struct Hypothesis {
  std::vector<int32_t> ids;  // without </s>
  double log_prob = 0;       // of all pieces, </s> included
  double score = 0;          // by which hypotheses are compared (decode/scoring.h)
  int length = 0;            // pieces that were predicted: the ids and </s>, which is missing at the length limit
  bool operator==(const Hypothesis&) const = default;
};

/// The best continuations of one hypothesis, best first.
struct Continuations {
  std::span<const float> logits;
  std::span<const int32_t> ids;  // as many
  float lse;                     // log Σ exp of all logits of the row
};

/// The hypotheses of one sentence as they grow by a piece a step. The rule is Marian's: a hypothesis that ends takes
/// its place in the beam with it, so a search is over when `beam_size` have ended. It is over sooner when no live one
/// can still come among the n best, which changes nothing in the result. At the length limit live ones are taken as
/// they are. Equal probabilities are ordered by hypothesis, then by id: the result depends on its arguments only.
class Beam {
 public:
  /// A hypothesis to continue: `parent` is its place in live() one step before, -1 at the start.
  struct Live {
    int parent;
    int32_t token;
    double log_prob;
    int node;  // of its last piece
  };

  Beam(const SearchOptions& options, int source_pieces);

  const std::vector<Live>& live() const { return live_; }      // best first; empty when the search is over
  void advance(std::span<const Continuations> continuations);  // one for each of live()
  std::vector<Hypothesis> best() const;                        // the n best that ended, best first

 private:
  struct Candidate {
    double log_prob;
    int parent;
    int32_t id;
  };
  struct Node {
    int previous;
    int32_t id;
  };
  struct Ended {
    double score, log_prob;
    int node, length;
  };

  std::vector<Candidate> best_candidates(std::span<const Continuations> continuations) const;
  bool forbidden(int32_t id) const;
  bool can_improve() const;
  void end(int node, double log_prob);
  size_t wanted() const { return size_t(std::max(1, options_->n_best)); }

  const SearchOptions* options_;
  int limit_;
  int length_ = 0;  // steps done
  std::vector<Live> live_;
  std::vector<Node> nodes_;   // pieces of all hypotheses, each with the one before it
  std::vector<Ended> ended_;  // best first
};

}  // namespace dragoman
