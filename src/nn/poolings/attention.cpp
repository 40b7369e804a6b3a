#include <cmath>

#include "nn/poolings/pooling.h"

namespace dragoman {
namespace {

// e = Σ_n softmax_n(u·z_n) z_n with a learned query u
class AttentionPooling : public Pooling {
 public:
  explicit AttentionPooling(Var query) : query_(std::move(query)) {}

  Var operator()(Context& cx, const EncoderStates& states, const LineRows& rows) const override {
    return pool_by_query(cx, query_, states.all, states.all, rows.sentences);
  }

 private:
  const Var query_;  // (1,D)
};

}  // namespace

std::shared_ptr<const Pooling> make_attention_pooling(Parameters& p, int64_t dim) {
  return std::make_shared<AttentionPooling>(p.matrix(
      {{"encoder.pooling.query.weight", 1, {Init::normal, 1 / std::sqrt(double(dim))}}}, dim, Parameters::Use::lookup));
}

}  // namespace dragoman
