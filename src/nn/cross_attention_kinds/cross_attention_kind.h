#pragma once
#include <memory>

#include "backend/step_keys.h"
#include "nn/attention_heads.h"
#include "nn/baseline.h"
#include "ops/guided_alignment.h"

namespace dragoman {

/// Links that the first head of an attention learns (guided alignment), and the loss that this attention adds.
struct AttentionGuide {
  std::vector<AttentionLink> links;
  Tensor loss = {};  // (Nq,1), once the attention has been computed
};

/// The rows of a decoder that attend to the encoder's output.
struct Queries {
  Var x;                            // (Nq,D), as the decoder has them
  Spans spans;                      // sentences of the rows
  Tensor positions;                 // (Nq,2)
  int64_t first = 0;                // position of the first row of each sentence
  Tensor signal = {};               // (Nq,2), rows of CrossAttention::learning_signal; or empty
  AttentionGuide* guide = nullptr;  // or null
};

/// The keys and values: sentence s of the queries sees sentence s of these.
struct KeysAndValues {
  Var k, v;  // (Ns,H*K) (Ns,H*V)
  Spans spans;
};

/// The losses of a batch, and the learning signal that is computed from them before the backward pass reads it.
struct SignalledLoss {
  Tensor signal;         // (Nt,2), made by CrossAttention::learning_signal
  Tensor loss, weights;  // (Nt), (Nt) or empty: of each target token
  Tensor rows;           // (Nt) int32: the row of `signal` for each target token
  Spans spans;           // of the target
  Baseline baseline;
};

/// How a query reads keys and values in cross-attention. Each kind is a file in this folder; make_kind() chooses.
class CrossAttentionKind {
 public:
  virtual ~CrossAttentionKind() = default;

  /// q (Nq,H*K), the projected queries  →  (Nq,H*V).
  virtual Var attend(Context& cx, const AttentionHeads& heads, const Queries& queries, const Var& q,
                     const KeysAndValues& seen) const = 0;
  /// One decoding step of queries (R,D) against keys and values in a cache (C,H*K + H*V).
  virtual Var step(Context& cx, const AttentionHeads& heads, const Var& x, const Var& q, const Tensor& cache,
                   const StepKeys& keys, int64_t longest) const;
  /// The type of that cache. Kinds that copy rows out of it do so in f32.
  virtual DType cache_type(const Context&, DType dtype) const { return dtype; }
  /// Passes the weights of all queries of sentences at once to the observer, for kinds that otherwise attend step by
  /// step.
  virtual void show(Context& cx, const AttentionHeads& heads, const Queries& queries, const Var& q,
                    const KeysAndValues& seen) const;

  /// A learning signal for `rows` queries; empty for kinds that learn by gradients alone.
  virtual Tensor learning_signal(Context& cx, int64_t rows, DType dtype) const;
  virtual void reward(Context& cx, const SignalledLoss& outcome) const;
  virtual bool learns_from_baseline() const { return false; }  // whether reward() reads the baseline
};

std::shared_ptr<const CrossAttentionKind> make_kind(Parameters& p, const std::string& name, int64_t dim,
                                                    const AttentionDesign& d);

std::shared_ptr<const CrossAttentionKind> make_soft_attention();
std::shared_ptr<const CrossAttentionKind> make_predictive_attention(Parameters& p, const std::string& name,
                                                                    int64_t dim);
std::shared_ptr<const CrossAttentionKind> make_hard_attention(const AttentionDesign& d);

/// The weighted mean of the values (Vaswani et al. 2017, equation 1), in the window of the design. Other kinds use it
/// to show their weights.
Var attend_softly(Context& cx, const AttentionHeads& heads, const Queries& queries, const Var& q,
                  const KeysAndValues& seen);

}  // namespace dragoman
