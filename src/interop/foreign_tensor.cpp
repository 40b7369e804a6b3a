#include "interop/foreign_tensor.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace dragoman {

namespace {

// A tensor without elements may have other sizes whose product is beyond all bounds.
int64_t bytes_of_row(const ForeignTensor& tensor) {
  if (std::ranges::count(tensor.shape, 0) > 0) return 0;
  int64_t bytes = size_of(tensor.dtype);
  for (size_t d = 1; d < tensor.shape.size(); ++d) bytes *= tensor.shape[d];
  return bytes;
}

}  // namespace

ForeignTensor rows_of(const ForeignTensor& tensor, int64_t first, int64_t count) {
  invariant(!tensor.shape.empty() && first + count <= tensor.shape[0], "the rows must be within the tensor");
  ForeignTensor rows = tensor;
  rows.shape[0] = count;
  const int64_t row = bytes_of_row(tensor);
  rows.read = [read = tensor.read, begin = first * row, end = (first + count) * row] {
    const std::vector<std::byte> all = read();
    return std::vector<std::byte>(all.begin() + begin, all.begin() + end);
  };
  if (tensor.row_scales)
    rows.row_scales = [scales = tensor.row_scales, first, count] {
      const std::vector<float> all = scales();
      return std::vector<float>(all.begin() + first, all.begin() + first + count);
    };
  return rows;
}

ForeignTensor rows_in_order(const ForeignTensor& tensor, const std::vector<int64_t>& order) {
  invariant(!tensor.shape.empty() && tensor.shape[0] == int64_t(order.size()), "every row must have a place");
  ForeignTensor rows = tensor;
  rows.read = [read = tensor.read, row = bytes_of_row(tensor), order] {
    const std::vector<std::byte> from = read();
    std::vector<std::byte> to;
    for (const int64_t i : order) to.insert(to.end(), from.begin() + i * row, from.begin() + (i + 1) * row);
    return to;
  };
  if (tensor.row_scales)
    rows.row_scales = [scales = tensor.row_scales, order] {
      const std::vector<float> from = scales();
      std::vector<float> to;
      for (const int64_t i : order) to.push_back(from[size_t(i)]);
      return to;
    };
  return rows;
}

std::string text_of(const ForeignTensor& tensor) {
  const std::vector<std::byte> bytes = tensor.read();
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.substr(0, text.find('\0'));
}

int64_t elements_of(const std::vector<int64_t>& shape, const std::string& path, const std::string& name) {
  constexpr int64_t most = int64_t{1} << 48;
  int64_t count = 1;
  for (const int64_t size : shape) {
    require(size >= 0 && (size == 0 || count <= most / size), "{}: tensor {} is ({}), more than a file can hold", path,
            name, fmt::join(shape, ","));
    count *= size;
  }
  return count;
}

}  // namespace dragoman
