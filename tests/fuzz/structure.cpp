#include "tests/fuzz/structure.h"

#include <cctype>
#include <cstring>
#include <limits>
#include <set>

#include "base/json_text.h"

namespace dragoman {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t shortest_word = 2, longest_word = 40, deepest = 200'000;
constexpr const char* too_deep = "@deep@";  // stands for arrays in arrays until the document is text

size_t below(size_t size, Random& random) { return size_t(random() % size); }

template <class List>
const auto& any_of(const List& list, Random& random) {
  return list[below(list.size(), random)];
}

Json parsed(std::string_view text) {
  return text.starts_with('{') || text.starts_with('[') ? Json::parse(text, nullptr, false)
                                                        : Json(Json::value_t::discarded);
}

std::string to_text(const Json& document) {
  std::string text = json_text(document);
  const std::string mark = std::string("\"") + too_deep + '"';
  if (const size_t at = text.find(mark); at != text.npos) text.replace(at, mark.size(), std::string(deepest, '['));
  return text;
}

// The objects and arrays that have entries.
void find_parents(Json& value, std::vector<Json*>& parents) {
  if (!value.is_structured() || value.empty()) return;
  parents.push_back(&value);
  for (Json& entry : value) find_parents(entry, parents);
}

// The JSON header of a safetensors file, after its length; empty if the bytes are no such file.
std::string_view header_of(std::string_view bytes) {
  uint64_t size = 0;
  if (bytes.size() < sizeof size) return {};
  std::memcpy(&size, bytes.data(), sizeof size);
  return size <= bytes.size() - sizeof size ? bytes.substr(sizeof size, size) : std::string_view();
}

}  // namespace

Structure::Structure(const std::vector<std::string>& seeds) {
  std::set<std::string> words = {"0"};
  for (const std::string& seed : seeds) {
    std::string word;
    for (const char c : seed + '\0') {
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-') {
        word += c;
        continue;
      }
      if (word.size() >= shortest_word && word.size() <= longest_word) words.insert(word);
      word.clear();
    }
    for (const std::string_view text : {std::string_view(seed), header_of(seed)})
      if (const Json value = parsed(text); !value.is_discarded()) learn(value);
  }
  words_.assign(words.begin(), words.end());
}

void Structure::learn(const Json& value) {
  if (value.is_string())
    if (const Json inner = parsed(value.get_ref<const std::string&>()); !inner.is_discarded()) learn(inner);
  for (const auto& [key, entry] : value.items()) {
    if (value.is_object()) keys_.push_back(key), values_of_[key].push_back(entry);
    if (value.is_structured()) values_.push_back(entry), learn(entry);
  }
}

const std::string& Structure::word(Random& random) const { return any_of(words_, random); }

bool Structure::change(std::string& bytes, Random& random) const {
  return change_json(bytes, random) || change_safetensors(bytes, random) || change_message(bytes, random);
}

bool Structure::change_safetensors(std::string& bytes, Random& random) const {
  std::string header(header_of(bytes));
  const size_t before = header.size();
  if (before == 0 || !change_json(header, random)) return false;
  const uint64_t size = header.size();
  bytes.replace(sizeof size, before, header);
  std::memcpy(bytes.data(), &size, sizeof size);
  return true;
}

bool Structure::change_json(std::string& text, Random& random) const {
  Json document = parsed(text);
  std::vector<Json*> parents;
  if (!document.is_discarded()) find_parents(document, parents);
  if (parents.empty() || keys_.empty()) return false;
  Json& parent = *any_of(parents, random);
  const size_t at = below(parent.size(), random);
  Json& entry = *std::next(parent.begin(), std::ptrdiff_t(at));
  std::string inner = entry.is_string() ? entry.get<std::string>() : "";
  if (below(4, random) != 0 && change_json(inner, random))
    entry = inner;
  else
    change_entry(parent, at, random);
  text = to_text(document);
  // A key that comes twice: no document in memory holds one.
  if (document.is_object() && below(16, random) == 0)
    text.insert(1, Json(any_of(keys_, random)).dump() + ':' + to_text(any_of(values_, random)) + ',');
  return true;
}

void Structure::change_entry(Json& parent, size_t at, Random& random) const {
  const auto entry = std::next(parent.begin(), std::ptrdiff_t(at));
  const std::string key = parent.is_object() ? entry.key() : "";
  switch (below(8, random)) {
    case 0:
      parent.erase(entry);
      break;
    case 1: {
      const Json value = *entry;
      if (parent.is_object()) {
        parent.erase(entry);
        parent[any_of(keys_, random)] = value;  // under another name
      } else {
        for (size_t copies = 1 + below(100, random); copies > 0; --copies) parent.push_back(value);
      }
      break;
    }
    case 2: {
      if (parent.is_array()) return parent.push_back(any_of(values_, random));
      const std::string& other = any_of(keys_, random);
      parent[other] = any_of(values_of_.at(other), random);
      break;
    }
    default:
      *entry = other_value(key, *entry, random);
  }
}

Json Structure::other_value(const std::string& key, const Json& value, Random& random) const {
  static const std::vector<Json> extremes = {nullptr,
                                             true,
                                             false,
                                             0,
                                             -1,
                                             1,
                                             3,
                                             65'536,
                                             1'000'000'000,
                                             std::numeric_limits<int32_t>::max(),
                                             int64_t(std::numeric_limits<uint32_t>::max()) + 1,
                                             std::numeric_limits<int64_t>::max(),
                                             std::numeric_limits<int64_t>::min(),
                                             std::numeric_limits<uint64_t>::max(),
                                             -0.0,
                                             0.5,
                                             1e-300,
                                             1e300,
                                             "",
                                             "-1",
                                             "nan",
                                             std::string(5000, 'a'),
                                             Json::array(),
                                             Json::object(),
                                             Json::array({Json::array({1, 2}), 3}),
                                             too_deep};
  switch (below(4, random)) {
    case 0:
      if (const auto known = values_of_.find(key); known != values_of_.end()) return any_of(known->second, random);
      [[fallthrough]];
    case 1:
      return any_of(values_, random);
    case 2:  // a number near the one that was there
      if (value.is_number_integer()) return value.get<int64_t>() / 2 + int64_t(below(5, random)) - 2;
      [[fallthrough]];
    default:
      return any_of(extremes, random);
  }
}

}  // namespace dragoman
