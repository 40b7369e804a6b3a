#include "options/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "cli/command.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

enum class Colour { red, green };
std::span<const EnumName<Colour>> enum_names(Colour) {
  static constexpr EnumName<Colour> names[] = {{Colour::red, "red"}, {Colour::green, "green"}};
  return names;
}

struct Base {
  int depth = 6;
};
struct Toy : Base {
  std::string file;
  std::vector<std::string> pair;
  std::vector<double> weights;
  std::vector<std::string> rest;
  double power = 0;
  double rate = 0.5;
  int64_t updates = 4000;
  uint64_t seed = 1;
  bool quiet = false;
  bool tied = true;
  Colour colour = Colour::red;
  Frequency every = {1000, Frequency::updates};
};

Table<Toy> toy_table() {
  return {
      .about = {"toy", "a toy", "[OPTION...]", "For tests."},
      .flags = {
          {.name = "file", .letter = 'f', .field = &Toy::file, .value = "FILE", .group = "G", .help = "h"},
          {.name = "depth",
           .letter = 'd',
           .alias = "layers",
           .field = &Toy::depth,
           .value = "N",
           .group = "G",
           .help = "h",
           .range = {1, 64}},
          {.name = "pair", .letter = 'p', .field = &Toy::pair, .value = "A B", .group = "G", .help = "h"},
          {.name = "weights", .field = &Toy::weights, .value = "W...", .group = "G", .help = "h"},
          {.name = "power",
           .letter = 'n',
           .field = &Toy::power,
           .value = "A",
           .group = "G",
           .help = "h",
           .implicit = "1"},
          {.name = "rate", .field = &Toy::rate, .value = "X", .group = "G", .help = "h", .range = {0, 1}},
          {.name = "updates", .field = &Toy::updates, .value = "N", .group = "G", .help = "h", .unit = "u"},
          {.name = "seed", .field = &Toy::seed, .value = "N", .group = "G", .help = "h"},
          {.name = "quiet", .field = &Toy::quiet, .group = "G", .help = "h"},
          {.name = "tied", .field = &Toy::tied, .group = "G", .help = "h"},
          {.name = "colour", .field = &Toy::colour, .value = "C", .group = "G", .help = "h"},
          {.name = "every", .field = &Toy::every, .value = "F", .group = "G", .help = "h"},
          {.name = "rest", .field = &Toy::rest, .value = "WORD...", .group = "G", .help = "h", .positional = true}}};
}

Toy toy(const Strings& arguments) {
  Toy options;
  parse(toy_table(), arguments, options);
  return options;
}

std::string refusal_of(const Strings& arguments) {
  try {
    toy(arguments);
  } catch (const Error& e) {
    return fmt::format("{} | {}", e.what(), e.hint());
  }
  return "no error";
}

TEST(CommandLine, LeavesDefaultsWhereNothingIsSaid) {
  const Toy t = toy({});
  EXPECT_EQ(t.depth, 6);
  EXPECT_TRUE(t.tied);
  EXPECT_FALSE(t.quiet);
}

TEST(CommandLine, TakesLongShortAttachedAndAliasedForms) {
  EXPECT_EQ(toy({"--depth", "3"}).depth, 3);
  EXPECT_EQ(toy({"--depth=3"}).depth, 3);
  EXPECT_EQ(toy({"-d", "3"}).depth, 3);
  EXPECT_EQ(toy({"-d3"}).depth, 3);
  EXPECT_EQ(toy({"--layers", "3"}).depth, 3);
}

TEST(CommandLine, LetsTheLastOfTwoScalarsWinAndListsGrow) {
  EXPECT_EQ(toy({"-d", "3", "--layers", "4"}).depth, 4);
  EXPECT_THAT(toy({"-p", "a", "-p", "b", "c"}).pair, ElementsAre("a", "b", "c"));
}

// The error of a command line for a table without the positional list.
std::string error_without_rest(const Strings& arguments) {
  Table<Toy> table = toy_table();
  table.flags.pop_back();
  try {
    Toy options;
    parse(table, arguments, options);
  } catch (const Error& e) {
    return fmt::format("{} | {}", e.what(), e.hint());
  }
  return "no error";
}

TEST(CommandLine, NamesTheOptionThatASurplusWordWasMeantFor) {
  EXPECT_EQ(error_without_rest({"--power", "green"}), "--power: 'green' is not a number | ");
  EXPECT_EQ(error_without_rest({"-n", "green"}), "--power: 'green' is not a number | ");
  EXPECT_EQ(error_without_rest({"--quiet", "green"}), "--quiet takes no value, found 'green' | ");
  EXPECT_EQ(error_without_rest({"green"}), "unexpected argument 'green' | usage: dragoman toy [OPTION...]");
}

