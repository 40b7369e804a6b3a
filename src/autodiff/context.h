#pragma once
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "autodiff/tape.h"
#include "backend/dropout.h"

namespace dragoman {

struct AttentionShape;

/// Weights rearranged for decoding, keyed by the address of the original weight (Backend::pack).
using PackedWeights = std::unordered_map<const void*, Tensor>;

/// 16-bit copies of weights and biases, keyed by the address of the original.
struct RoundedWeights {
  DType type = DType::bf16;  // a 16-bit type
  std::unordered_map<const void*, Tensor> copies = {};
  struct Copied {
    Tensor values, copy;
  };
  std::vector<Copied> adjacent = {};  // flat values of adjacent weights, and their copies
  std::vector<Copied> frozen = {};    // the same of frozen weights, until their copies have values
  /// Whether activations between products are kept in this type too. Sums, statistics and the gradients of values with
  /// several readers stay f32.
  bool activations = false;
};

/// One attention in a full pass, as an observer sees it (for explanations and alignments).
struct ObservedAttention {
  const std::string& name;  // "decoder.3.cross_attention"
  const AttentionShape& shape;
  const Tensor& weights;  // before dropout (Backend::Attention::weights)
  const Var &value, &y;   // (Nk,H*V) (Nq,H*V): may be copied and kept; Tape::backward fills in the gradient of y
};
/// Called for every attention of a full pass.
using AttentionObserver = std::function<void(const ObservedAttention&)>;

/// Whether one of the inputs of an op has a gradient, as its result then has one.
struct Inputs {
  bool have_gradient;

  Inputs(std::initializer_list<std::reference_wrapper<const Var>> inputs)  // NOLINT(google-explicit-constructor)
      : have_gradient(std::ranges::any_of(inputs, [](const Var& x) { return bool(x.node()); })) {}
  explicit Inputs(const std::vector<Var>& inputs)
      : have_gradient(std::ranges::any_of(inputs, [](const Var& x) { return bool(x.node()); })) {}
};

/// What every op needs: where to compute, where to allocate results, whether to record. One per forward pass; not
/// copied. Without a tape nothing is recorded, so the same model code scores and translates.
struct Context {
  const Backend& backend;
  Arena& arena;
  Tape* tape = nullptr;
  const PackedWeights* packed = nullptr;    // weights found here replace the originals in products
  const RoundedWeights* rounded = nullptr;  // products with weights found here are computed in 16 bits
  uint64_t seed = 0;                        // for dropout
  uint32_t update = 0;
  bool training = false;       // enables dropout
  bool all_gradients = false;  // with a tape, of all values: also of those that no parameter with a gradient leads to
  bool shows_nan = false;      // keep activations separate: a fused ReLU may turn NaN into a number
  uint32_t random_ops = 0;     // number of dropouts so far in this pass
  const AttentionObserver* observer = nullptr;

  /// Allocates the result of an op. With a tape it has a gradient if one of the inputs has one; its type is the
  /// value's unless `of_gradient` is given.
  Var make(Shape shape, DType dtype, const Inputs& inputs, std::optional<DType> of_gradient = {}) const;
  /// Memory that the backward pass will read, or that one kernel uses as scratch.
  Tensor save(Shape shape, DType dtype) const { return arena.allocate(shape, dtype); }
  Tensor scratch(int64_t bytes) const { return arena.allocate({std::max<int64_t>(bytes, 1)}, DType::u8); }
  /// Records the op if its output has a gradient.
  void record(const char* name, const Var& output, Tape::Function backward) const;

  /// The weight rearranged for decoding, or null. Recorded passes do not use packed weights.
  const Tensor* packed_form(const Var& weight) const;

  /// Whether products with this weight are computed in 16 bits.
  bool rounds(const Var& weight) const { return rounded && rounded->copies.contains(weight.value().data()); }
  /// The operands of a product of x (N,K) and the weight w (D,K): both unchanged, or both in 16 bits.
  struct Factors {
    Tensor x, w;
  };
  Factors factors(const Var& x, const Var& w) const;
  /// x itself, or a copy in this type.
  Tensor factor(const Tensor& x, DType type) const;
  /// The operand type of products without a weight.
  DType factor_type(DType dtype) const { return rounded ? rounded->type : dtype; }
  /// The type of an activation that is a factor or the result of a product.
  DType activation_type(DType dtype) const {
    return rounded && rounded->activations && dtype != DType::f64 ? rounded->type : dtype;
  }
  /// The bias of a product whose result has this type.
  Tensor bias_for(DType result, const Var& b) const;

  /// The next dropout of this pass; its number is part of the random counter. `positions` (N,2) int32 holds the
  /// sentence and token of each row.
  Dropout dropout(double rate, const Tensor& positions);
};

/// Values that the host computes for kernels; the tensor owns them and has a Mirror.
Tensor int_tensor(std::vector<int32_t> values, Shape shape);
Tensor float_tensor(std::vector<float> values, Shape shape);
Tensor double_tensor(std::vector<double> values, Shape shape);
/// The values of such tensors, of the same shapes, in one block of memory with one Mirror, so that they reach a device
/// in one copy.
std::vector<Tensor> in_one_block(const std::vector<Tensor>& tables);

}  // namespace dragoman
