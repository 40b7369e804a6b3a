#pragma once
#include <map>
#include <optional>

#include "model/held_rows.h"
#include "model/model.h"
#include "nn/layers.h"

namespace dragoman {

/// A pointer-generator's head (See, Liu & Manning 2017, equations 8 and 9): where the next piece is copied from, and
/// how likely it is to be copied at all. An attention of its own, one head as wide as the decoder, looks from the
/// decoder's output at the encoder's; the gate reads the decoder's output, which holds the word before and what
/// cross-attention brought. Source and target share one vocabulary.
struct CopyHead {
  Linear query_and_gate;  // (K+1,D)
  Linear key;             // (K,M)

  /// D columns of the decoder's output, M of the encoder's.
  static CopyHead make(Parameters& p, int64_t dim, int64_t memory_dim);
  /// The probability of copying each target token of a batch.  x (Nt,D)  memory (Ns,M)
  Copying operator()(Context& cx, const Var& x, const Var& memory, const Batch& batch) const;
  struct Asked {
    Var query, gate;  // (N,K)  (N,1)
  };
  Asked ask(Context& cx, const Var& x) const;
};

/// For a model whose encoder's output has `memory_dim` columns. Error unless both sides can have the same pieces.
CopyHead make_copy_head(Parameters& p, const ModelConfig& config, int64_t memory_dim);

/// What can be copied while sentences are decoded: keys and pieces of their sources.
class CopySources {
 public:
  /// Head and context outlive it.
  CopySources(Context& cx, const CopyHead& head, DType dtype)
      : cx_(cx), head_(head), keys_(cx, 1, head.key.weight.rows(), dtype), held_(keys_) {}
  CopySources(const CopySources&) = delete;

  /// Sentences of handles from `first` on; memory (Ns,M) is the encoder's output for them.
  void add(int first, const PackedIds& source, const Var& memory);
  void remove(int sentence);
  /// logits (R,V) of x (R,D) become log p of each piece, in their place.
  Tensor mix(std::span<const StepRow> rows, const Var& x, const Tensor& logits) const;

 private:
  Context& cx_;
  const CopyHead& head_;
  CacheRows keys_;
  HeldRows held_;
  std::map<int, std::vector<int32_t>> pieces_;
};

/// The same for all target tokens of a batch at once.  x (Nt,D)  memory (Ns,M)  logits (Nt,V)
Tensor mix_copies(Context& cx, const CopyHead& head, const Batch& batch, const Var& x, const Var& memory,
                  const Tensor& logits);

}  // namespace dragoman
