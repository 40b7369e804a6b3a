#include <algorithm>

#include "nn/scores/score_kind.h"
#include "ops/embedding.h"

namespace dragoman {
namespace {

class LocationScore : public LearnedScore {
 public:
  explicit LocationScore(Var table) : table_(std::move(table)) {}

  // Positions beyond the last row share it.
  Var keys(Context& cx, const Tensor& positions) const override {
    std::vector<int32_t> ids(positions.rows());
    for (int64_t n = 0; n < positions.rows(); ++n)
      ids[n] = std::min<int32_t>(positions.view<int32_t>()(n, 1), int32_t(table_.rows()) - 1);
    const Tensor rows = int_tensor(std::move(ids), {positions.rows()});
    return embedding(cx, {rows, positions, table_, Var(), 1}, {});
  }

 private:
  const Var table_;  // (P,H*K)
};

std::shared_ptr<const LearnedScore> make_location(Parameters& p, const std::string& name, const AttentionDesign& d) {
  const int64_t keys = int64_t{d.sizes.heads} * d.sizes.key;
  return std::make_shared<LocationScore>(
      p.matrix({{name + ".location.positions.weight", d.locations, Init::glorot(d.locations, keys)}}, keys,
               Parameters::Use::lookup));
}

}  // namespace

// score = q·l_j, with a learned vector l_j for each position j (Luong et al. 2015, equation 9, "location")
const ScoreKind location_score{
    .kernel = Score::dot, .needs_norms = false, .keys_from_positions = true, .make = make_location};

}  // namespace dragoman
