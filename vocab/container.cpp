#include "vocab/container.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace dragoman {
namespace {

using Json = nlohmann::json;

constexpr std::string_view begins = R"({"format":"dragoman-vocabulary",)";
constexpr int version = 1;

int64_t number(const Json& value, const std::string& key, const std::string& name) {
  constexpr int64_t most = int64_t{1} << 40;
  const bool is_number = value.is_number_integer() && value <= most && value >= -1;
  require(is_number, "{}: '{}' in the header of the vocabulary is not a valid number", name, key);
  return value.get<int64_t>();
}

int64_t number_of(const Json& header, const std::string& key, const std::string& name) {
  const auto found = header.find(key);
  require(found != header.end(), "{}: the header of the vocabulary has no '{}'", name, key);
  return number(*found, key, name);
}

int32_t id_of(int64_t value) { return int32_t(std::min<int64_t>(value, INT32_MAX)); }

SpecialPieces special_of(const Json& header, const std::string& name) {
  const auto id = [&](const char* key) { return id_of(number_of(header, key, name)); };
  SpecialPieces special{.unk = id("unk"), .bos = id("bos"), .eos = id("eos"), .pad = id("pad")};
  const auto control = header.find("control");
  require(control != header.end() && control->is_array(), "{}: the header of the vocabulary has no list 'control'",
          name);
  for (const Json& one : *control) special.control.push_back(id_of(number(one, "control", name)));
  return special;
}

SegmentationKind kind_of(const Json& header, const std::string& name) {
  const auto found = header.find("segmentation");
  const std::string word = found != header.end() && found->is_string() ? found->get<std::string>() : "";
  const auto kind = from_name<SegmentationKind>(word);
  if (!kind)
    throw Error(fmt::format("{}: a vocabulary with segmentation \"{}\", expected {}", name, word.substr(0, 40),
                            all_names<SegmentationKind>()),
                "a newer dragoman may support it");
  return *kind;
}

std::vector<std::string> pieces_of(std::string_view list, int64_t expected, const std::string& name) {
  const auto count = std::ranges::count(list, '\0');
  require(count == expected && (list.empty() || list.back() == '\0'),
          "{}: the vocabulary has {} pieces, its header says {}", name, count, expected);
  std::vector<std::string> pieces;
  pieces.reserve(size_t(count));
  while (!list.empty()) {
    pieces.emplace_back(list.substr(0, list.find('\0')));
    list.remove_prefix(pieces.back().size() + 1);
  }
  return pieces;
}

Json header_of(std::string_view line, const std::string& name) {
  Json header = Json::parse(line, nullptr, false);
  require(header.is_object(), "{}: the header of the vocabulary is not a JSON object", name);
  const int64_t found = number_of(header, "version", name);
  if (found != version)
    throw Error(fmt::format("{}: a vocabulary of version {}, expected {}", name, found, version),
                "a newer dragoman may support it");
  return header;
}

}  // namespace

std::string to_container(const ListedVocabulary& v) {
  std::string list;
  for (const std::string& piece : v.pieces) list.append(piece).push_back('\0');
  return fmt::format(R"({}"version":{},"segmentation":"{}","unk":{},"bos":{},"eos":{},"pad":{},"control":[{}],)"
                     R"("pieces":{},"list_bytes":{},"model_bytes":{}}})"
                     "\n",
                     begins, version, name_of(v.segmentation), v.special.unk, v.special.bos, v.special.eos,
                     v.special.pad, fmt::join(v.special.control, ","), v.pieces.size(), list.size(), v.model.size())
      .append(list)
      .append(v.model);
}

bool is_container(std::string_view bytes) { return bytes.starts_with(begins); }

ListedVocabulary from_container(std::string_view bytes, const std::string& name) {
  const size_t line = bytes.find('\n');
  require(line != bytes.npos, "{}: the vocabulary is cut off in its header", name);
  const Json header = header_of(bytes.substr(0, line), name);
  const std::string_view parts = bytes.substr(line + 1);
  const int64_t list = number_of(header, "list_bytes", name), model = number_of(header, "model_bytes", name);
  require(list >= 0 && model >= 0 && list + model == int64_t(parts.size()),
          "{}: the vocabulary is damaged or cut off: {} bytes follow its header, which says {} + {}", name,
          parts.size(), list, model);
  return {.segmentation = kind_of(header, name),
          .special = special_of(header, name),
          .pieces = pieces_of(parts.substr(0, size_t(list)), number_of(header, "pieces", name), name),
          .model = std::string(parts.substr(size_t(list)))};
}

}  // namespace dragoman
