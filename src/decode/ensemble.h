#pragma once
#include <memory>
#include <span>
#include <vector>

#include "align/alignment.h"
#include "decode/candidates.h"
#include "decode/search_rule.h"

namespace dragoman {

class Decoding;
class QueuedStep;
struct Context;
struct DecodedTokens;
struct PackedIds;
struct StepRow;

/// How the rows of a step are expected to continue, so that a device can compute the next step before the host has seen
/// this one: with the best pieces, into as many rows of each sentence as it has.
struct AheadRequest {
  std::vector<int32_t> first;       // (B+1): where each sentence begins among the rows
  std::vector<int32_t> compared;    // (B): how many continuations of a sentence compete
  std::vector<double> log_probs;    // (R): of each row's hypothesis
  std::vector<int32_t> suppressed;  // ids that no row may continue with
  int32_t end = 0;                  // the id that ends a hypothesis
};

/// The best pieces of each row of a step, which the device may still be computing.
struct TopPieces {
  Tensor scores, ids;  // (R,k)
  Tensor lse;          // (R), or empty
};

/// What a search needs to know about the next token of its hypotheses. Requesting less saves computation and transfers
/// from a GPU.
struct PredictionRequest {
  int64_t best = 1;       // number of most probable pieces per row, at least 1
  bool all = false;       // whether the search needs the scores of all pieces
  bool log_probs = true;  // false: only the order of pieces, which saves a pass over the scores of one model
};

/// The models' predictions for the next token of each of R hypotheses: log p is the log-probability of the only model,
/// the weighted sum of the models' log-probabilities, or by the arithmetic mean the logarithm of the weighted mean of
/// their probabilities. With candidates, these are normalised over the candidates of the row's sentence.
class Predictions {
 public:
  std::span<const int32_t> best(int64_t row) const;  // the requested number of most probable pieces
  std::span<const float> best_scores(int64_t row) const;
  float score(int64_t row, int32_t id) const;  // log p up to a constant, of the best pieces, or of all if requested
  /// log p, at most 0; 0 if not requested. `from`: the index in best() at which the search for the id begins; set to
  /// the one after the index found.
  float log_prob(int64_t row, int32_t id, size_t& from) const;
  std::vector<float> by_model(int64_t row,
                              int32_t id) const;     // log-probabilities, unweighted; empty for one model
  int32_t piece(int64_t row, size_t choice) const;   // all allowed pieces (all, or the candidates), in ascending order
  bool allows(int64_t row, int32_t id) const;        // whether the row may continue with it
  std::span<const float> scores(int64_t row) const;  // of all allowed pieces, if requested
  bool has_all_scores() const { return bool(scores_); }

 private:
  friend class Ensemble;
  struct MemberLogits {
    Tensor logits;  // (R,V)
    Tensor lse;     // (R): log Σ exp of each row
  };
  size_t choice(int64_t row, int32_t id) const;
  size_t rank(int64_t row, int32_t id, size_t from) const;  // its index in best(), searched first from index `from` on
  int64_t choices(int64_t row) const;

  // All tensors are host-readable.
  Tensor scores_;              // (R,V), or (R,C) with each row's candidates in the first columns; empty: not requested
  Tensor lse_;                 // (R); empty for several models, whose scores are log-probabilities
  Tensor best_, best_scores_;  // (R,k) each
  std::vector<MemberLogits> by_member_;               // one per model if there are several
  std::vector<std::span<const int32_t>> candidates_;  // of each row, in ascending order; empty: all pieces
};

/// Models that translate together, token by token. They may be of different kinds but share the target vocabulary. As
/// with one model, a row's result depends only on its sentence and its tokens, bit for bit.
class Ensemble {
 public:
  struct Member {
    std::unique_ptr<Decoding> decoding;
    double weight = 1;  // at least 0, not all 0; ignored for a single member
  };

  /// Allocates from the context, which must outlive the ensemble.
  Ensemble(Context& cx, std::vector<Member> members, Conventions conventions = conventions_of(),
           EnsembleMean mean = EnsembleMean::automatic);
  Ensemble(Ensemble&&) noexcept;
  ~Ensemble();

  const Conventions& conventions() const { return conventions_; }
  size_t size() const { return members_.size(); }
  /// Encodes more sentences with at most `width` rows each. Returns the handle of the first one; the others have the
  /// next handles. `candidates`, in ascending order, are the only pieces allowed in each sentence; either all sentences
  /// of an ensemble have candidates or none has. If it throws, nothing has changed.
  int add(const PackedIds& source, int width, std::vector<std::vector<int32_t>> candidates = {});
  /// With `ahead`, a device also computes the step after this one before it sends the results of this one, so that it
  /// works while the search does. The next call takes that step if its rows are as expected, and repeats it if not.
  Predictions step(std::span<const StepRow> rows, const PredictionRequest& request,
                   const AheadRequest* ahead = nullptr);
  /// Whether steps may be computed ahead.
  bool may_step_ahead() const;
  /// Whether kernels run on a device, beside the host.
  bool on_device() const;
  /// Begins a step on a device, which computes it while the host does other things. The next step() takes it if it has
  /// these rows. If it throws, nothing has begun.
  void begin(std::span<const StepRow> rows, const PredictionRequest& request);
  /// Whether the next step has begun.
  bool is_ahead() const { return bool(ahead_); }
  void keep();            // Decoding::keep
  void keep_attention();  // Decoding::keep_attention of the first model
  /// The alignments of hypotheses by the first model, also of tokens that are given (Decoding::show_attention). That of
  /// a hypothesis without tokens is empty.
  std::vector<Alignment> align(std::span<const DecodedTokens> hypotheses) const;
  void remove(int sentence);

 private:
  void restrict();
  Predictions predictions_for(std::span<const StepRow> rows) const;
  Tensor narrowed(const Tensor& logits, std::span<const StepRow> rows) const;
  Predictions step_alone(std::span<const StepRow> rows, const PredictionRequest& request, const AheadRequest* ahead);
  std::unique_ptr<QueuedStep> step_ahead(QueuedStep& now, std::span<const StepRow> rows,
                                         const AheadRequest& request) const;
  Predictions step_together(std::span<const StepRow> rows, const PredictionRequest& request);
  TopPieces find_best(const Tensor& logits, int64_t count, bool with_lse) const;
  Tensor combine(Predictions& predictions, std::vector<Predictions::MemberLogits> parts) const;  // returns the scores
  void map_best_to_pieces(Predictions& predictions) const;

  Context& cx_;
  std::vector<Member> members_;
  Conventions conventions_;
  const bool adds_probabilities_;  // else log-probabilities
  Candidates candidates_;
  int next_ = 0;                       // handle
  std::unique_ptr<QueuedStep> ahead_;  // the next step, if it has begun
  bool kept_ = true;                   // whether the last step has been kept
};

}  // namespace dragoman
