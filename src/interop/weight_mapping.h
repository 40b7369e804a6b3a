#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "interop/foreign_tensor.h"
#include "io/safetensors.h"

namespace dragoman {

/// Whether the rows of a matrix in another program's file are its outputs, as here, or its inputs.
enum class MatrixRows { outputs, inputs };

/// Builds the weights of a dragoman model from the tensors of another program's file. Types are kept: float32, float16,
/// bfloat16, or 8 bits with scales. Error, naming the file and the tensor, if one is missing or has another rank.
class WeightMapping {
 public:
  WeightMapping(std::string path, std::vector<ForeignTensor> tensors);

  const std::string& path() const { return path_; }
  bool has(const std::string& name) const { return tensors_.contains(name); }
  const ForeignTensor& get(const std::string& name) const;

  /// Error unless the embedding `theirs` of a side has a row for each of the `pieces` that a file lists. Nothing is
  /// checked if there is no such matrix.
  void require_rows(const std::string& theirs, int64_t pieces, const std::string& side, const std::string& list) const;

  enum class Axis { rows, columns };
  /// Error unless the matrix `theirs` has as many rows or columns as the option says, such as "opt: enc_hid_size".
  /// Nothing is checked if there is no such matrix.
  void require_extent(const std::string& theirs, Axis axis, int64_t size, const std::string& option) const;

  /// Whether two tensors have the same type, shape and bytes. Reads both, which are in memory until it returns.
  bool same(const std::string& one, const std::string& other) const;

  /// From now on, row i of `theirs` is its row order[i].
  void reorder_rows(const std::string& theirs, const std::vector<int64_t>& order);
  /// `ours` (D_out,D_in) is the matrix `theirs`.
  void matrix(const std::string& ours, const std::string& theirs, MatrixRows rows);
  /// `ours` (D) is `theirs`, (D) or (1,D).
  void vector(const std::string& ours, const std::string& theirs);
  /// A matrix and its bias, `theirs`.weight, whose rows are outputs, and `theirs`.bias.
  void linear(const std::string& ours, const std::string& theirs);
  /// A norm: `theirs`.weight and `theirs`.bias.
  void norm(const std::string& ours, const std::string& theirs);
  /// `ours` (R,D) is `theirs` from row `first` on.
  void rows(const std::string& ours, const std::string& theirs, int64_t first, int64_t count);
  /// `ours` (D,R) is the transpose of `theirs` (R,D), which has `count` rows of floating-point numbers.
  void columns(const std::string& ours, const std::string& theirs, int64_t count);
  void zeros(const std::string& ours, int64_t size);
  /// Marks `theirs` as known but not needed.
  void ignore(const std::string& theirs) { used_.insert(theirs); }
  /// The same for a tied matrix, which a file may have under several names. Error if it differs from `original`. Each
  /// call with a copy that the file has reads both matrices whole, as same() does.
  void ignore_copy(const std::string& theirs, const std::string& original);

  /// Returns all weights. Error if a tensor of the file was neither used nor ignored.
  std::vector<TensorEntry> take();

 private:
  void add(TensorEntry weight) { made_.push_back(std::move(weight)); }
  void add_scales(const std::string& ours, int64_t rows, const ForeignTensor& theirs);

  std::string path_;
  std::map<std::string, ForeignTensor> tensors_;
  std::set<std::string> used_;
  std::vector<TensorEntry> made_;
};

/// The vector times `factor`, in float32.
TensorEntry scaled_vector(const TensorEntry& vector, double factor);

}  // namespace dragoman
