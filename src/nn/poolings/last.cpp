#include "nn/poolings/pooling.h"
#include "ops/rows.h"

namespace dragoman {
namespace {

// e = the last state of each direction: [h_N; g_1] (Sutskever et al. 2014, section 2)
class LastPooling : public Pooling {
 public:
  Var operator()(Context& cx, const EncoderStates& states, const LineRows& rows) const override {
    std::vector<int32_t> first, last;
    for (int s = 0; s < rows.sentences.sentences(); ++s) {
      first.push_back(int32_t(rows.sentences[s].begin));
      last.push_back(int32_t(rows.sentences[s].end - 1));
    }
    const auto B = int64_t(last.size());
    const Var h = gather_rows(cx, states.forward, int_tensor(std::move(last), {B}));
    if (!states.backward) return h;
    return join_columns(cx, h, gather_rows(cx, states.backward, int_tensor(std::move(first), {B})));
  }
};

}  // namespace

std::shared_ptr<const Pooling> make_last_pooling() { return std::make_shared<LastPooling>(); }

}  // namespace dragoman
