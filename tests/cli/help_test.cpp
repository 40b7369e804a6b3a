#include "cli/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "cli/average_options.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/translate_options.h"
#include "options/foreign.h"
#include "options/train_table.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::Not;

template <class Options>
std::string page(const Table<Options>& table, const Strings& arguments) {
  Options options;
  return parse(table, arguments, options).value_or("no page");
}

template <class Options>
void expect_rows_of_essentials(const Table<Options>& table) {
  for (const std::string_view name : table.essentials)
    EXPECT_TRUE(std::ranges::any_of(table.flags, [&](const auto& row) { return row.name == name; })) << name;
}

TEST(ShortHelp, NamesOptionsThatExist) {
  expect_rows_of_essentials(train_table());
  expect_rows_of_essentials(translate_table());
}

TEST(ShortHelp, HasTheOptionsThatMatterAndTheWayToTheRest) {
  const std::string text = page(train_table(), {"-h"});
  EXPECT_THAT(text, HasSubstr("-v, --vocabs SOURCE TARGET"));
  EXPECT_THAT(text, Not(HasSubstr("--moe-experts")));
  EXPECT_THAT(text, HasSubstr("dragoman train --help shows all, --help WORD"));
  EXPECT_LT(std::ranges::count(text, '\n'), 100);
}

TEST(ShortHelp, IsTheWholePageOfACommandWithFewOptions) {
  EXPECT_EQ(page(average_table(), {"-h"}), page(average_table(), {"--help"}));
}

TEST(Help, HasAllOptions) { EXPECT_THAT(page(train_table(), {"--help"}), HasSubstr("--moe-experts")); }

TEST(Help, SearchesNamesAndMeanings) {
  const std::string text = page(train_table(), {"--help", "WarmUp"});
  EXPECT_THAT(text, HasSubstr("--lr-warmup N"));
  EXPECT_THAT(text, HasSubstr("--lr-schedule NAME"));  // whose help speaks of --lr-warmup
  EXPECT_THAT(text, Not(HasSubstr("--vocabs")));
}

// docs/gpu.md: on a GPU the last bits of a score may depend on what is translated together.
TEST(Help, DoesNotPromiseThatBatchesNeverChangeResults) {
  const std::string text = page(translate_table(), {"--help", "in flight"});
  EXPECT_THAT(text, HasSubstr("except in int8"));
  EXPECT_THAT(text, Not(HasSubstr("never the result")));
}

TEST(Help, HasTheWordsOfTheField) {
  for (const char* word : {"accumulation", "distributed", "multi-gpu", "mixed precision", "fp16", "EMA", "subword",
                           "fine-tune", "early stopping", "early_stopping"})
    EXPECT_THAT(page(train_table(), {"--help", word}), HasSubstr(" --")) << word;
  for (const char* word : {"prefix", "n best", "top-k"})
    EXPECT_THAT(page(translate_table(), {"--help", word}), HasSubstr(" --")) << word;
}

TEST(Help, KnowsPartsOfOtherToolkitsNames) {
  for (const auto& [word, answer] :
       {std::pair("scheduler", "--lr-schedule"), std::pair("patience", "--early-stopping"),
        std::pair("warmup updates", "--lr-warmup"), std::pair("word vec size", "--dim-emb")})
    EXPECT_THAT(std::string(foreign_answer(word, "train")), HasSubstr(answer)) << word;
  try {
    page(translate_table(), {"--help", "nbest"});
    FAIL() << "expected an error";
  } catch (const Error& e) {
    EXPECT_EQ(e.hint(), "use --n-best");
  }
}

TEST(Help, SaysThatNothingHasToDoWithAWord) { EXPECT_THROW(page(train_table(), {"--help", "elephant"}), Error); }

}  // namespace
}  // namespace dragoman
