#include "interop/torch_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/file.h"
#include "base/symbolic_links.h"
#include "interop/zip.h"

namespace dragoman {

using Bytes = std::vector<std::byte>;

/// Contiguous elements that tensors share.
struct Storage {
  uint64_t bytes = 0;
  std::function<Bytes(uint64_t begin, uint64_t end)> read;
};

namespace {

/// A storage as the pickle describes it: ('storage', torch.FloatStorage, '0', 'cpu', 6)
struct StorageId {
  DType dtype = DType::f32;
  std::string key;
  int64_t count = 0;
};

std::optional<DType> torch_type(std::string_view storage_class) {
  static constexpr std::pair<std::string_view, DType> types[] = {
      {"torch.FloatStorage", DType::f32},     {"torch.HalfStorage", DType::f16},
      {"torch.BFloat16Storage", DType::bf16}, {"torch.DoubleStorage", DType::f64},
      {"torch.LongStorage", DType::i64},      {"torch.IntStorage", DType::i32},
      {"torch.CharStorage", DType::i8},       {"torch.ByteStorage", DType::u8},
      {"torch.BoolStorage", DType::u8},       {"torch.storage.UntypedStorage", DType::u8}};
  for (const auto& [known, type] : types)
    if (known == storage_class) return type;
  return std::nullopt;
}

// `where` names the file, and the tensor if it is known.
StorageId storage_id(const PickleValue& value, const std::string& where) {
  const auto* id = value.as<PicklePersistentId>();
  const auto* parts = id ? id->id->as<PickleTuple>() : nullptr;
  require(parts && parts->items.size() >= 5, "{}: the storage is damaged", where);
  const auto* storage = parts->items[1]->as<PickleGlobal>();
  const auto* key = parts->items[2]->as<std::string>();
  const auto* count = parts->items[4]->as<int64_t>();
  require(storage && key && count && *count >= 0, "{}: the storage is damaged", where);
  require(parts->items.size() < 6 || parts->items[5]->as<PickleNone>(),
          "{} has a view of a storage, which PyTorch no longer writes", where);
  const std::optional<DType> dtype = torch_type(storage->name);
  require(dtype.has_value(), "{} has elements of {}, which dragoman does not support", where, storage->name);
  return {.dtype = *dtype, .key = *key, .count = *count};
}

std::vector<int64_t> integers(const PickleValue& value, const std::string& where) {
  const auto* tuple = value.as<PickleTuple>();
  require(tuple != nullptr, "{} has {} as its sizes or strides, expected a tuple", where, description_of(value));
  std::vector<int64_t> numbers;
  for (const PickleRef item : tuple->items) {
    require(item->as<int64_t>() != nullptr, "{} has {} as a size or stride, expected an integer", where,
            description_of(*item));
    numbers.push_back(*item->as<int64_t>());
  }
  return numbers;
}

/// The layout of a tensor in its storage. Sizes are above 0.
struct Layout {
  int64_t offset = 0;
  std::vector<int64_t> shape, strides;

  // The number of elements from the first to the last of the tensor; more than `most` if it exceeds that.
  int64_t extent(int64_t most) const {
    int64_t last = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (strides[d] == 0) continue;
      if (shape[d] - 1 > (most - last) / strides[d]) return most + 1;
      last += (shape[d] - 1) * strides[d];
    }
    return last + 1;
  }
  bool is_contiguous() const {
    int64_t expected = 1;
    for (size_t d = shape.size(); d-- > 0; expected *= shape[d])
      if (shape[d] != 1 && strides[d] != expected) return false;
    return true;
  }
};

// Copies the elements from the layout's offset on, one by one; the last index varies fastest in the result.
Bytes contiguous(const Bytes& stored, const Layout& layout, int64_t count, int64_t size) {
  Bytes result(size_t(count * size));
  std::vector<int64_t> index(layout.shape.size(), 0);
  for (int64_t to = 0, from = 0; to < count; ++to) {
    std::memcpy(result.data() + to * size, stored.data() + from * size, size_t(size));
    for (size_t d = layout.shape.size(); d-- > 0;) {
      from += layout.strides[d];
      if (++index[d] < layout.shape[d]) break;
      from -= layout.strides[d] * layout.shape[d];
      index[d] = 0;
    }
  }
  return result;
}

}  // namespace

struct TorchFile::Content {
  std::string path;
  Pickle pickle;
  std::unordered_map<std::string, Storage> storages;
};

const PickleValue& TorchFile::root() const { return *content_->pickle.root; }

