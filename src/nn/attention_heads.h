#pragma once
#include "nn/layers.h"
#include "nn/scores/score_kind.h"
#include "ops/attention.h"

namespace dragoman {

/// The source of queries, keys or values: columns of a product from `first` on, or the vectors themselves.
struct Role {
  int64_t first = -1, count = 0;
  bool projected() const { return first >= 0; }
  Var of(const Var& product, const Var& x) const { return projected() ? columns(product, first, count) : x; }
};

/// The projections of one vector to its roles in attention: one product for all of them.
class RoleProduct {
 public:
  explicit RoleProduct(std::string attention) : attention_(std::move(attention)) {}
  /// The query's role; none if the design does not project queries.
  Role add_query(const AttentionDesign& d);
  struct KeyAndValue {
    Role key, value;  // the same one with Projections::key_value
  };
  KeyAndValue add_key_and_value(const AttentionDesign& d);
  Linear make(Parameters& p, int64_t dim, double gain) const;  // empty if nothing is projected

 private:
  Role add(const std::string& part, int64_t count);

  const std::string attention_;
  std::vector<std::string> names_;
  std::vector<int64_t> rows_;
  int64_t columns_ = 0;
};

/// The parts that self- and cross-attention share: the score, norms of heads and the projection of the result.
struct AttentionHeads {
  std::string name;
  AttentionDesign design;
  Linear output;                                     // or empty
  std::shared_ptr<const LearnedScore> learned = {};  // or null
  Var distances = {};                                // (2R+1,K), relative positions; or empty
  Var distance_values = {};                          // (V,2R+1), of values; or empty
  Norm query_norm = {}, key_norm = {};               // (K) for all heads, or empty

  static AttentionHeads make(Parameters& p, const std::string& name, int64_t dim, const AttentionDesign& design);

  int64_t key_columns() const { return int64_t{design.sizes.heads} * design.sizes.key; }      // H*K
  int64_t value_columns() const { return int64_t{design.sizes.heads} * design.sizes.value; }  // H*V
  Score score() const { return score_kind(design.score).kernel; }
  Var queries(Context& cx, const Var& q) const { return normed(cx, query_norm, q); }
  struct KeyValue {
    Var k, v;  // (N,H*K) (N,H*V)
  };
  /// Keys and values of x, whose rows are at `positions` (N,2); `product` holds the projections of x, or is empty.
  KeyValue keys_and_values(Context& cx, const Var& product, const Role& key, const Role& value, const Var& x,
                           const Tensor& positions) const;
  ScoreInputs score_inputs(Context& cx, const Var& q, const Var& bias) const;
  StepShape step_shape(const StepKeys& keys, int64_t longest) const;
  Var result(Context& cx, const Var& y) const { return output.weight ? output(cx, y) : y; }

 private:
  Var normed(Context& cx, const Norm& norm, const Var& x) const;
};

/// Writes keys and values into rows of a cache (C,H*K + H*V).
void cache_rows(Context& cx, const Tensor& cache, const Tensor& rows, const Var& k, const Var& v);

}  // namespace dragoman
