#pragma once
#include <functional>
#include <string>
#include <unordered_map>

#include "autodiff/tape.h"
#include "backend/dropout.h"

namespace dragoman {

struct AttentionShape;

/// Weights rearranged for decoding, by the address of the weight they were made from (Backend::pack).
using PackedWeights = std::unordered_map<const void*, Tensor>;

/// Copies of weights in 16 bits, by the address of the weight.
struct RoundedWeights {
  DType type = DType::bf16;  // of 16 bits
  std::unordered_map<const void*, Tensor> copies = {};
};

/// An attention of a full pass, as somebody sees it who looks (explanations, alignments).
struct ObservedAttention {
  const std::string& name;  // "decoder.3.cross_attention"
  const AttentionShape& shape;
  const Tensor& weights;  // before dropout (Backend::Attention::weights)
  const Var &value, &y;   // (Nk,H*V) (Nq,H*V): copies live on, and after Tape::backward y's node has its gradient
};
/// Called for every attention of a full pass.
using AttentionObserver = std::function<void(const ObservedAttention&)>;

/// What every op needs: where to compute, where to put results, whether to record. One for each forward pass; not
/// copied. Without a tape nothing is recorded, and the same model code scores and translates.
struct Context {
  const Backend& backend;
  Arena& arena;
  Tape* tape = nullptr;
  const PackedWeights* packed = nullptr;    // where products take their weights from, if there
  const RoundedWeights* rounded = nullptr;  // where a weight is here, its products are of 16 bits
  uint64_t seed = 0;                        // of dropout
  uint32_t update = 0;
  bool training = false;    // dropout is on
  bool shows_nan = false;   // activations are ops of their own: ReLU may make a number of NaN
  double loss_scale = 1;    // what labels' weights were multiplied by, for what adds a loss of its own
  double baseline = 0;    // of a label, of late: what hard attention compares losses with
  uint32_t random_ops = 0;  // applications of dropout so far in this pass
  const AttentionObserver* observer = nullptr;

  /// A new value; with a tape, one that takes a gradient.
  Var make(Shape shape, DType dtype) const;
  /// Memory that backward will read, or that one kernel works in.
  Tensor save(Shape shape, DType dtype) const { return arena.allocate(shape, dtype); }
  Tensor scratch(int64_t bytes) const { return arena.allocate({std::max<int64_t>(bytes, 1)}, DType::u8); }
  void record(const char* name, const Var& output, Tape::Function backward) const;

  /// The weight rearranged for decoding, or null: recorded passes use weights as they are.
  const Tensor* packed_form(const Var& weight) const;

  /// What a product of x (N,K) and the weight w (D,K) multiplies: both as they are, or both in 16 bits.
  struct Factors {
    Tensor x, w;
  };
  Factors factors(const Var& x, const Var& w) const;
  /// The type of what is multiplied where no weight is among it.
  DType factor_type(DType dtype) const { return rounded ? rounded->type : dtype; }

  /// The next dropout of this pass: which one it is, is part of the random counter. `places` (N,2) int32 says sentence
  /// and token of each row.
  Dropout dropout(double rate, const Tensor& positions);
};

/// Values for kernels that the host makes, owned by the tensor itself and mirrored.
Tensor int_tensor(std::vector<int32_t> values, Shape shape);
Tensor float_tensor(std::vector<float> values, Shape shape);

}  // namespace dragoman
