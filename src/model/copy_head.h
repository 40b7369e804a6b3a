#pragma once
#include <map>

#include "model/held_rows.h"
#include "model/model.h"
#include "nn/layers.h"

namespace dragoman {

/// The head of a pointer-generator network (See, Liu & Manning 2017, equations 8 and 9): where the next piece is copied
/// from, and the probability of copying at all. Its own attention, one head as wide as the decoder, has the decoder's
/// output as queries and the encoder's output as keys. The gate reads the decoder's output, which depends on the word
/// before and on cross-attention. Source and target share one vocabulary.
struct CopyHead {
  Linear query_and_gate;  // (K+1,D)
  Linear key;             // (K,M)

  /// D, M: sizes of the decoder's and the encoder's output.
  static CopyHead make(Parameters& p, int64_t dim, int64_t encoded_dim);
  /// The probability of copying each target token of a batch.  x (Nt,D)  encoded (Ns,M)
  Copying operator()(Context& cx, const Var& x, const Var& encoded, const Batch& batch) const;
  struct Query {
    Var query, gate;  // (N,K)  (N,1)
  };
  Query query_of(Context& cx, const Var& x) const;
};

/// For a model whose encoder's output has size `encoded_dim`. Error unless both sides can have the same pieces.
CopyHead make_copy_head(Parameters& p, const ModelConfig& config, int64_t encoded_dim);

/// What can be copied during decoding: keys and pieces of the sources.
class CopySources {
 public:
  /// Head and context outlive it.
  CopySources(Context& cx, const CopyHead& head, DType dtype)
      : cx_(cx), head_(head), keys_(cx, 1, head.key.weight.rows(), dtype), held_(keys_) {}
  CopySources(const CopySources&) = delete;

  /// Adds sentences with handles from `first` on; encoded (Ns,M) is their encoder output.
  void add(int first, const PackedIds& source, const Var& encoded);
  void remove(int sentence);
  /// Turns the logits (R,V) of x (R,D) into log-probabilities, in place.
  Tensor mix(std::span<const StepRow> rows, const Var& x, const Tensor& logits) const;

 private:
  Context& cx_;
  const CopyHead& head_;
  CacheRows keys_;
  HeldRows held_;
  std::map<int, std::vector<int32_t>> pieces_;
};

/// The same for all target tokens of a batch at once.  x (Nt,D)  encoded (Ns,M)  logits (Nt,V)
Tensor mix_copies(Context& cx, const CopyHead& head, const Batch& batch, const Var& x, const Var& encoded,
                  const Tensor& logits);

}  // namespace dragoman
