#include <gmock/gmock.h>

#include <fstream>
#include <regex>

#include "backend/registry.h"
#include "model/model.h"
#include "tests/model/attention_family.h"
#include "tests/source_dir.h"

namespace dragoman {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == at)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

// What stands between backticks in a cell.
std::vector<std::string> spans_of(const std::string& cell) {
  const auto parts = split(cell, '`');
  std::vector<std::string> spans;
  for (size_t i = 1; i < parts.size(); i += 2) spans.push_back(parts[i]);
  return spans;
}

// "a.b.weight", ".bias": the second name is "a.b.bias".
std::vector<std::string> names_of(const std::string& cell) {
  auto names = spans_of(cell);
  for (std::string& name : names) {
    if (!name.starts_with('.')) continue;
    std::string whole = names.front();
    for (auto dots = std::ranges::count(name, '.'); dots > 0; --dots) whole.resize(whole.rfind('.'));
    name = whole + name;
  }
  return names;
}

std::string joined(const std::vector<std::string>& alternatives) {
  std::string all;
  for (const std::string& one : alternatives) all += (all.empty() ? "" : "|") + one;
  return all;
}

/// The names of parameters in docs/model_format.md: a regular expression that matches all of them.
std::string names_of_the_page() {
  std::ifstream page(source_dir() + "/docs/model_format.md");
  std::vector<std::string> names;
  std::map<std::string, std::string> stands_for{{"L", "[0-9]+"}, {"E", "[0-9]+"}};
  const std::regex word("SIDE|NORM|ATTENTION|CELL|GATE|\\b[LE]\\b");
  const auto expanded = [&](std::string name) {
    for (std::smatch found; std::regex_search(name, found, word);)
      name.replace(size_t(found.position()), size_t(found.length()), "(" + stands_for.at(found.str()) + ")");
    return name;
  };
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) inside = line == "## Parameters";
    if (!inside || !line.starts_with("| `")) continue;
    const auto cells = split(line, '|');
    const auto found = names_of(cells[1]);
    if (!std::regex_match(found.front(), word)) {
      for (const std::string& name : found) names.push_back(expanded(name));
    } else if (const auto values = spans_of(cells[2]); !values.empty()) {
      stands_for[found.front()] = expanded(joined(values));
    }
  }
  return joined(names);
}

TEST_P(AttentionFamily, HasParametersWithNamesOfThePage) {
  static const std::regex page(std::regex_replace(names_of_the_page(), std::regex("\\."), "\\."));
  Arena arena;
  const auto model = make_model(GetParam().config(), backend("cpu"), arena, DType::f32, false);
  for (const auto& p : model->parameters().named())
    EXPECT_TRUE(std::regex_match(p.name, page)) << p.name << " is not in docs/model_format.md";
}

}  // namespace
}  // namespace dragoman
