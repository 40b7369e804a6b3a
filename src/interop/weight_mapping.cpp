#include "interop/weight_mapping.h"

#include <fmt/format.h>

#include <cstring>

#include "base/error.h"
#include "interop/export.h"
#include "interop/raw_bytes.h"
#include "io/int8_weights.h"

namespace dragoman {
namespace {

using Bytes = std::vector<std::byte>;

// Transposes (rows,cols) to (cols,rows).
Bytes transposed_bytes(const Bytes& from, int64_t rows, int64_t cols, int64_t size) {
  Bytes to(from.size());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c)
      std::memcpy(to.data() + (c * rows + r) * size, from.data() + (r * cols + c) * size, size_t(size));
  return to;
}

Bytes repeated(float value, int64_t count) { return raw_bytes(std::vector<float>(size_t(count), value)); }

}  // namespace

TensorEntry scaled_vector(const TensorEntry& vector, double factor) {
  return {.name = vector.name, .dtype = DType::f32, .shape = vector.shape, .make = [vector, factor] {
            std::vector<float> values = floats_of(vector);
            for (float& value : values) value = float(value * factor);
            return raw_bytes(values);
          }};
}

WeightMapping::WeightMapping(std::string path, std::vector<ForeignTensor> tensors) : path_(std::move(path)) {
  for (ForeignTensor& tensor : tensors) {
    const std::string name = tensor.name;
    require(tensors_.emplace(name, std::move(tensor)).second, "{} has two tensors named {}", path_, name);
  }
}

const ForeignTensor& WeightMapping::get(const std::string& name) const {
  const auto found = tensors_.find(name);
  require(found != tensors_.end(), "{} has no tensor {}, which its configuration requires", path_, name);
  return found->second;
}

void WeightMapping::require_extent(const std::string& theirs, Axis axis, int64_t size,
                                   const std::string& option) const {
  const auto found = tensors_.find(theirs);
  if (found == tensors_.end() || found->second.shape.size() != 2) return;
  const std::vector<int64_t>& shape = found->second.shape;
  require(shape[axis == Axis::rows ? 0 : 1] == size, "{}: {} is ({}), expected {} {}, as {} says", path_, theirs,
          fmt::join(shape, ","), size, axis == Axis::rows ? "rows" : "columns", option);
}

void WeightMapping::require_rows(const std::string& theirs, int64_t pieces, const std::string& side,
                                 const std::string& list) const {
  const auto found = tensors_.find(theirs);
  if (found == tensors_.end() || found->second.shape.size() != 2) return;
  const int64_t rows = found->second.shape[0];
  if (rows != pieces)
    throw Error(fmt::format("{}: its {} embedding has {} rows, but the vocabulary has {} pieces ({})", path_, side,
                            rows, pieces, list),
                "convert it with the vocabularies that it was trained with, each on its side");
}

bool WeightMapping::same(const std::string& one, const std::string& other) const {
  if (one == other) return true;
  const ForeignTensor &a = get(one), &b = get(other);
  return a.dtype == b.dtype && a.shape == b.shape && a.read() == b.read();
}

void WeightMapping::ignore_copy(const std::string& theirs, const std::string& original) {
  if (!has(theirs)) return;
  if (!same(theirs, original))
    throw Error(
        fmt::format("{}: {} and {} differ, but the configuration says that they are tied", path_, original, theirs),
        "the weights are not of this configuration, or were changed one by one");
  ignore(theirs);
}

void WeightMapping::reorder_rows(const std::string& theirs, const std::vector<int64_t>& order) {
  const ForeignTensor& t = get(theirs);
  require(!t.shape.empty() && t.shape[0] == int64_t(order.size()), "{}: {} is ({}), expected {} rows", path_, theirs,
          fmt::join(t.shape, ","), order.size());
  tensors_[theirs] = rows_in_order(t, order);
}

void WeightMapping::add_scales(const std::string& ours, int64_t rows, const ForeignTensor& theirs) {
  require(theirs.scale || theirs.row_scales, "{}: {} is of type {} without scales, expected a floating-point matrix",
          path_, theirs.name, theirs.dtype);
  std::function<Bytes()> make = [rows, scale = theirs.scale.value_or(0)] { return repeated(scale, rows); };
  if (theirs.row_scales) make = [scales = theirs.row_scales] { return raw_bytes(scales()); };
  add({.name = scale_name(ours), .dtype = DType::f32, .shape = {rows}, .make = std::move(make)});
}

