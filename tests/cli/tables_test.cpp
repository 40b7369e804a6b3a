#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/error.h"
#include "base/threads.h"
#include "cli/align_options.h"
#include "cli/average_options.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/completion_options.h"
#include "cli/convert_options.h"
#include "cli/data_options.h"
#include "cli/detect_options.h"
#include "cli/evaluate_options.h"
#include "cli/explain_options.h"
#include "cli/inspect_options.h"
#include "cli/plot_options.h"
#include "cli/quantize_options.h"
#include "cli/score_options.h"
#include "cli/serve_options.h"
#include "cli/translate_options.h"
#include "cli/vocab_options.h"
#include "decode/search_fields.h"
#include "engine/model_files.h"
#include "options/table_files.h"
#include "options/train_table.h"

namespace dragoman {
namespace {

// The tests below run on the table of every subcommand.
template <class Options>
Table<Options> table_of();
template <>
Table<TrainOptions> table_of() {
  return train_table();
}
template <>
Table<TranslateCommandOptions> table_of() {
  return translate_table();
}
template <>
Table<DataCommandOptions> table_of() {
  return data_table();
}
template <>
Table<PlotOptions> table_of() {
  return plot_table();
}
template <>
Table<ExplainCommandOptions> table_of() {
  return explain_table();
}
template <>
Table<AlignCommandOptions> table_of() {
  return align_table();
}
template <>
Table<ScoreCommandOptions> table_of() {
  return score_table();
}
template <>
Table<AverageCommandOptions> table_of() {
  return average_table();
}
template <>
Table<ConvertCommandOptions> table_of() {
  return convert_table();
}
template <>
Table<QuantizeCommandOptions> table_of() {
  return quantize_table();
}
template <>
Table<ServeCommandOptions> table_of() {
  return serve_table();
}
template <>
Table<DetectOptions> table_of() {
  return detect_table();
}
template <>
Table<VocabOptions> table_of() {
  return vocab_table();
}
template <>
Table<EvaluateCommandOptions> table_of() {
  return evaluate_table();
}
template <>
Table<InspectOptions> table_of() {
  return inspect_table();
}

template <>
Table<CompletionOptions> table_of() {
  return completion_table();
}

template <class Options>
class EveryTable : public testing::Test {
 protected:
  Options options;
  Table<Options> table = table_of<Options>();
  CommonOptions common;
  std::vector<Option> rows = joined(bind_flags(table.flags, options), bind_flags(common_flags(), common));
};

using AllOptions = testing::Types<TrainOptions, DataCommandOptions, PlotOptions, TranslateCommandOptions,
                                  ServeCommandOptions, ScoreCommandOptions, ExplainCommandOptions, AlignCommandOptions,
                                  AverageCommandOptions, ConvertCommandOptions, QuantizeCommandOptions, VocabOptions,
                                  DetectOptions, EvaluateCommandOptions, InspectOptions, CompletionOptions>;
TYPED_TEST_SUITE(EveryTable, AllOptions);

bool is_kebab_case(std::string_view name) {
  if (name.empty() || !std::islower(name.front()) || name.back() == '-') return false;
  for (unsigned char c : name)
    if (!std::islower(c) && !std::isdigit(c) && c != '-') return false;
  return name.find("--") == std::string_view::npos;
}

TYPED_TEST(EveryTable, SaysWhatItIsForInOneLine) {
  const About& about = this->table.about;
  EXPECT_FALSE(about.name.empty() || about.summary.empty() || about.usage.empty() || about.text.empty());
  EXPECT_EQ(about.summary.find('\n'), std::string_view::npos);
}

TYPED_TEST(EveryTable, HasHelpAndAGroupInEachRow) {
  for (const Option& row : this->rows) {
    EXPECT_FALSE(row.help.empty()) << row.name;
    EXPECT_FALSE(row.group.empty()) << row.name;
    EXPECT_TRUE(row.boolean || !row.value.empty()) << row.name << " has no word for its value";
    EXPECT_FALSE(row.help.ends_with('.')) << row.name;
  }
}

TYPED_TEST(EveryTable, HasEachNameAndLetterOnce) {
  std::set<std::string> names;
  for (const std::string& name : all_names(this->rows)) {
    EXPECT_TRUE(is_kebab_case(name)) << name;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  std::set<char> letters;
  for (const Option& row : this->rows) EXPECT_TRUE(!row.letter || letters.insert(row.letter).second) << row.name;
}

TYPED_TEST(EveryTable, TakesItsOwnDefaultsAndStandingAloneValues) {
  for (Option& row : this->rows) {
    EXPECT_NO_THROW(row.set(row.standard)) << row.name;
    EXPECT_EQ(row.show(), row.standard) << row.name;
    if (row.implicit.empty()) continue;
    EXPECT_NO_THROW(row.set({std::string(row.implicit)})) << row.name;
  }
}

// --tempdir does not count: its files are temporary.
bool names_files(const Option& row) {
  for (const char* kind : {"FILE", "FOLDER", "SOURCE", "MODEL", "COMMAND"})
    if (row.value.starts_with(kind) && row.name != "tempdir" && row.name != "config") return true;
  return false;
}

bool names(const CommandFiles& files, const Option& row, const std::string& path) {
  for (const auto& named : {files.read, files.written})
    for (const auto& [what, paths] : named)
      if (what == fmt::format("--{}", row.name) && std::ranges::count(paths, path) > 0) return true;
  return false;
}

TYPED_TEST(EveryTable, HasItsFilesComparedBeforeOneIsWritten) {
  for (Option& row : this->rows) {
    if (!names_files(row)) continue;
    row.set({"this-one"});
    EXPECT_TRUE(names(files_of(this->table, this->options), row, "this-one")) << "files_of() lacks --" << row.name;
  }
}

// Programs call the functions that make a model from others without a table.
template <class Options, class OfLibrary>
void expect_same_files(const Table<Options>& table) {
  Options options;
  for (Option& row : bind_flags(table.flags, options)) {
    if (!row.takes_files() || row.name == "verify") continue;  // the command alone verifies
    row.set({"this-one"});
    const CommandFiles files = files_of(static_cast<const OfLibrary&>(options)), same = files_of(table, options);
    EXPECT_TRUE(names(files, row, "this-one")) << "files_of() lacks --" << row.name;
    ASSERT_EQ(same.written.size(), files.written.size());
    for (const auto& [what, paths] : same.written)
      EXPECT_EQ(std::ranges::count(files.written, what, &NamedFiles::what), 1) << what;
  }
}

TEST(ModelFiles, AreThoseOfTheCommands) {
  expect_same_files<AverageCommandOptions, AverageOptions>(average_table());
  expect_same_files<ConvertCommandOptions, ConvertOptions>(convert_table());
  expect_same_files<QuantizeCommandOptions, QuantizeOptions>(quantize_table());
}

// make_command() takes these options from the base structs.
TYPED_TEST(EveryTable, TakesTheOptionsOfTheMachineFromTheStructThatHasThem) {
  const auto has = [&](std::string_view name) {
    const Option* row = find(this->rows, name);
    return row && row->owner != Owner::work;
  };
  EXPECT_EQ(has("cpu-threads"), (std::derived_from<TypeParam, MachineOptions>));
  for (const char* name : {"devices", "fast-math"})
    EXPECT_EQ(has(name), (std::derived_from<TypeParam, DeviceOptions>)) << name;
  for (const char* name : {"processes", "comm-timeout", "profile"})
    EXPECT_EQ(has(name), (std::derived_from<TypeParam, SharedWorkOptions>)) << name;
}

TYPED_TEST(EveryTable, LetsProcessesDifferInWhatDoesNotChangeTheirResults) {
  static const std::set<std::string_view> names = {"cpu-threads", "devices", "tempdir", "profile", "quiet"};
  for (const Option& row : this->rows)
    EXPECT_EQ(row.per_process, (names.contains(row.name) && !std::same_as<TypeParam, InspectOptions>)) << row.name;
}

TYPED_TEST(EveryTable, HasAtMostOneListOfWordsWithoutNames) {
  int lists = 0;
  for (const Option& row : this->rows)
    if (row.positional) lists += row.list;
  EXPECT_LE(lists, 1) << "two lists of bare words cannot be told apart";
}

TYPED_TEST(EveryTable, ShowsEveryOptionInItsHelpWithinNinetyColumns) {
  const std::string page = help_page(this->table.about, this->rows);
  for (const Option& row : this->rows)
    EXPECT_NE(page.find(row.positional ? std::string(row.value) : fmt::format("--{}", row.name)), page.npos);
  size_t from = 0;
  for (size_t end; (end = page.find('\n', from)) != page.npos; from = end + 1)
    EXPECT_LE(end - from, 90u) << page.substr(from, end - from);
}

template <class Options>
int threads_of(Table<Options> table, const Strings& arguments) {
  return make_command(
             std::move(table), +[](Engine&, const Options&) { return thread_count(); })
      .run(arguments);
}

// The defaults of requests, but for what a request asks for: how many translations, or samples.
TEST(Serve, TakesTheOptionsOfTheSearchThatTranslateTakes) {
  static const std::set<std::string_view> of_requests = {"n-best", "output-sampling", "temperature", "seed"};
  const auto has = [](const auto& table, std::string_view name) {
    return std::ranges::any_of(table.flags, [&](const auto& flag) { return flag.name == name; });
  };
  for (const SearchField& field : search_fields()) {
    const std::string_view name = field.option.substr(0, field.option.find(' '));
    EXPECT_TRUE(has(translate_table(), name)) << name;
    EXPECT_EQ(has(serve_table(), name), !of_requests.contains(name)) << name;
  }
  for (const auto& flag : translate_table().flags)
    EXPECT_TRUE(flag.group != "Search" || has(serve_table(), flag.name)) << flag.name;
}

TEST(CpuThreads, AreThoseOfTheEngineThatACommandRunsOn) {
  EXPECT_EQ(threads_of(average_table(), {"-o", "new", "a", "--cpu-threads", "3"}), 3);
  EXPECT_EQ(threads_of(data_table(), {"-t", "s", "t", "--cpu-threads", "3"}), 3);
  EXPECT_EQ(threads_of(convert_table(), {"-i", "a", "-o", "new", "--cpu-threads", "3"}), 3);
}

}  // namespace
}  // namespace dragoman
