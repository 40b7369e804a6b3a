#pragma once
#include <memory>

#include "backend/attention_shape.h"
#include "nn/attention_design.h"
#include "nn/parameters.h"

namespace dragoman {

/// The parameters of a score besides projections.
class LearnedScore {
 public:
  virtual ~LearnedScore() = default;
  virtual Var vector() const { return {}; }  // (H*K), of Score::additive
  /// Keys (N,H*K) that replace projected ones; empty: there are none. positions (N,2)
  virtual Var keys(Context& cx, const Tensor& positions) const;
};

/// One kind of score. A new kind is a file in nn/scores/ that defines its ScoreKind, a value of AttentionScore, and a
/// declaration and a case here.
struct ScoreKind {
  Score kernel = Score::dot;          // the kernels' score of q and k
  bool has_query_matrix = false;      // W_q belongs to the score: Projections::none keeps it
  bool has_key_matrix = false;        // the same for W_k
  bool excludes_projections = false;  // projections would duplicate its matrices
  bool needs_norms = true;            // grows with the norms of queries and keys, which HeadNorm bounds
  bool keys_from_positions = false;   // LearnedScore::keys makes the keys, on the host
  /// Null: it has no parameters but projections.
  std::shared_ptr<const LearnedScore> (*make)(Parameters& p, const std::string& name,
                                              const AttentionDesign& d) = nullptr;
};

extern const ScoreKind scaled_dot_score, dot_score, additive_score, bilinear_score, reduced_rank_score, location_score;

const ScoreKind& score_kind(AttentionScore score);

}  // namespace dragoman
