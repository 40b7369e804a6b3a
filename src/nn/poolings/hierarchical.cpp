#include <cmath>

#include "nn/poolings/pooling.h"
#include "ops/dropout.h"

namespace dragoman {
namespace {

// One level of the hierarchy: Σ_i softmax_i(u·tanh(W x_i + b)) x_i over the rows of each span (Yang et al. 2016,
// equations 5 to 7).
struct Level {
  Linear projection;  // (D,D)
  Var query;          // u (1,D)

  static Level make(Parameters& p, const std::string& name, int64_t dim) {
    return {Linear::make(p, {name + ".projection"}, {dim}, dim),
            p.matrix({{name + ".query.weight", 1, {Init::normal, 1 / std::sqrt(double(dim))}}}, dim,
                     Parameters::Use::lookup)};
  }
  Var operator()(Context& cx, const Var& x, const Spans& spans) const {
    return pool_by_query(cx, query, projection(cx, x, Activation::tanh), x, spans);
  }
};

// From words to sentences to lines (Yang et al. 2016, "Hierarchical Attention Networks for Document Classification",
// section 2.2): attention pools the words of sentence i to s_i; an encoder reads s_1 … s_S, and attention pools its
// states to one vector.
class HierarchicalPooling : public Pooling {
 public:
  HierarchicalPooling(Parameters& p, int64_t dim, double dropout, const MakeEncoder& make_encoder)
      : words_(Level::make(p, "encoder.pooling.words", dim)),
        encoder_(make_encoder()),
        sentences_(Level::make(p, "encoder.pooling.sentences", dim)),
        dropout_(dropout) {}

  Var operator()(Context& cx, const EncoderStates& states, const LineRows& rows) const override {
    const Var s = words_(cx, states.all, rows.sentences);  // (S,D)
    const Var read =
        (*encoder_)(cx, dropout(cx, s, cx.dropout(dropout_, rows.positions)), rows.lines, rows.positions).all;
    return sentences_(cx, read, rows.lines);
  }

 private:
  const Level words_;
  const std::shared_ptr<const Encoder> encoder_;
  const Level sentences_;
  const double dropout_;
};

}  // namespace

std::shared_ptr<const Pooling> make_hierarchical_pooling(Parameters& p, int64_t dim, double dropout,
                                                         const MakeEncoder& make_encoder) {
  return std::make_shared<HierarchicalPooling>(p, dim, dropout, make_encoder);
}

}  // namespace dragoman
