#include "comm/shared_work.h"

#include "tests/comm/on_ranks.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

// "first:items" of each share.
std::string shown(const Share& share) { return std::to_string(share.first) + ":" + share.text; }

std::vector<std::string> texts_of_rounds(Communicator& ranks, std::vector<std::vector<std::string>> rounds_of_items,
                                         const std::function<std::string(const Share&)>& work) {
  std::vector<std::string> texts;
  size_t next = 0;
  const Rounds rounds{
      [&] { return next < rounds_of_items.size() ? rounds_of_items[next++] : std::vector<std::string>(); },
      [&](const std::vector<std::string>& results) { texts.insert(texts.end(), results.begin(), results.end()); }};
  share_work(ranks, ranks.rank() == 0 ? &rounds : nullptr,
             [&](const Share& share, std::string& result) { result = work(share); });
  return texts;
}

TEST(SharedWork, GivesRanksNeighbouringItemsWithAboutAsManyBytes) {
  on_ranks(3, [](Communicator& ranks) {
    const auto texts =
        texts_of_rounds(ranks, {{"aaaa\n", "b\n", "c\n", "d\n", "e\n", "f\n"}, {"g\n"}, {"h\n", "\n\n"}}, shown);
    if (ranks.rank() == 0) {
      EXPECT_THAT(texts, ElementsAre("0:aaaa\n", "1:b\nc\nd\n", "4:e\nf\n", "6:g\n", "", "", "7:h\n", "8:\n\n", ""));
    }
  });
}

TEST(SharedWork, OfOneProcessIsItsOwn) {
  EXPECT_THAT(texts_of_rounds(*single_process(), {{"a\n", "b\n"}, {"c\n"}}, shown), ElementsAre("0:a\nb\n", "2:c\n"));
}

// Two ranks fail; rank 0 tells the error of the first items, and the one that works notices the end.
TEST(SharedWork, FailsWithTheErrorOfTheFirstItems) {
  auto ranks = fork_ranks(3);
  const auto fail = [](const Share& share) -> std::string {
    if (share.first == 0) return "fine";
    throw Error("item " + std::to_string(share.first), "mend it");
  };
  try {
    texts_of_rounds(*ranks, {{"a\n", "b\n", "c\n"}}, fail);
  } catch (const Error& error) {
    if (ranks->rank() > 0) _exit(0);
    EXPECT_THAT(error.what(), testing::MatchesRegex("rank 1 of 3 \\(.*\\): item 1"));
    EXPECT_EQ(error.hint(), "mend it");
    return;
  }
  if (ranks->rank() > 0) _exit(1);
  ADD_FAILURE() << "no error";
}

// What rank 2 has done comes after the error.
TEST(SharedWork, FinishesWhatWasDoneBeforeTheError) {
  auto ranks = fork_ranks(3);
  std::vector<std::string> results;
  bool failed = false;
  const Rounds rounds{[] {
                        return std::vector<std::string>{"a\n", "b\n", "c\n"};
                      },
                      [&](const std::vector<std::string>& of_ranks) { results = of_ranks; }};
  try {
    share_work(*ranks, ranks->rank() == 0 ? &rounds : nullptr, [](const Share& share, std::string& result) {
      result = "done " + share.text;
      if (share.first == 1) throw Error("item 1");
    });
  } catch (const Error&) {
    failed = true;
  }
  if (ranks->rank() > 0) _exit(failed ? 0 : 1);
  EXPECT_TRUE(failed);
  EXPECT_THAT(results, ElementsAre("done a\n", "done b\n", ""));
}

TEST(LineCursor, GoesThroughLines) {
  LineCursor lines("a\n\nbc\n");
  EXPECT_EQ(lines.next(), "a");
  EXPECT_EQ(lines.next(), "");
  EXPECT_FALSE(lines.at_end());
  EXPECT_EQ(lines.next(), "bc");
  EXPECT_TRUE(lines.at_end());
}

}  // namespace
}  // namespace dragoman