TEST(CommandLine, TakesVersionAfterACommand) {
  Toy options;
  for (const char* version : {"--version", "-V"})
    EXPECT_THAT(parse(toy_table(), {version}, options).value_or(""), testing::StartsWith("dragoman "));
}

TEST(CommandLine, EndsAListAtTheNextOption) {
  const Toy t = toy({"--pair", "a", "b", "-d", "3"});
  EXPECT_THAT(t.pair, ElementsAre("a", "b"));
  EXPECT_EQ(t.depth, 3);
}

TEST(CommandLine, SplitsNumbersButNotFileNamesAtCommas) {
  EXPECT_THAT(toy({"--weights", "1,2.5", "3"}).weights, ElementsAre(1, 2.5, 3));
  EXPECT_THAT(toy({"--pair", "a,b", "c"}).pair, ElementsAre("a,b", "c"));
}

TEST(CommandLine, TakesNegativeNumbersAnywhereInAList) {
  EXPECT_THAT(toy({"--weights", "-1", "0"}).weights, ElementsAre(-1, 0));
  const Toy t = toy({"--weights", "0", "-1", "2", "-0.5", "-d", "3"});
  EXPECT_THAT(t.weights, ElementsAre(0, -1, 2, -0.5));
  EXPECT_EQ(t.depth, 3);
  EXPECT_THAT(toy({"--weights", "-1", "--pair", "a"}).pair, ElementsAre("a"));
}

TEST(CommandLine, TakesAnOptionalValueAfterABlankOrNone) {
  EXPECT_EQ(toy({"--power"}).power, 1);
  EXPECT_EQ(toy({"--power", "0.6"}).power, 0.6);
  EXPECT_EQ(toy({"--power=0.6"}).power, 0.6);
  EXPECT_EQ(toy({"-n", "0.6"}).power, 0.6);
  EXPECT_EQ(toy({"-n", "-d", "3"}).power, 1);
}

TEST(CommandLine, LeavesAWordAfterAnOptionThatStandsAloneToOthers) {
  EXPECT_THAT(toy({"--quiet", "file"}).rest, ElementsAre("file"));
  EXPECT_THAT(toy({"--power", "file"}).rest, ElementsAre("file"));
  EXPECT_THAT(toy({"--quiet", "file", "true"}).rest, ElementsAre("file", "true"));
  EXPECT_FALSE(toy({"--tied", "false"}).tied);
  EXPECT_TRUE(toy({"--tied"}).tied);
}

TEST(CommandLine, TakesWordsWithoutNamesBeforeAndAfterOptions) {
  EXPECT_THAT(toy({"a", "--depth", "3", "b"}).rest, ElementsAre("a", "b"));
  EXPECT_THAT(toy({"--", "--depth", "-x"}).rest, ElementsAre("--depth", "-x"));
}

TEST(CommandLine, TakesNegativeNumbersTheSignForStdinAndEmptyWords) {
  EXPECT_EQ(toy({"--power", "-0.5"}).power, -0.5);
  EXPECT_EQ(toy({"--file", "-"}).file, "-");
  EXPECT_EQ(toy({"--file", ""}).file, "");
}

TEST(CommandLine, TakesAUnitOnlyWhereTheRowHasOne) {
  EXPECT_EQ(toy({"--updates", "8000u"}).updates, 8000);
  EXPECT_EQ(toy({"--updates", "8000"}).updates, 8000);
  EXPECT_THAT(refusal_of({"--depth", "8u"}), HasSubstr("--depth: '8u' is not a whole number"));
}

TEST(CommandLine, TurnsWordsIntoEnumeratorsAndFrequencies) {
  EXPECT_EQ(toy({"--colour", "green"}).colour, Colour::green);
  EXPECT_EQ(toy({"--every", "2e"}).every, (Frequency{2, Frequency::epochs}));
}

TEST(CommandLine, NamesTheNearestOfAnOptionThatDoesNotExist) {
  EXPECT_EQ(refusal_of({"--deptth", "3"}), "there is no option --deptth | did you mean --depth?");
  EXPECT_EQ(refusal_of({"--dep", "3"}), "there is no option --dep | did you mean --depth?");
  EXPECT_EQ(refusal_of({"--elephant"}),
            "there is no option --elephant | dragoman toy --help WORD shows the options that mention a word");
  EXPECT_EQ(refusal_of({"-x"}),
            "there is no option -x | dragoman toy --help WORD shows the options that mention a word");
}

TEST(CommandLine, TakesALongNameWithOneDashForAMistake) {
  EXPECT_EQ(refusal_of({"-depth", "3"}), "there is no option -depth | write --depth");
  EXPECT_EQ(refusal_of({"-layers=3", "x"}), "there is no option -layers | write --layers");
  EXPECT_EQ(toy({"-files"}).file, "iles") << "a letter with its value";
}

