#include "nn/scores/score_kind.h"

namespace dragoman {
namespace {

class AdditiveScore : public LearnedScore {
 public:
  explicit AdditiveScore(Var vector) : vector_(std::move(vector)) {}
  Var vector() const override { return vector_; }

 private:
  const Var vector_;
};

std::shared_ptr<const LearnedScore> make_additive(Parameters& p, const std::string& name, const AttentionDesign& d) {
  const int64_t keys = int64_t{d.sizes.heads} * d.sizes.key;
  return std::make_shared<AdditiveScore>(p.vector({{name + ".score.weight", keys, Init::glorot(1, d.sizes.key)}}));
}

}  // namespace

// score = w · tanh(W_q x + W_k z) (Bahdanau et al. 2015, appendix A.1.2; Luong's "concat"). tanh bounds each term.
const ScoreKind additive_score{.kernel = Score::additive,
                               .has_query_matrix = true,
                               .has_key_matrix = true,
                               .needs_norms = false,
                               .make = make_additive};

}  // namespace dragoman
