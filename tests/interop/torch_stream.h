#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace dragoman {

/// A tensor of float32, with a storage of its own, as it stands in a file.
struct TorchTensor {
  std::string name;
  std::vector<int64_t> shape, strides;
  std::string data;
  int64_t elements = int64_t(data.size()) / 4;  // as the pickle says
  int64_t stored = elements;                    // as the storage says
  int64_t offset = 0;
};

/// What torch.save(…, _use_new_zipfile_serialization=False) writes of a dict of tensors, or what it should not write.
inline std::string torch_stream(const std::vector<TorchTensor>& tensors) {
  using namespace std::string_literals;
  const auto bytes = [](int64_t number) { return std::string(reinterpret_cast<const char*>(&number), 8); };
  const auto integer = [&](int64_t number) { return "\x8a\x08"s + bytes(number); };
  const auto text = [](const std::string& value) { return "\x8c"s + char(value.size()) + value; };
  const auto tuple = [&](const std::vector<int64_t>& numbers) {
    std::string result = "(";
    for (const int64_t number : numbers) result += integer(number);
    return result + "t";
  };
  std::string dict = "}", keys = "]", storages;
  for (const TorchTensor& t : tensors) {
    dict += text(t.name) + "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\nFloatStorage\n" +
            text(t.name) + text("cpu") + integer(t.elements) + "NtQ" + integer(t.offset) + tuple(t.shape) +
            tuple(t.strides) + "\x89}tRs";
    keys += text(t.name) + "a";
    storages += bytes(t.stored) + t.data;
  }
  const std::string protocol = "\x80\x02";
  return protocol + "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19." + protocol + "M\xe9\x03." + protocol + "}" +
         text("little_endian") + "\x88s." + protocol + dict + "." + protocol + keys + "." + storages;
}

}  // namespace dragoman
