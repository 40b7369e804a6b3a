#include <yaml-cpp/yaml.h>

#include <cctype>
#include <filesystem>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "interop/marian_files.h"
#include "options/foreign.h"
#include "options/parse.h"
#include "options/suggest.h"

namespace dragoman {
namespace {

bool is_marker(const std::string& line, std::string_view marker) {
  return line.starts_with(marker) && (line.size() == marker.size() || std::isspace(uint8_t(line[marker.size()])));
}

// YAML::Load() reads only the first document; YAML::LoadAll() does not terminate on some broken text. At the beginning
// of a line, "---" always begins a document and "..." always ends it.
void refuse_second_document(const std::string& text, const std::string& path) {
  std::istringstream lines(text);
  bool begun = false, ended = false;
  for (auto [line, number] = std::pair(std::string(), 1); std::getline(lines, line); ++number) {
    const bool begins = is_marker(line, "---"), ends = is_marker(line, "...");
    const size_t first = line.find_first_not_of(" \t\r", begins || ends ? 3 : 0);
    const bool has_text = first != std::string::npos && line[first] != '#';
    ended |= ends;
    require(!(begun && begins) && !(ended && (begins || has_text)),
            "{}, line {}: a second YAML document begins, expected one", path, number);
    begun |= begins || (has_text && line[0] != '%');
  }
}

YAML::Node load(const std::string& path) {
  try {
    const std::string text = read_file(path);
    refuse_second_document(text, path);
    // Before a last line break, yaml-cpp 0.7 takes the end of the file for a closing quote.
    return YAML::Load(text.substr(0, text.find_last_not_of(" \t\r\n") + 1));
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

// A file name of a script needs a slash, or the shell looks for a program of this name.
void make_relative_to(const std::filesystem::path& config, const Option& option, Strings& words) {
  const std::filesystem::path folder = config.has_parent_path() ? config.parent_path() : ".";
  for (std::string& word : words) {
    const bool named = !word.empty() && word != "-" && word != "stdin" && word != "stdout";
    std::error_code ignored;
    if (named && (option.files != FileWords::existing || std::filesystem::exists(folder / word, ignored)))
      word = folder / word;
    if (option.files == FileWords::first) break;
  }
}

// An option of another toolkit may have values of any kind.
Strings words_of_foreign(const YAML::Node& value) {
  try {
    return words_of(value, "");
  } catch (const Error&) {
    return {YAML::Dump(value)};
  }
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

void read_config(const std::string& path, const std::vector<Option>& options, Assignments& into, Findings& findings) {
  const YAML::Node file = load(path);
  if (file.IsNull()) return;  // empty, or only comments
  require(file.IsMap(), "{}: expected lines of the form 'option: value'", path);
  const bool relative = has_relative_paths(file, path);
  Assignments read;
  for (const auto& entry : file) {
    findings.attempt([&] {
      const int line = entry.first.Mark().line + 1;
      const std::string where = fmt::format("{}, line {}", path, line), key = name_of(entry.first);
      require(!key.empty(), "{}: expected the name of an option", where);
      if (key == marian_relative_paths) return;
      const Option* option = find(options, key);
      const Strings words = option ? Strings() : words_of_foreign(entry.second);
      if (const Foreign* row = option ? nullptr : renamed_option(key, words, findings.command())) {
        require(!read.contains(row->names), "{}: '{}' appears twice in the file", where, key);
        read[row->names] = {.words = words, .where = fmt::format("{}: {}", where, key)};
        return;
      }
      if (!option)
        return findings.add_option(key, words, fmt::format("{}: there is no option '{}'", where, key),
                                   fmt::format("{} ({}:{})", key, path, line), did_you_mean(key, all_names(options)));
      require(!read.contains(option->name), "{}: '{}' appears twice in the file", where, key);
      Assignment& assignment = read[option->name];
      assignment = {.words = {},
                    .where = fmt::format("{}: {}", where, key),
                    .refused = true,
                    .file = fmt::format("{}:{}", path, line)};
      assignment.words = read_truth_value(*option, words_of(entry.second, assignment.where));
      assignment.refused = false;
      if (relative && option->takes_files()) make_relative_to(path, *option, assignment.words);
    });
  }
  take_foreign_values(read, findings);
  read.merge(into);  // values in the file override earlier ones
  into = std::move(read);
}

std::string to_yaml(const std::vector<Option>& options, bool full) {
  std::string text;
  for (const Option& option : options) {
    const Strings words = option.show();
    if (words == option.standard && !full) continue;
    if (words.empty() && !option.standard.empty()) continue;  // in a file, an empty list is as if it were not there
    text += fmt::format("{}: {}\n", option.name, quoted(words, option.list));
  }
  return text;
}

}  // namespace dragoman
