#pragma once
#include <memory>
#include <span>
#include <vector>

#include "autodiff/context.h"
#include "decode/candidates.h"
#include "model/model.h"

namespace dragoman {

/// What the models say of the next piece of each of R hypotheses: log p is the sum of the models' log-probabilities
/// times their weights, or that of the only model.
/// Where there are candidates, p is among those of the row's sentence.
class Predictions {
 public:
  int32_t piece(int64_t row, size_t choice) const;   // those that may follow, in rising order: all, or the candidates
  std::span<const float> scores(int64_t row) const;  // log p of each of these but for a constant
  float score(int64_t row, int32_t id) const { return scores(row)[choice(row, id)]; }
  float log_prob(int64_t row, int32_t id) const;  // at most 0; 0 where nobody wants it
  std::vector<float> by_model(int64_t row,
                              int32_t id) const;     // log-probabilities, unweighted; empty: there is one model
  std::span<const int32_t> best(int64_t row) const;  // the most probable pieces, as many as were asked for

 private:
  friend class Ensemble;
  struct Part {
    Tensor logits;  // (R,V)
    Tensor lse;     // (R): log Σ exp of each row
  };
  size_t choice(int64_t row, int32_t id) const;

  // All of it is where the host can read it.
  Tensor scores_;                                     // (R,V), or (R,C) with the candidates of each row from the left
  Tensor lse_;                                        // (R); none of several models, whose scores are log-probabilities
  Tensor best_;                                       // (R,k)
  std::vector<Part> parts_;                           // one a model where there are several
  std::vector<std::span<const int32_t>> candidates_;  // of each row, in rising order; empty: all pieces
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
  /// As Decoding::add. `candidates`, in rising order, are the only pieces that may follow in each sentence; either all
  /// sentences of an ensemble have some or none.
  int add(const PackedIds& source, int width, std::vector<std::vector<int32_t>> candidates = {});
  /// `best` will give the `most_probable` pieces, at least one. Log-probabilities of one model are left out where only
  /// the order of pieces matters: that saves a pass over all scores.
  Predictions step(std::span<const StepRow> rows, int64_t most_probable, bool log_probs = true);
  void remove(int sentence);

 private:
  Tensor narrowed(const Tensor& logits, std::span<const StepRow> rows) const;
  Tensor combine(Predictions& predictions, std::vector<Predictions::Part> parts) const;  // returns the scores
  void name_best(Predictions& predictions) const;

  Context& cx_;
  std::vector<Member> members_;
  Candidates candidates_;
};

}  // namespace dragoman
