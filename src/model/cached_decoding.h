#pragma once
#include <optional>

#include "model/copy_head.h"
#include "model/decoded_past.h"
#include "model/held_rows.h"
#include "model/output_layer.h"
#include "nn/cross_attention.h"

namespace dragoman {

/// What all models share in decoding. From add() to remove(), a sentence holds rows of two caches: one stores what the
/// model reads about the source, the other what it reads about the decoded past. The output layer computes logits of
/// all or of some pieces, mixed with copies. A model writes the caches and computes the steps.
class CachedDecoding : public Decoding {
 public:
  CachedDecoding(const CachedDecoding&) = delete;

  void add(int first, const PackedIds& source, int width) final;
  void restrict(std::span<const int32_t> pieces) final;
  Tensor step(std::span<const StepRow> rows) final { return compute(rows, past_.step(rows)); }
  void accept_ahead(std::span<const StepRow> rows) final { past_.follow(rows); }
  void keep() final { past_.keep(); }
  void keep_attention() final;
  void show_attention(const AttentionObserver& observer, std::span<const DecodedTokens> hypotheses) final;
  void remove(int sentence) override;

 protected:
  /// `copy` may be null.
  CachedDecoding(Context& cx, CacheRows source_cache, CacheRows past_cache, OutputWeights output, const CopyHead* copy);

  /// Number of cache rows that the past of each sentence begins with; none by default.
  virtual Spans prefix_of(const Spans& source) const;
  /// Encodes the sentences first, first + 1, … and writes what steps will read: into `rows` (N) of the source cache,
  /// one for each token, and into the rows of the past cache that prefix_of() requested. Returns the encoder's output
  /// (N,D).
  virtual Var encode(int first, const PackedIds& source, const Tensor& rows, const Tensor& prefix) = 0;
  /// Next-token logits of each row (Decoding::step); writes the rows past.cached of the past cache.
  virtual Tensor compute(std::span<const StepRow> rows, const DecodedPast::Step& past) = 0;

  /// The cross-attention that alignments are taken from.
  struct Shown {
    const CrossAttention* attention = nullptr;  // null: the model has none
    int layer = 0;                              // of the source cache, with its keys and values
    int64_t dim = 0;                            // of its queries
    DType dtype = DType::f32;
  };
  virtual Shown shown() const { return {}; }
  /// Keeps the queries x (R,dim) of that attention, as compute() has them, in rows (R) of the past cache.
  void keep_queries(Context& cx, const Var& x, const Tensor& rows);
  /// The layer of the past cache that they are kept in; -1: they are not.
  int query_layer() const { return queries_; }

  /// The logits of hidden states x (R,D), for compute().
  Tensor logits(Context& cx, std::span<const StepRow> rows, const Var& x) const;

  Context& cx_;
  CacheRows source_cache_, past_cache_;
  HeldRows sources_, prefixes_;
  DecodedPast past_;
  OutputLayer output_;

 private:
  std::optional<CopySources> copies_;
  int queries_ = -1;  // query_layer()
};

}  // namespace dragoman
