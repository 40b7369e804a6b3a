#pragma once
#include <memory>
#include <span>
#include <vector>

#include "autodiff/context.h"
#include "decode/candidates.h"
#include "model/model.h"

namespace dragoman {

/// What a search wants to know of the next piece of its hypotheses. The less it is, the less has to be computed, and to
/// be fetched from a GPU.
struct PredictionRequest {
  int64_t best = 1;       // the most probable pieces of each row, at least one
  bool all = false;       // whether it looks at others, too
  bool log_probs = true;  // or only at the order of pieces: that saves a pass over the scores of one model
};

/// What the models say of the next piece of each of R hypotheses: log p is the sum of the models' log-probabilities
/// times their weights, or that of the only model.
/// Where there are candidates, p is among those of the row's sentence.
class Predictions {
 public:
  std::span<const int32_t> best(int64_t row) const;  // the most probable pieces, as many as were asked for
  std::span<const float> best_scores(int64_t row) const;
  float score(int64_t row, int32_t id) const;     // log p but for a constant; of the best, or of all that may follow
  float log_prob(int64_t row, int32_t id) const;  // at most 0; 0 where nobody wants it
  std::vector<float> by_model(int64_t row,
                              int32_t id) const;     // log-probabilities, unweighted; empty: there is one model
  int32_t piece(int64_t row, size_t choice) const;   // those that may follow, in rising order: all, or the candidates
  std::span<const float> scores(int64_t row) const;  // of each of these, where all were asked for

 private:
  friend class Ensemble;
  struct MemberLogits {
    Tensor logits;  // (R,V)
    Tensor lse;     // (R): log Σ exp of each row
  };
  size_t choice(int64_t row, int32_t id) const;
  int64_t choices(int64_t row) const;

  // All of it is where the host can read it.
  Tensor scores_;              // (R,V), or (R,C) with the candidates of each row from the left; empty: not asked for
  Tensor lse_;                 // (R); none of several models, whose scores are log-probabilities
  Tensor best_, best_scores_;  // (R,k) each
  std::vector<MemberLogits> by_member_;               // one a model where there are several
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
  Predictions step(std::span<const StepRow> rows, const PredictionRequest& request);
  void remove(int sentence);

 private:
  Tensor narrowed(const Tensor& logits, std::span<const StepRow> rows) const;
  struct Top {
    Tensor scores, ids, lse;  // (R,k) each, (R), for the host
  };
  Top find_best(const Tensor& logits, int64_t count, bool with_lse) const;
  Tensor combine(Predictions& predictions, std::vector<Predictions::MemberLogits> parts) const;  // returns the scores
  void name_best(Predictions& predictions) const;

  Context& cx_;
  std::vector<Member> members_;
  Candidates candidates_;
};

}  // namespace dragoman
