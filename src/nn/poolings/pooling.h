#pragma once
#include <memory>

#include "nn/encoders/encoder.h"

namespace dragoman {

/// The rows of lines of text. Most encoders read a line as one sentence.
struct LineRows {
  Spans sentences;   // S sentences over N rows, each read by itself
  Spans lines;       // B lines over S sentences
  Tensor positions;  // (S,2): line of the corpus, sentence in the line
};

/// Pools the states of each line to one vector, with which a decoder begins. Each kind is a file in this folder.
class Pooling {
 public:
  virtual ~Pooling() = default;
  virtual Var operator()(Context& cx, const EncoderStates& states, const LineRows& rows) const = 0;  // (B,D)
};

std::shared_ptr<const Pooling> make_last_pooling();
std::shared_ptr<const Pooling> make_sum_pooling();
std::shared_ptr<const Pooling> make_mean_pooling();
std::shared_ptr<const Pooling> make_attention_pooling(Parameters& p, int64_t dim);
/// `encoder` reads the vectors of sentences; `make_encoder` is called once.
using MakeEncoder = std::function<std::shared_ptr<const Encoder>()>;
std::shared_ptr<const Pooling> make_hierarchical_pooling(Parameters& p, int64_t dim, double dropout,
                                                         const MakeEncoder& make_encoder);

/// Attention to a learned query (1,D): Σ_i softmax_i(query·k_i) v_i over the rows of each span.
/// k, v (N,D)  →  (B,D).
Var pool_by_query(Context& cx, const Var& query, const Var& k, const Var& v, const Spans& spans);

}  // namespace dragoman
