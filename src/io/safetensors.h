#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "tensor/dtype.h"

namespace dragoman {

/// Named tensors in one file, as https://github.com/huggingface/safetensors defines it: 8 bytes of header length, a
/// JSON header, the data. docs/model_format.md says what dragoman's model files hold.

/// One tensor: row-major, little-endian. The file, or the caller who wants it written, owns `bytes`.
struct TensorEntry {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;  // empty: a single number
  std::span<const std::byte> bytes;
  /// To write a tensor without holding all of them in memory: produces the bytes on demand, instead of `bytes`. Called
  /// twice.
  std::function<std::vector<std::byte>()> make = {};
};

using Metadata = std::map<std::string, std::string>;

/// A mapped safetensors file. Opening it checks everything: sizes, header, types, shapes, that the tensors fill the
/// data without gaps or overlaps, and the checksum if there is one; Error, naming the file. Costs one pass over the
/// data. Entries are valid while the object (or the one it was moved to) lives. Tensors of other programs' files may be
/// unaligned: copy them (values_of does).
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);
  /// A file in memory, as write_safetensors would write it; `name` replaces the path in messages.
  static SafetensorsFile in_memory(const std::string& name, std::vector<TensorEntry> tensors, Metadata metadata);

  const std::string& path() const { return path_; }
  const Metadata& metadata() const { return metadata_; }
  std::string checksum() const;  // of everything else, as in the metadata (docs/model_format.md)
  std::span<const TensorEntry> tensors() const { return tensors_; }  // by name
  const TensorEntry* find(std::string_view name) const;              // null: not there
  const TensorEntry& get(std::string_view name) const;               // Error: not there

 private:
  SafetensorsFile(const std::string& path, MappedFile file);

  std::string path_;
  MappedFile file_;
  Metadata metadata_;
  std::vector<TensorEntry> tensors_;
};

/// Writes the file whole or not at all (write_atomically). Wide types come first and bytes last, so that every tensor
/// is aligned; the metadata gets a "checksum" of everything else. Equal content gives equal bytes.
void write_safetensors(const std::string& path, std::vector<TensorEntry> tensors, Metadata metadata);

/// A copy of the elements; Error if they are of another type.
template <class T>
std::vector<T> values_of(const TensorEntry& tensor) {
  require(tensor.dtype == dtype_of<T>(), "tensor {} is of type {}, expected {}", tensor.name, tensor.dtype,
          dtype_of<T>());
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

/// The same of a tensor of a file, which the Error names.
template <class T>
std::vector<T> values_of(const SafetensorsFile& file, const std::string& name) {
  const TensorEntry& tensor = file.get(name);
  require(tensor.dtype == dtype_of<T>(), "{}: tensor {} is of type {}, expected {}", file.path(), name, tensor.dtype,
          dtype_of<T>());
  return values_of<T>(tensor);
}

}  // namespace dragoman