void WeightMapping::matrix(const std::string& ours, const std::string& theirs, MatrixRows rows) {
  const ForeignTensor& t = get(theirs);
  require(t.shape.size() == 2 && (is_floating(t.dtype) || t.dtype == DType::i8),
          "{}: {} is ({}) of {}, expected a floating-point or 8-bit matrix", path_, theirs, fmt::join(t.shape, ","),
          t.dtype);
  // A file may say (4294967295,0): it needs no bytes for that, but biases and scales of as many rows would.
  require(t.shape[0] > 0 && t.shape[1] > 0, "{}: {} is ({}), expected at least one row and column", path_, theirs,
          fmt::join(t.shape, ","));
  used_.insert(theirs);
  const int64_t R = t.shape[0], C = t.shape[1], size = size_of(t.dtype);
  if ((rows == MatrixRows::outputs) != t.transposed) {
    add({.name = ours, .dtype = t.dtype, .shape = t.shape, .make = t.read});
    if (t.dtype == DType::i8) add_scales(ours, R, t);
    return;
  }
  invariant(!t.row_scales, "a matrix with row scales cannot be transposed");
  add({.name = ours, .dtype = t.dtype, .shape = {C, R}, .make = [read = t.read, R, C, size] {
         return transposed_bytes(read(), R, C, size);
       }});
  if (t.dtype == DType::i8) add_scales(ours, C, t);
}

void WeightMapping::vector(const std::string& ours, const std::string& theirs) {
  const ForeignTensor& t = get(theirs);
  const bool is_vector = t.shape.size() == 1 || (t.shape.size() == 2 && t.shape[0] == 1);
  require(is_vector && is_floating(t.dtype), "{}: {} is ({}) of {}, expected a floating-point vector", path_, theirs,
          fmt::join(t.shape, ","), t.dtype);
  used_.insert(theirs);
  add({.name = ours, .dtype = t.dtype, .shape = {t.shape.back()}, .make = t.read});
}

void WeightMapping::linear(const std::string& ours, const std::string& theirs) {
  matrix(ours + ".weight", theirs + ".weight", MatrixRows::outputs);
  vector(ours + ".bias", theirs + ".bias");
}

void WeightMapping::norm(const std::string& ours, const std::string& theirs) {
  vector(ours + ".weight", theirs + ".weight");
  vector(ours + ".bias", theirs + ".bias");
}

void WeightMapping::rows(const std::string& ours, const std::string& theirs, int64_t first, int64_t count) {
  const ForeignTensor& t = get(theirs);
  require(t.shape.size() == 2 && is_floating(t.dtype) && t.shape[0] == first + count,
          "{}: {} is ({}) of {}, expected a floating-point matrix of {} rows", path_, theirs, fmt::join(t.shape, ","),
          t.dtype, first + count);
  used_.insert(theirs);
  add({.name = ours, .dtype = t.dtype, .shape = {count, t.shape[1]}, .make = rows_of(t, first, count).read});
}

void WeightMapping::columns(const std::string& ours, const std::string& theirs, int64_t count) {
  const ForeignTensor& t = get(theirs);
  require(is_floating(t.dtype) && !t.shape.empty() && t.shape[0] == count,
          "{}: {} is ({}) of {}, expected a floating-point matrix of {} rows", path_, theirs, fmt::join(t.shape, ","),
          t.dtype, count);
  matrix(ours, theirs, MatrixRows::inputs);
}

void WeightMapping::zeros(const std::string& ours, int64_t size) {
  add({.name = ours, .dtype = DType::f32, .shape = {size}, .make = [=] { return repeated(0, size); }});
}

std::vector<TensorEntry> WeightMapping::take() {
  for (const auto& [name, tensor] : tensors_)
    if (!used_.contains(name))
      throw Error(fmt::format("{}: tensor {} is not part of the model that its configuration describes", path_, name),
                  "the model has a component that dragoman does not support, or the file is of another kind");
  return std::move(made_);
}

}  // namespace dragoman
