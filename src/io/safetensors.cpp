#include "io/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/file_kind.h"
#include "base/json_text.h"
#include "io/xxhash64.h"

namespace dragoman {
namespace {

using nlohmann::json;

constexpr size_t length_bytes = 8;                // the header's length, before the header
constexpr uint64_t longest_header = 100'000'000;  // the limit of other readers too
constexpr const char* metadata_key = "__metadata__";
constexpr const char* checksum_key = "checksum";

constexpr std::array dtypes = {DType::f64, DType::f32, DType::bf16, DType::f16,
                               DType::i64, DType::i32, DType::i8,   DType::u8};

std::string dtype_names() {
  std::vector<std::string_view> names;
  for (DType dtype : dtypes) names.push_back(name_of(dtype));
  return fmt::format("{}", fmt::join(names, ", "));
}

template <class... A>
[[noreturn]] void damaged(const std::string& path, fmt::format_string<A...> what, A&&... args) {
  throw Error(fmt::format("{} {}", path, fmt::format(what, std::forward<A>(args)...)),
              "the file is truncated or damaged, or not a safetensors file: copy or download it again");
}

// For other kinds of files, the first bytes say more than the length that they would encode.
void refuse_other_kinds(const std::string& path, std::span<const std::byte> file) {
  const auto begin = file.first(std::min<size_t>(file.size(), 512));
  const std::string_view kind = kind_of_file({reinterpret_cast<const char*>(begin.data()), begin.size()});
  if (kind.empty() || kind == "a safetensors file") return;
  std::string_view hint = "models are written by dragoman train and dragoman average";
  if (kind == "text") hint = "text belongs to --input, --train-sets or stdin; models are written by dragoman train";
  if (kind == "a SentencePiece model") hint = "vocabularies belong to --vocabs; a model contains its own";
  if (kind.ends_with(" data")) hint = "models are not read compressed: decompress it first";
  throw Error(fmt::format("{} is {}, expected a model or another safetensors file", path, kind), std::string(hint));
}

// The position of a tensor in the data, still unchecked.
struct Placed {
  TensorEntry tensor;
  uint64_t begin, end;
};

std::string_view header_text(const std::string& path, std::span<const std::byte> file) {
  if (file.size() < length_bytes)
    damaged(path, "has {} bytes, expected at least {} with the length of a header", file.size(), length_bytes);
  uint64_t length;
  std::memcpy(&length, file.data(), length_bytes);
  if (length > longest_header)
    damaged(path, "begins with a header length of {} bytes, expected at most {}", length, longest_header);
  if (length > file.size() - length_bytes)
    damaged(path, "begins with a header length of {} bytes, but {} follow", length, file.size() - length_bytes);
  return {reinterpret_cast<const char*>(file.data()) + length_bytes, length};
}

json parse_header(const std::string& path, std::string_view text) {
  // The format requires the brace; the parser would take a NUL as the end.
  const bool plausible = text.starts_with('{') && text.find('\0') == text.npos;
  std::set<std::string> names;
  std::string twice;
  const auto note = [&](int depth, json::parse_event_t event, const json& key) {
    if (event == json::parse_event_t::key && depth == 1 && !names.insert(key.get<std::string>()).second)
      twice = key.get<std::string>();
    return true;
  };
  json header = plausible && !nests_too_deep(text) ? json::parse(text, note, false) : json(json::value_t::discarded);
  if (!twice.empty()) damaged(path, "has two tensors named {}", twice);
  if (!header.is_object()) damaged(path, "has a header of {} bytes that is not a JSON object", text.size());
  return header;
}

Metadata parse_metadata(const std::string& path, const json& header) {
  Metadata metadata;
  const auto found = header.find(metadata_key);
  if (found == header.end()) return metadata;
  if (!found->is_object()) damaged(path, "has metadata of type {}, expected an object", found->type_name());
  for (const auto& [key, value] : found->items()) {
    if (!value.is_string()) damaged(path, "has metadata {} of type {}, expected text", key, value.type_name());
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

DType parse_dtype(const std::string& path, const std::string& name, const json& fields) {
  const auto found = fields.find("dtype");
  if (found == fields.end() || !found->is_string()) damaged(path, "has a tensor {} without a dtype", name);
  for (DType dtype : dtypes)
    if (*found == name_of(dtype)) return dtype;
  throw Error(fmt::format("{}: tensor {} is of type {}, expected one of {}", path, name, found->get<std::string>(),
                          dtype_names()),
              "convert it to one of these types first");
}

// A list of non-negative integers that fit int64_t, or nothing.
std::optional<std::vector<int64_t>> parse_sizes(const json& fields, const char* key) {
  const auto found = fields.find(key);
  if (found == fields.end() || !found->is_array()) return std::nullopt;
  std::vector<int64_t> sizes;
  for (const json& size : *found) {
    if (!size.is_number_unsigned() || size.get<uint64_t>() > uint64_t(INT64_MAX)) return std::nullopt;
    sizes.push_back(size.get<int64_t>());
  }
  return sizes;
}

std::optional<uint64_t> bytes_of(DType dtype, std::span<const int64_t> shape) {
  uint64_t bytes = uint64_t(size_of(dtype));
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(bytes, uint64_t(extent), &bytes)) return std::nullopt;
  return bytes;
}

Placed parse_tensor(const std::string& path, const std::string& name, const json& fields) {
  if (!fields.is_object()) damaged(path, "has a tensor {} described by {}", name, fields.type_name());
  const DType dtype = parse_dtype(path, name, fields);
  const auto shape = parse_sizes(fields, "shape"), offsets = parse_sizes(fields, "data_offsets");
  if (!shape) damaged(path, "has a tensor {} without a valid shape", name);
  if (!offsets || offsets->size() != 2 || (*offsets)[0] > (*offsets)[1])
    damaged(path, "has a tensor {} without valid data_offsets", name);
  const uint64_t begin = uint64_t((*offsets)[0]), end = uint64_t((*offsets)[1]);
  const auto expected = bytes_of(dtype, *shape);
  if (!expected || *expected != end - begin)
    damaged(path, "has a tensor {} of {} bytes, expected {} ({} of {})", name, end - begin,
            expected ? fmt::to_string(*expected) : "more than any file can hold", dtype, fmt::join(*shape, " x "));
  return {{name, dtype, *shape, {}}, begin, end};
}

// Tensors must be contiguous and fill the data, so that each byte belongs to exactly one.
void locate(const std::string& path, std::vector<Placed>& placed, std::span<const std::byte> data) {
  std::ranges::sort(placed, {}, [](const Placed& p) { return std::pair(p.begin, p.end); });
  uint64_t filled = 0;
  for (Placed& p : placed) {
    if (p.begin != filled)
      damaged(path, "has a tensor {} from byte {} of the data, expected {}", p.tensor.name, p.begin, filled);
    if (p.end > data.size())
      damaged(path, "has a tensor {} up to byte {} of the data, which ends at {}", p.tensor.name, p.end, data.size());
    p.tensor.bytes = data.subspan(p.begin, p.end - p.begin);
    filled = p.end;
  }
  if (filled != data.size()) damaged(path, "has {} bytes of data, expected {}", data.size(), filled);
}

std::vector<TensorEntry> parse_tensors(const std::string& path, const json& header, std::span<const std::byte> data) {
  std::vector<Placed> placed;
  for (const auto& [name, fields] : header.items())
    if (name != metadata_key) placed.push_back(parse_tensor(path, name, fields));
  locate(path, placed, data);
  std::vector<TensorEntry> tensors;
  for (Placed& p : placed) tensors.push_back(std::move(p.tensor));
  std::ranges::sort(tensors, {}, &TensorEntry::name);
  return tensors;
}

void with_bytes(const std::string& path, const TensorEntry& tensor,
                const std::function<void(std::span<const std::byte>)>& use) {
  if (!tensor.make) return use(tensor.bytes);
  const std::vector<std::byte> made = tensor.make();
  require(bytes_of(tensor.dtype, tensor.shape) == made.size(), "{}: tensor {} has {} bytes for {} of {}", path,
          tensor.name, made.size(), tensor.dtype, fmt::join(tensor.shape, " x "));
  use(made);
}

// 16 hexadecimal digits: XXH64 over metadata (but "checksum") and tensors, each in order of name, so that it depends on
// the content and not on the layout of the file. docs/model_format.md has the definition. `done` is called with the
// numbers of bytes read.
std::string content_checksum(const std::string& path, std::span<const TensorEntry> by_name, const Metadata& metadata,
                             void (*done)(std::span<const std::byte>)) {
  constexpr size_t block_bytes = 1 << 22;
  XxHash64 hash;
  const auto add_text = [&](std::string_view text) { hash.add(std::as_bytes(std::span(text))); };
  for (const auto& [key, value] : metadata)
    if (key != checksum_key) add_text(fmt::format("{}={}\n", key, value));
  for (const TensorEntry& tensor : by_name) {
    add_text(fmt::format("{} {} {}\n", tensor.name, tensor.dtype, fmt::join(tensor.shape, ",")));
    with_bytes(path, tensor, [&](std::span<const std::byte> rest) {
      while (!rest.empty()) {
        const auto block = rest.first(std::min(rest.size(), block_bytes));
        hash.add(block);
        done(block);
        rest = rest.subspan(block.size());
      }
    });
  }
  return fmt::format("{:016x}", hash.digest());
}

// The whole file is read here, and again when tensors are used; in between it occupies no memory.
void check_content(const std::string& path, std::span<const TensorEntry> tensors, const Metadata& metadata) {
  const auto expected = metadata.find(checksum_key);
  if (expected == metadata.end()) return;  // not written by dragoman, or edited on purpose
  const std::string found = content_checksum(path, tensors, metadata, MappedFile::let_go);
  if (found == expected->second) return;
  throw Error(
      fmt::format("{}: the content has the checksum {}, its metadata expects {}", path, found, expected->second),
      "the file is damaged: copy it again; if it was edited on purpose, remove \"checksum\" from its metadata");
}

void check_to_write(const std::string& path, std::span<const TensorEntry> by_name) {
  for (size_t i = 0; i < by_name.size(); ++i) {
    const TensorEntry& tensor = by_name[i];
    require(tensor.name != metadata_key && (i == 0 || tensor.name != by_name[i - 1].name),
            "{}: two tensors are named {}", path, tensor.name);
    require((tensor.make && bytes_of(tensor.dtype, tensor.shape)) ||
                bytes_of(tensor.dtype, tensor.shape) == tensor.bytes.size(),
            "{}: tensor {} has {} bytes for {} of {}", path, tensor.name, tensor.bytes.size(), tensor.dtype,
            fmt::join(tensor.shape, " x "));
  }
}

std::string format_header(const std::string& path, std::span<const TensorEntry> tensors, const Metadata& metadata) {
  nlohmann::ordered_json header;
  header[metadata_key] = metadata;
  size_t begin = 0;
  for (const TensorEntry& tensor : tensors) {
    const size_t end = begin + bytes_of(tensor.dtype, tensor.shape).value();  // checked
    header[tensor.name] = {{"dtype", name_of(tensor.dtype)}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  try {
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');  // the data begins aligned
    return text;
  } catch (const json::type_error&) {
    fail("{}: cannot be written, since a tensor's name or the metadata is not valid UTF-8", path);
  }
}

using Write = std::function<void(FileWriter&)>;

// Calls `write` with a function that writes the file's bytes.
void write_file(const std::string& path, std::vector<TensorEntry> tensors, Metadata metadata,
                const std::function<void(const Write&)>& write) {
  std::ranges::sort(tensors, {}, &TensorEntry::name);
  check_to_write(path, tensors);
  metadata[checksum_key] = content_checksum(path, tensors, metadata, [](auto) {});
  std::ranges::stable_sort(tensors, std::greater(), [](const TensorEntry& t) { return size_of(t.dtype); });
  const std::string header = format_header(path, tensors, metadata);
  write([&](FileWriter& file) {
    const uint64_t length = header.size();
    file.write(&length, length_bytes);
    file.write(header);
    for (const TensorEntry& tensor : tensors)
      with_bytes(path, tensor, [&](std::span<const std::byte> bytes) { file.write(bytes.data(), bytes.size()); });
  });
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path) : SafetensorsFile(path, MappedFile(path)) {}

SafetensorsFile SafetensorsFile::in_memory(const std::string& name, std::vector<TensorEntry> tensors,
                                           Metadata metadata) {
  FileDescriptor file = FileDescriptor::in_memory(name);
  write_file(name, std::move(tensors), std::move(metadata), [&](const Write& write) {
    FileWriter writer(file);
    write(writer);
    writer.flush();
  });
  return {name, MappedFile(file)};
}

SafetensorsFile::SafetensorsFile(const std::string& path, MappedFile file) : path_(path), file_(std::move(file)) {
  refuse_other_kinds(path, file_.bytes());
  const std::string_view text = header_text(path, file_.bytes());
  const json header = parse_header(path, text);
  metadata_ = parse_metadata(path, header);
  tensors_ = parse_tensors(path, header, file_.bytes().subspan(length_bytes + text.size()));
  check_content(path, tensors_, metadata_);
}

std::string SafetensorsFile::checksum() const {
  const auto stored = metadata_.find(checksum_key);
  return stored != metadata_.end() ? stored->second : content_checksum(path_, tensors_, metadata_, MappedFile::let_go);
}

const TensorEntry* SafetensorsFile::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(tensors_, name, {}, &TensorEntry::name);
  return found != tensors_.end() && found->name == name ? &*found : nullptr;
}

const TensorEntry& SafetensorsFile::get(std::string_view name) const {
  const TensorEntry* found = find(name);
  require(found != nullptr, "{} has no tensor {}", path_, name);
  return *found;
}

void write_safetensors(const std::string& path, std::vector<TensorEntry> tensors, Metadata metadata) {
  write_file(path, std::move(tensors), std::move(metadata), [&](const Write& write) { write_atomically(path, write); });
}

}  // namespace dragoman
