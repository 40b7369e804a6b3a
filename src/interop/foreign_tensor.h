#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tensor/dtype.h"

namespace dragoman {

/// A tensor in a file of another program. Its bytes are read on demand, so that only one tensor at a time is
/// in memory.
struct ForeignTensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  float scale = 1;                                      // of I8: a value is scale · integer
  std::function<std::vector<float>()> row_scales = {};  // of I8, instead: a scale for each row
  bool transposed = false;  // a matrix stored transposed, unlike in other files of its program
  /// Row-major, little-endian. Keeps the file open. Error if it cannot be read.
  std::function<std::vector<std::byte>()> read;
};

/// Rows of a matrix, or numbers of a vector, as a tensor of their own.
ForeignTensor rows_of(const ForeignTensor& tensor, int64_t first, int64_t count);

/// Text in a tensor of bytes, without the zeros that pad it.
std::string text_of(const ForeignTensor& tensor);

/// Elements of a tensor of this shape; Error, naming the file and the tensor, for a negative size or more than a file
/// can hold.
int64_t elements_of(const std::vector<int64_t>& shape, const std::string& path, const std::string& name);

}  // namespace dragoman
