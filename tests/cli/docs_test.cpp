#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/log.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/score_options.h"
#include "cli/translate_options.h"
#include "options/foreign.h"
#include "options/train_table.h"
#include "tests/source_dir.h"

namespace dragoman {
namespace {

std::string page(const char* name) {
  std::ifstream file(source_dir() + "/docs/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// "--workspace, -w" between backticks; programs have no dashes.
std::string code(std::string_view names, bool options) {
  std::string cell;
  std::istringstream words{std::string(names)};
  for (std::string name; words >> name;) {
    const char* dashes = !options ? "" : name.size() == 1 ? "-" : "--";
    cell += fmt::format("{}`{}{}`", cell.empty() ? "" : ", ", dashes, name);
  }
  return cell;
}

// "all" for *, "`0`, `1`" for "0,1".
std::string ignored_values(const Foreign& row) {
  if (row.ignored == "*") return "always";
  std::string cell;
  std::istringstream words{std::string(row.ignored)};
  for (std::string value; std::getline(words, value, ',');)
    cell += fmt::format("{}`{}`", cell.empty() ? "with " : ", ", value);
  if (!row.becomes.empty()) cell += fmt::format("; else read as `--{} N{}`", row.becomes, row.unit);
  return cell;
}

std::string of_commands(std::string_view commands) { return commands.empty() ? "" : fmt::format(" ({})", commands); }

std::string option_table(std::span<const Foreign> rows) {
  std::string table = "| option | ignored | here |\n|---|---|---|\n";
  for (const Foreign& row : rows)
    table += fmt::format("| {}{} | {} | {} |\n", code(row.names, true), of_commands(row.commands), ignored_values(row),
                         row.answer);
  return table;
}

std::string program_table(std::span<const Foreign> rows) {
  std::string table = "| program | here |\n|---|---|\n";
  for (const Foreign& row : rows) table += fmt::format("| {} | {} |\n", code(row.names, false), row.answer);
  return table;
}

std::string value_table(std::span<const ForeignValue> rows) {
  std::string table = "| option | value | here |\n|---|---|---|\n";
  for (const ForeignValue& row : rows)
    table += fmt::format("| `--{}`{} | `{}` | {} |\n", row.option, of_commands(row.commands),
                         row.value.empty() ? "[]" : row.value,
                         !row.answer.empty()   ? std::string(row.answer)
                         : row.becomes.empty() ? "left out"
                                               : fmt::format("`{}`", row.becomes));
  return table;
}

TEST(OptionsPage, IsUpToDate) {
  EXPECT_TRUE(page("options.md") == options_page(all_commands()))
      << "docs/options.md is stale: build/release/dragoman help --markdown > docs/options.md";
}

TEST(ComingFromMarian, HasTheTablesThatTheBinaryGoesBy) {
  const std::string text = page("coming_from_marian.md");
  for (const std::string& table :
       {program_table(marian_programs()), option_table(marian_options()), value_table(marian_values())})
    EXPECT_TRUE(text.find(table) != text.npos) << "docs/coming_from_marian.md lacks this table:\n" << table;
}

template <class Options>
std::vector<std::string> other_than_default(const Table<Options>& table, const std::string& file) {
  Options options;
  const LogSink none = [](LogLevel, std::string_view) {};
  const LogScope scope(&none);
  std::istringstream lines(
      *parse(table, {"-c", source_dir() + "/tests/cli/" + file, "--dump-config", "minimal"}, options));
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) names.push_back(line.substr(0, line.find(':')));
  return names;
}

// The files have Marian's defaults, but for these.
TEST(ComingFromMarian, HasARowForEachDefaultThatDiffers) {
  const std::string text = page("coming_from_marian.md");
  const size_t begin = text.find("\n## Other defaults"), end = text.find("\n## Options that have no counterpart");
  const std::string section = text.substr(begin, end - begin);
  for (const auto& names : {other_than_default(train_table(), "marian_training.yml"),
                            other_than_default(score_table(), "marian_scoring.yml"),
                            other_than_default(translate_table(), "marian_translating.yml")})
    for (const std::string& name : names)
      if (name != "model" && name != "train-sets" && name != "vocabs") {
        EXPECT_THAT(section, testing::HasSubstr(fmt::format("`--{}`", name)));
      }
}

TEST(ComingFromFairseq, HasTheTablesThatTheBinaryGoesBy) {
  const std::string text = page("coming_from_fairseq.md");
  for (const std::string& table :
       {program_table(fairseq_programs()), option_table(fairseq_options()), value_table(fairseq_values())})
    EXPECT_TRUE(text.find(table) != text.npos) << "docs/coming_from_fairseq.md lacks this table:\n" << table;
}

TEST(Overview, HasALineForEveryCommand) {
  const std::string text = overview(all_commands());
  for (const Command& command : all_commands())
    EXPECT_THAT(text, testing::HasSubstr(fmt::format("  {:<10} {}\n", command.about.name, command.about.summary)));
}

}  // namespace
}  // namespace dragoman