ForeignTensor TorchFile::tensor_of(const PickleValue& value, const std::string& name) const {
  const std::string where = fmt::format("{}: tensor {}", content_->path, name);
  const auto* object = value.as<PickleObject>();
  const auto arguments = [&](std::string_view function, size_t count) -> const std::vector<PickleRef>* {
    if (!object || object->class_name() != function) return nullptr;
    const std::vector<PickleRef>& given = object->arguments->as<PickleTuple>()->items;
    require(given.size() >= count, "{} has {} arguments for {}", where, given.size(), function);
    return &given;
  };
  // The data of a Parameter is a tensor, never another Parameter.
  if (const auto* parameter = arguments("torch._utils._rebuild_parameter", 1)) {
    object = (*parameter)[0]->as<PickleObject>();
    require(object != nullptr, "{} is a parameter of {}, expected a tensor", where, description_of(*(*parameter)[0]));
  }
  const auto* parts = arguments("torch._utils._rebuild_tensor_v2", 4);
  require(parts != nullptr, "{} is {}, expected a tensor", where, description_of(value));
  const StorageId id = storage_id(*(*parts)[0], where);
  const auto* offset = (*parts)[1]->as<int64_t>();
  require(offset && *offset >= 0, "{}: its offset is damaged", where);
  Layout layout{*offset, integers(*(*parts)[2], where), integers(*(*parts)[3], where)};
  const int64_t size = size_of(id.dtype), count = elements_of(layout.shape, content_->path, name);
  require(layout.strides.size() == layout.shape.size() &&
              std::ranges::all_of(layout.strides, [](int64_t stride) { return stride >= 0; }),
          "{}: ({}) has the strides ({})", where, fmt::join(layout.shape, ","), fmt::join(layout.strides, ","));
  const auto found = content_->storages.find(id.key);
  require(found != content_->storages.end(), "{}: its storage {} is missing", where, id.key);
  const Storage& storage = found->second;
  require(uint64_t(id.count) <= storage.bytes / uint64_t(size), "{}: its storage {} has {} bytes, expected {} of {}",
          where, id.key, storage.bytes, id.count, id.dtype);
  for (size_t d = 0; d < layout.shape.size(); ++d)
    if (layout.shape[d] <= 1) layout.strides[d] = 0;  // PyTorch may store any stride here
  const int64_t extent = count == 0 ? 0 : layout.extent(id.count);
  require(extent <= id.count && layout.offset <= id.count - extent && count <= id.count,
          "{}: ({}) with strides ({}) from {} on is more than its storage of {} elements", where,
          fmt::join(layout.shape, ","), fmt::join(layout.strides, ","), layout.offset, id.count);
  return {.name = name, .dtype = id.dtype, .shape = layout.shape, .read = [storage, layout, extent, count, size] {
            if (count == 0) return Bytes();
            const auto begin = uint64_t(layout.offset * size);
            Bytes stored = storage.read(begin, begin + uint64_t(extent * size));
            return layout.is_contiguous() ? stored : contiguous(stored, layout, count, size);
          }};
}

TorchFile::Content TorchFile::read_zip(const std::string& path) {
  const ZipFile zip(path);
  std::optional<std::string> folder;
  for (const ZipFile::Entry& entry : zip.entries())
    if (entry.name == "data.pkl" || entry.name.ends_with("/data.pkl"))
      folder = entry.name.substr(0, entry.name.size() - std::strlen("data.pkl"));
  require(folder.has_value(), "{} is a zip archive without data.pkl, so not written by torch.save", path);
  Content content{.path = path, .pickle = read_pickle(zip.read_to_parse(*folder + "data.pkl"), path), .storages = {}};
  for (const ZipFile::Entry& entry : zip.entries()) {
    if (entry.name == *folder + "byteorder") {
      const Bytes order = zip.read(entry.name, 1);
      require(order.empty() || order[0] != std::byte('b'), "{} is big-endian, expected little-endian", path);
    }
    if (!entry.name.starts_with(*folder + "data/")) continue;
    const auto read = [zip, name = entry.name](uint64_t begin, uint64_t end) {
      const auto stored = zip.stored(name);
      return Bytes(stored.begin() + int64_t(begin), stored.begin() + int64_t(end));
    };
    content.storages[entry.name.substr(folder->size() + std::strlen("data/"))] = {entry.bytes, read};
  }
  return content;
}

