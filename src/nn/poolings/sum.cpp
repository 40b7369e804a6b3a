#include "nn/poolings/pooling.h"
#include "ops/rows.h"

namespace dragoman {
namespace {

// e = Σ_n z_n
class SumPooling : public Pooling {
 public:
  Var operator()(Context& cx, const EncoderStates& states, const LineRows& rows) const override {
    return pool(cx, states.all, rows.sentences, Pool::sum);
  }
};

}  // namespace

std::shared_ptr<const Pooling> make_sum_pooling() { return std::make_shared<SumPooling>(); }

}  // namespace dragoman
