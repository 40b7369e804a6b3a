#pragma once
#include <memory>
#include <span>
#include <vector>

#include "autodiff/context.h"
#include "model/model.h"

namespace dragoman {

/// What the models say of the next piece of each of R hypotheses: log p is the sum of the models' log-probabilities
/// times their weights, or that of the only model.
class Predictions {
 public:
  int64_t vocabulary() const { return scores_.cols(); }
  std::span<const float> scores(int64_t row) const;  // log p of every piece but for a constant
  float log_prob(int64_t row, int32_t id) const;     // at most 0
  std::vector<float> by_model(int64_t row,
                              int32_t id) const;     // log-probabilities, unweighted; empty: there is one model
  std::span<const int32_t> best(int64_t row) const;  // the most probable pieces, as many as were asked for

 private:
  friend class Ensemble;
  struct Part {
    Tensor logits;  // (R,V)
    Tensor lse;     // (R): log Σ exp of each row
  };
  Tensor scores_;            // (R,V)
  Tensor lse_;               // (R), none where the scores are log-probabilities
  Tensor best_;              // (R,k)
  std::vector<Part> parts_;  // one a model where there are several
};

/// Models that translate together, piece by piece. They may be of any kinds that share the target vocabulary. What
/// becomes of a row depends on its sentence and its tokens only, to the bit, as with one model.
class Ensemble {
 public:
  struct Member {
    std::unique_ptr<Decoding> decoding;
    double weight = 1;  // at least 0; counts only where there are several members
  };

  /// Memory comes from the context, which outlives the ensemble.
  Ensemble(Context& cx, std::vector<Member> members);

  size_t size() const { return members_.size(); }
  int add(const PackedIds& source, int width);                             // as Decoding::add
  Predictions step(std::span<const StepRow> rows, int64_t most_probable);  // which `best` gives; at least 1
  void remove(int sentence);

 private:
  Predictions combined(std::vector<Predictions::Part> parts) const;

  Context& cx_;
  std::vector<Member> members_;
};

}  // namespace dragoman
