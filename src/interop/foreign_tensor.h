#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tensor/dtype.h"

namespace dragoman {

/// A tensor in another program's file. Its bytes are read on demand, so that only one tensor at a time is in memory.
struct ForeignTensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  std::optional<float> scale = {};                      // of I8: value = scale · integer
  std::function<std::vector<float>()> row_scales = {};  // of I8, instead of `scale`: one scale per row
  bool transposed = false;  // the matrix is stored transposed, unlike in the program's other files
  /// Row-major, little-endian. Keeps the file open. Error if it cannot be read.
  std::function<std::vector<std::byte>()> read;
};

/// Rows of a matrix, or elements of a vector, as a separate tensor.
ForeignTensor rows_of(const ForeignTensor& tensor, int64_t first, int64_t count);

/// The rows of a tensor in another order: row i is row order[i].
ForeignTensor rows_in_order(const ForeignTensor& tensor, const std::vector<int64_t>& order);

/// The text in a tensor of bytes, without its zero padding.
std::string text_of(const ForeignTensor& tensor);

/// The number of elements of a tensor of this shape. Error, naming the file and the tensor, for a negative size or for
/// more elements than a file can hold.
int64_t elements_of(const std::vector<int64_t>& shape, const std::string& path, const std::string& name);

}  // namespace dragoman
