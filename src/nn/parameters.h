#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "autodiff/context.h"
#include "backend/products.h"
#include "base/threads.h"
#include "ops/linear.h"

namespace dragoman {

/// The initial values of a parameter.
struct Init {
  enum Kind { constant, uniform, normal } kind = constant;
  double value = 0;  // the constant, the limit ± of the uniform, the deviation of the normal

  static Init zeros() { return {}; }
  static Init ones() { return {constant, 1}; }
  /// Glorot & Bengio 2010, eq. 16: uniform in ±√(6 / (rows + cols)), times `gain`.
  static Init glorot(int64_t rows, int64_t cols, double gain = 1);
};

/// Whether the name matches one of these shell patterns, such as "encoder.*" or "*.bias".
bool matches(const std::vector<std::string>& patterns, const std::string& name);

/// What a run trains of a model.
struct Trainable {
  std::vector<std::string> frozen = {};  // patterns of names that stay as they are
  /// Rank of LoRA (Hu et al. 2022, section 4.1): all weights stay as they are, but those of linear layers (Linear) get
  /// low-rank updates (LowRankUpdate), except those that `frozen` names. 0: no updates.
  int64_t lora_rank = 0;
};

/// All weights of a model, in order of creation. A weight may be a slice of a larger matrix (queries, keys and values
/// are one product): kernels and the optimizer see the matrix, files and messages the named slices.
class Parameters {
 public:
  struct Slice {
    std::string name;  // as in files: "encoder.3.self_attention.query.weight"
    int64_t rows;
    Init init;
    std::string updated = {};  // of a factor of a low-rank update: the weight, or what the names of several begin with
  };
  /// A slice and its location in a matrix.
  struct Named {
    std::string name;
    Tensor value, gradient;  // (rows, cols) or (rows); the gradient may be empty
    Init init;
    size_t buffer;        // the matrix that it is a slice of
    int64_t first;        // its first row there
    bool trained;         // false: a statistic
    bool frozen;          // with its whole matrix: it has no gradient and no part in flat buffers
    std::string updated;  // as in Slice

    bool has_gradient() const { return trained && !frozen; }
    /// A factor of a low-rank update is not in model files, whose weights contain it.
    bool is_update() const { return !updated.empty(); }
    /// The same slice of a tensor with the shape of the matrix, such as a moment or an average.
    Tensor slice_of(const Tensor& like_buffer) const { return like_buffer.row_range(first, value.shape()[0]); }
  };

  /// Buffers begin at multiples of this in flat buffers, so that blocks of a buffer (sum_of_squares) are blocks of the
  /// flat one.
  static constexpr int64_t flat_block = 4096;

  /// For decoding: each buffer has its own memory, and there are no gradients.
  Parameters(const Backend& backend, Arena& arena, DType dtype, Trainable trainable = {});
  /// For training: buffers are views of one flat buffer of values, gradients views of another with the same layout.
  /// `elements` is the size of each (flat_elements). Matrices and vectors that are not `trainable` as a whole have
  /// their own memory instead, and no gradient.
  struct Flat {
    int64_t elements;
    Trainable trainable = {};
  };
  Parameters(const Backend& backend, Arena& arena, DType dtype, Flat flat);
  /// For decoding with packed or rounded weights alone: those that only products use have addresses, as keys of
  /// PackedWeights and RoundedWeights, but no memory (load_destination).
  struct Packed {};
  Parameters(const Backend& backend, Arena& arena, DType dtype, Packed);

  /// How a matrix is used: in products, by looking up rows, or both (a tied embedding). exact_product: products that
  /// are never rounded, because a choice depends on them.
  enum class Use { product, lookup, both, exact_product };
  Var matrix(const std::vector<Slice>& slices, int64_t cols, Use use = Use::product);  // (Σ rows, cols)
  Var vector(const std::vector<Slice>& slices);                                        // (Σ rows)
  /// The update of the last matrix, if the run trains one. Initially `up` is zero; it has a slice for each of the
  /// matrix.
  LowRankUpdate low_rank();
  /// The matrix or vector as model files have it: with its update.
  Tensor merged(size_t buffer) const;
  /// A statistic that training observes: part of the model like a weight, but without a gradient, so the optimizer does
  /// not change it.
  Tensor statistic(const Slice& slice);  // (rows)

