#include "interop/foreign_tensor.h"

#include <fmt/format.h>

#include "base/error.h"

namespace dragoman {

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
