#include <yaml-cpp/yaml.h>

#include <cctype>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "cli/marian.h"
#include "cli/parse.h"
#include "cli/suggest.h"

namespace dragoman {
namespace {

// YAML::Load() reads only the first document; YAML::LoadAll() does not terminate on some broken text. At the beginning
// of a line, "---" is always a document separator.
void refuse_second_document(const std::string& text, const std::string& path) {
  std::istringstream lines(text);
  bool begun = false;
  for (auto [line, number] = std::pair(std::string(), 1); std::getline(lines, line); ++number) {
    const bool border = line.starts_with("---") && (line.size() == 3 || std::isspace(uint8_t(line[3])));
    require(!border || !begun, "{}, line {}: a second YAML document begins, expected one", path, number);
    const size_t first = line.find_first_not_of(" \t\r", border ? 3 : 0);
    begun |= first != std::string::npos && line[first] != '#' && line[0] != '%';
  }
}

YAML::Node load(const std::string& path) {
  try {
    const std::string text = read_file(path);
    refuse_second_document(text, path);
    return YAML::Load(text);
  } catch (const YAML::ParserException& e) {
    fail("{}, line {}: not YAML: {}", path, e.mark.line + 1, e.msg);
  }
}

Strings words_of(const YAML::Node& value, const std::string& where) {
  if (value.IsScalar()) return {value.Scalar()};
  require(value.IsSequence(), "{}: expected a value or a list of values", where);
  Strings words;
  for (const YAML::Node& item : value) {
    require(item.IsScalar(), "{}: expected a list of plain values", where);
    words.push_back(item.Scalar());
  }
  return words;
}

// A key as written, or empty if it is not a scalar. YAML reads `null`, an option of align, as no value.
std::string name_of(const YAML::Node& key) { return key.IsNull() ? "null" : key.IsScalar() ? key.Scalar() : ""; }

// The name of the option that a key stands for, or empty.
std::string_view name_of_key(const std::vector<Option>& options, const std::string& key) {
  for (const Option& option : options)
    if (option.name == key || (!option.alias.empty() && option.alias == key)) return option.name;
  return "";
}

std::string_view key_in(const std::vector<Option>& options, const std::string& key, const std::string& place) {
  const std::string_view name = name_of_key(options, key);
  if (!name.empty()) return name;
  throw Error(fmt::format("{}: there is no option '{}'", place, key), advice_on(key, all_names(options), ""));
}

// Reports all unsupported Marian options at once.
void refuse_left_out(const YAML::Node& file, const std::string& path, const std::vector<Option>& options) {
  std::vector<const LeftOut*> found;
  std::string shown;
  int line = 0;
  for (const auto& entry : file) {
    const std::string key = name_of(entry.first);
    const LeftOut* option = left_out(key);
    if (!option || !name_of_key(options, key).empty()) continue;
    if (found.empty()) line = entry.first.Mark().line + 1;
    found.push_back(option);
    shown += fmt::format("{}'{}'", shown.empty() ? "" : ", ", key);
  }
  if (!found.empty())
    throw Error(fmt::format("{}, line {}: there is no option {}", path, line, shown), advice_on(found, ""));
}

std::string quoted(const Strings& words, bool list) {
  YAML::Emitter out;
  if (list)
    out << YAML::Flow << words;
  else
    out << words.at(0);
  return out.c_str();
}

}  // namespace

void read_config(const std::string& path, const std::vector<Option>& options, Assignments& into) {
  const YAML::Node file = load(path);
  if (file.IsNull()) return;  // empty, or only comments
  require(file.IsMap(), "{}: expected lines of the form 'option: value'", path);
  refuse_left_out(file, path, options);
  Assignments read;
  for (const auto& entry : file) {
    const std::string place = fmt::format("{}, line {}", path, entry.first.Mark().line + 1);
    const std::string key = name_of(entry.first);
    require(!key.empty(), "{}: expected the name of an option", place);
    const std::string_view name = key_in(options, key, place);
    require(!read.contains(name), "{}: '{}' appears twice in the file", place, key);
    const std::string where = fmt::format("{}: {}", place, key);
    read[name] = {words_of(entry.second, where), where};
  }
  read.merge(into);  // the file overrides earlier values
  into = std::move(read);
}

std::string to_yaml(const std::vector<Option>& options, bool full) {
  std::string text;
  for (const Option& option : options) {
    const Strings words = option.show();
    if (words == option.standard && !full) continue;
    text += fmt::format("{}: {}\n", option.name, quoted(words, option.list));
  }
  return text;
}

}  // namespace dragoman