// The file has pickles of a magic number, the version, the system, the object and the keys of the storages, then the
// storages, each preceded by its number of elements.
TorchFile::Content TorchFile::read_stream(const std::string& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  std::span<const std::byte> rest = file->bytes();
  require(!rest.empty() && rest[0] == std::byte(0x80), "{} was not written by torch.save", path);
  const auto next = [&] {
    Pickle pickle = read_pickle(rest, path);
    rest = rest.subspan(pickle.bytes);
    return pickle;
  };
  static constexpr uint8_t magic[] = {0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19};
  const Pickle first = next();
  const auto* number = first.root->as<Bytes>();
  require(number && std::ranges::equal(*number, std::as_bytes(std::span(magic))), "{} was not written by torch.save",
          path);
  const Pickle version = next(), system = next();
  require(version.root->as<int64_t>() && *version.root->as<int64_t>() == 1001,
          "{} has a different version of PyTorch's format, expected 1001", path);
  const auto* facts = system.root->as<PickleDict>();
  const PickleRef order = facts ? facts->find("little_endian") : nullptr;
  require(order && order->as<bool>() && *order->as<bool>(), "{} is big-endian, expected little-endian", path);
  Content content{.path = path, .pickle = next(), .storages = {}};
  std::unordered_map<std::string, int64_t> sizes;  // of elements
  for (const PickleValue& value : content.pickle.values) {
    const auto* id = value.as<PicklePersistentId>();
    const auto* parts = id ? id->id->as<PickleTuple>() : nullptr;
    const auto* kind = parts && !parts->items.empty() ? parts->items[0]->as<std::string>() : nullptr;
    if (!kind || *kind != "storage") continue;
    const StorageId storage = storage_id(value, path);
    sizes[storage.key] = size_of(storage.dtype);
  }
  const Pickle keys = next();
  require(keys.root->as<PickleList>() != nullptr, "{} has no list of storages", path);
  for (const PickleRef item : keys.root->as<PickleList>()->items) {
    const auto* key = item->as<std::string>();
    require(key && sizes.contains(*key), "{} holds a storage that no tensor has", path);
    int64_t count = 0;
    require(rest.size() >= sizeof(count), "{}: storage {} is missing", path, *key);
    std::memcpy(&count, rest.data(), sizeof(count));
    rest = rest.subspan(sizeof(count));
    require(count >= 0 && uint64_t(count) <= rest.size() / uint64_t(sizes[*key]),
            "{}: storage {} claims to have {} elements, more than the file can hold", path, *key, count);
    const auto data = rest.first(size_t(count * sizes[*key]));
    rest = rest.subspan(data.size());
    content.storages[*key] = {data.size(), [file, data](uint64_t begin, uint64_t end) {
                                return Bytes(data.begin() + int64_t(begin), data.begin() + int64_t(end));
                              }};
  }
  return content;
}

namespace {

bool begins(const MappedFile& file, std::initializer_list<uint8_t> bytes) {
  return file.size() >= bytes.size() && std::memcmp(file.data(), std::data(bytes), bytes.size()) == 0;
}

// A file of safetensors may begin with PK: its first bytes are a length.
bool is_zip(const MappedFile& file) { return begins(file, {'P', 'K', 3, 4}); }

}  // namespace

bool looks_like_torch(const std::string& path) {
  if (!is_there(path) || (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path))) return false;
  const MappedFile file(path);
  return is_zip(file) || begins(file, {0x80, 2, 0x8a, 10, 0x6c, 0xfc});  // a pickle with the magic number
}

std::optional<TorchFile> read_torch(const std::string& path) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  const MappedFile file(path);
  return TorchFile(std::make_shared<const TorchFile::Content>(is_zip(file) ? TorchFile::read_zip(path)
                                                                           : TorchFile::read_stream(path)));
}

std::vector<ForeignTensor> state_dict_tensors(const TorchFile& file, const PickleValue& value,
                                              const std::string& what) {
  const auto* dict = value.as<PickleDict>();
  require(dict != nullptr, "{} holds {}, expected a dict of tensors", what, description_of(value));
  std::vector<ForeignTensor> tensors;
  std::set<std::string_view> names;
  for (const auto& [key, tensor] : dict->items) {
    const auto* name = key->as<std::string>();
    require(name != nullptr, "{} has {} as the name of a tensor", what, description_of(*key));
    require(names.insert(*name).second, "{} has two tensors named {}", what, *name);
    tensors.push_back(file.tensor_of(*tensor, *name));
  }
  return tensors;
}

std::vector<ForeignTensor> state_dict_tensors(const std::string& path) {
  const std::optional<TorchFile> file = read_torch(path);
  require(file.has_value(), "{}: there is no such file", path);
  return state_dict_tensors(*file, file->root(), path);
}

}  // namespace dragoman