  /// Draws each slice from its own random sequence (seed, name): its values do not depend on the rest of the model.
  void initialise(uint64_t seed);
  /// Backward passes write into this flat buffer from now on, which has the layout of flat_gradients() and zeros
  /// between buffers.
  void write_gradients_to(const Tensor& flat);
  /// The next backward pass overwrites all gradients.
  void forget_gradients();
  /// Zeroes the gradients that no backward pass has written since then.
  void zero_unwritten_gradients();
  /// Marks all gradients as written, by something other than a backward pass.
  void all_gradients_written();
  /// The weights of products rearranged for decoding, into their own type or into I8 (Backend::pack); valid while the
  /// weights do not change. On a device those of their own type are not rearranged, so there are none.
  PackedWeights pack(DType type) const;
  PackedWeights pack() const { return pack(dtype_); }
  /// Memory for 16-bit copies of all weights of products, and of vectors if activations are 16-bit. Requires flat
  /// values.
  RoundedWeights rounded_weights(DType type, bool activations) const;
  /// Updates the copies, those of adjacent weights together, and at the first time those of frozen weights.
  void round(RoundedWeights& rounded) const;
  /// For models that only decode: weights that only products use exist only in packed form. Read their values into
  /// `load_destination`; `pack_loaded` packs them.
  Tensor load_destination(size_t buffer) const;
  void pack_loaded(size_t buffer, const Tensor& values, DType type, PackedWeights& packed) const;
  /// Copies values in `rounded.type` instead, if rounded_weights() would; false if not.
  bool round_loaded(size_t buffer, const Tensor& values, RoundedWeights& rounded) const;
  /// The same into I8 from rounded rows (Backend::pack_rounded): those of all slices, in order.
  void pack_rounded(size_t buffer, std::span<const RoundedRows> slices, PackedWeights& packed) const;

  const Trainable& trainable() const { return trainable_; }
  const std::vector<Named>& named() const { return named_; }
  const std::vector<Var>& buffers() const { return buffers_; }
  Use use_of(size_t buffer) const { return uses_[buffer]; }  // of vectors and statistics: lookup
  std::span<const Named> slices_of(size_t buffer) const;
  DType dtype() const { return dtype_; }
  int64_t count() const;         // of the numbers in all trained slices, without factors of updates
  int64_t update_count() const;  // of the numbers in factors of updates

  /// Elements of all buffers that are not frozen, each rounded up to whole blocks.
  int64_t flat_elements() const { return flat_elements_; }
  /// (flat_elements) each; empty where buffers have their own memory. Zero between buffers.
  const Tensor& flat_values() const { return flat_values_; }
  const Tensor& flat_gradients() const { return flat_gradients_; }
  /// The part of a flat buffer (moments, averages) that belongs to this buffer, in its shape.
  Tensor part_of(const Tensor& flat, size_t buffer) const;
  /// The part of a flat buffer that belongs to a slice, in its shape.
  Tensor part_of(const Tensor& flat, const Named& p) const { return p.slice_of(part_of(flat, p.buffer)); }
  /// The range of these rows of a buffer in flat buffers.
  Range flat_range(size_t buffer, int64_t first_row, int64_t rows) const;

 private:
  static int64_t in_blocks(int64_t elements) { return (elements + flat_block - 1) / flat_block * flat_block; }
  Tensor flat_part(const Tensor& flat, int64_t offset, Shape shape) const;
  bool is_frozen(size_t buffer) const { return slices_of(buffer).front().frozen; }
  bool rounds(size_t buffer, bool vectors) const;
  Var add(const std::vector<Slice>& slices, Shape shape, Use use, bool trained = true);
  Tensor pack_destination(size_t buffer, DType type) const;

  const Backend& backend_;
  Arena& arena_;
  const DType dtype_;
  const bool packed_ = false;  // whether weights that only products use have no memory
  std::vector<Named> named_;
  std::vector<Var> buffers_;
  std::vector<Use> uses_;         // of each buffer
  std::vector<int64_t> offsets_;  // of each buffer, in flat buffers; frozen ones have none
  const Trainable trainable_;
  std::map<size_t, LowRankUpdate> updates_;  // of buffers
  int64_t flat_elements_ = 0;
  Tensor flat_values_, flat_gradients_;
};

}  // namespace dragoman