TEST(CommandLine, SaysWhatToDoInsteadOfAMarianOptionThatIsNotNeeded) {
  EXPECT_THAT(refusal_of({"--workspace", "5000"}), HasSubstr("--workspace | memory is allocated as needed"));
}

TEST(CommandLine, NamesTheOptionTheWordAndWhatIsExpected) {
  EXPECT_THAT(refusal_of({"-d", "x"}), HasSubstr("--depth: 'x' is not a whole number"));
  EXPECT_THAT(refusal_of({"-d", "2.5"}), HasSubstr("--depth: '2.5' is not a whole number"));
  EXPECT_THAT(refusal_of({"-d", "65"}), HasSubstr("--depth: 65 is out of range, expected from 1 to 64"));
  EXPECT_THAT(refusal_of({"-d", "9999999999"}),
              HasSubstr("--depth: 9999999999 is out of range, expected from 1 to 64"));
  EXPECT_THAT(refusal_of({"--rate", "nan"}), HasSubstr("--rate: 'nan' is not a number"));
  EXPECT_THAT(refusal_of({"--rate", "-1"}), HasSubstr("--rate: -1 is out of range, expected from 0 to 1"));
  EXPECT_THAT(refusal_of({"--seed", "-1"}), HasSubstr("--seed: '-1' is not a whole number of at least 0"));
  EXPECT_THAT(refusal_of({"--tied=perhaps"}), HasSubstr("--tied: 'perhaps' is neither true nor false"));
  EXPECT_THAT(refusal_of({"--every", "10x"}), HasSubstr("--every: '10x' is not a number of updates"));
  EXPECT_EQ(refusal_of({"--colour", "gren"}), "--colour: 'gren' is not one of red, green | did you mean green?");
}

// Words that are numbers, of which another spelling is expected.
TEST(CommandLine, ShowsHowANumberIsWritten) {
  for (const auto& [written, expected] : {std::pair("16.0", "16"), {"+16", "16"}, {"1e1", "10"}, {"+1.6e1", "16"}})
    EXPECT_EQ(refusal_of({"-d", written}),
              fmt::format("--depth: '{}' is not in the expected form, {} | ", written, expected));
  EXPECT_THAT(refusal_of({"--rate", "+0.5"}), HasSubstr("--rate: '+0.5' is not in the expected form, 0.5"));
  EXPECT_THAT(refusal_of({"--seed", "2e0"}), HasSubstr("--seed: '2e0' is not in the expected form, 2"));
  EXPECT_THAT(refusal_of({"-d", "1e2"}), HasSubstr("--depth: 1e2 is out of range, expected from 1 to 64"));
  for (const char* word : {"+2.5", "1e-1", "+", "1e", "+x", "0x10"})
    EXPECT_THAT(refusal_of({"-d", word}), HasSubstr(fmt::format("--depth: '{}' is not a whole number", word)));
  EXPECT_THAT(refusal_of({"--rate", "+inf"}), HasSubstr("--rate: '+inf' is not a number"));
}

TEST(CommandLine, NamesTheOptionWhoseValueIsMissing) {
  EXPECT_THAT(refusal_of({"--depth"}), HasSubstr("--depth needs a value"));
  EXPECT_THAT(refusal_of({"--pair", "-d", "3"}), HasSubstr("--pair needs a value"));
}

TEST(CommandLine, GivesTheHelpPageWhateverElseIsWrong) {
  Toy options;
  const auto page = parse(toy_table(), {"--depth", "1000", "--help"}, options);
  ASSERT_TRUE(page);
  EXPECT_THAT(*page, HasSubstr("usage: dragoman toy"));
}

struct Needy {
  std::string model, action;
};

Table<Needy> needy() {
  return {.about = {"needy", "s", "u", "t"},
          .flags = {{.name = "model",
                     .field = &Needy::model,
                     .value = "FILE",
                     .group = "G",
                     .help = "the model",
                     .required = true}}};
}

TEST(CommandLine, NamesARequiredOptionThatIsMissing) {
  const Table<Needy> table = needy();
  Needy options;
  try {
    parse(table, {}, options);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "--model FILE is missing: the model");
  }
}

TEST(CommandLine, SaysOnceThatARequiredOptionHasTwoValues) {
  const Table<Needy> table = needy();
  Needy options;
  try {
    parse(table, {"--model", "a", "b"}, options);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "--model takes one value, found 2: a b");
  }
}

TEST(CommandLine, LetsAPresetBeOverriddenWhereverItStands) {
  Table<Toy> table = toy_table();
  table.preset_flag = "colour";
  table.preset = [](Toy& t) { t.depth = t.colour == Colour::green ? 12 : 6, t.rate = 0.3; };
  Toy options;
  parse(table, {"--depth", "3", "--colour", "green"}, options);
  EXPECT_EQ(options.depth, 3);
  EXPECT_EQ(options.rate, 0.3);
}

}  // namespace
}  // namespace dragoman
