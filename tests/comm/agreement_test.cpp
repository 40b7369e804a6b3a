#include "comm/agreement.h"

#include <fmt/format.h>

#include "base/log.h"
#include "tensor/arena.h"
#include "tests/comm/on_ranks.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::ThrowsMessage;

std::string difference(Communicator& ranks, const std::vector<SharedFact>& facts) {
  try {
    require_same(ranks, facts);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Agreement, NamesTheFirstDifferenceOnAllRanks) {
  on_ranks(3, [](Communicator& ranks) {
    const std::string own = std::to_string(ranks.rank() / 2);
    EXPECT_EQ(difference(ranks, {{"version", "1"}, {"corpus", ""}}), "none");
    EXPECT_EQ(difference(ranks, {}), "none");
    EXPECT_THAT(difference(ranks, {{"version", "1"}, {"corpus", own}, {"order", own}}),
                MatchesRegex("rank 2 of 3 \\(.*\\) has another corpus than rank 0: 1, not 0"));
    EXPECT_THAT(difference(ranks, {{"empty", ranks.rank() == 1 ? "" : "a"}, {"order", own}}),
                HasSubstr("has another empty than rank 0: , not a"));
  });
}

TEST(Agreement, NamesAllRanksThatDifferInAFact) {
  on_ranks(4, [](Communicator& ranks) {
    const std::string value = ranks.rank() % 2 == 1 ? fmt::format("b{}", ranks.rank()) : "a";
    EXPECT_THAT(difference(ranks, {{"version", "1"}, {"corpus", value}}),
                MatchesRegex("rank 1 of 4 \\(.*\\) has another corpus than rank 0: b1, not a; so does rank 3 of 4 "
                             "\\(.*\\)"));
    EXPECT_THAT(difference(ranks, {{"order", ranks.rank() > 0 ? "c" : "d"}}),
                MatchesRegex("rank 1 of 4 .*: c, not d; so do rank 2 of 4 \\(.*\\) and rank 3 of 4 \\(.*\\)"));
  });
}

std::string warning(Communicator& ranks, const std::string& arithmetic) {
  std::string said;
  const LogSink sink = [&](LogLevel, std::string_view message) { said += message; };
  const LogScope scope(&sink);
  warn_of_other_arithmetic(ranks, arithmetic);
  return said;
}

TEST(Agreement, WarnsOfAllRanksThatComputeOtherwise) {
  on_ranks(8, [](Communicator& ranks) {
    const int r = ranks.rank();
    EXPECT_EQ(warning(ranks, "AVX2"), "");
    const std::string said = warning(ranks, r == 2 || r == 5 ? "AVX2" : r == 3 ? "NEON" : "AVX-512");
    EXPECT_EQ(said, r > 0 ? ""
                          : "ranks 2 and 5 compute with AVX2; rank 3 computes with NEON; rank 0 with AVX-512: some "
                            "results will differ slightly from those of one process");
    const std::string many = warning(ranks, r > 0 ? "AVX2" : "AVX-512");
    EXPECT_EQ(many.find("ranks 1, 2, 3, 4 and 3 more compute with AVX2"), r > 0 ? many.npos : 0);
  });
}

TEST(Agreement, SendsAnErrorOfRank0ToAllRanks) {
  on_ranks(2, [](Communicator& ranks) {
    std::string message;
    try {
      together(ranks, [&] {
        if (ranks.rank() == 0) throw Error("the disk is full");
      });
    } catch (const Error& error) {
      message = error.what();
    }
    EXPECT_EQ(message, "the disk is full");
  });
}

// "message | hint"
std::string said(Communicator& ranks, const std::exception_ptr& own) {
  try {
    fail_together(ranks, own);
  } catch (const Error& error) {
    return fmt::format("{} | {}", error.what(), error.hint());
  } catch (const std::bad_alloc&) {
    return "out of memory";
  }
  return "nothing";
}

TEST(Agreement, EndsAllRanksWithTheirOwnErrorOrElseTheFirst) {
  on_ranks(4, [](Communicator& ranks) {
    EXPECT_EQ(said(ranks, nullptr), "nothing");
    std::exception_ptr own;
    if (ranks.rank() == 1) own = std::make_exception_ptr(Error("no tab", "write one"));
    if (ranks.rank() == 2) own = std::make_exception_ptr(std::bad_alloc());
    const std::string heard = said(ranks, own);
    if (ranks.rank() == 1) {
      EXPECT_EQ(heard, "no tab | write one");
    } else if (ranks.rank() == 2) {
      EXPECT_EQ(heard, "out of memory");
    } else {
      EXPECT_THAT(heard, MatchesRegex("rank 1 of 4 \\(.*\\): no tab \\| write one"));
    }
  });
}

TEST(Agreement, KeepsLackOfMemoryApartFromOtherErrors) {
  const std::exception_ptr lacks[] = {std::make_exception_ptr(OutOfMemory("out of memory: a tensor", "use less")),
                                      std::make_exception_ptr(std::bad_alloc())};
  for (const std::exception_ptr& lack : lacks)
    on_ranks(2, [&](Communicator& ranks) {
      if (ranks.rank() == 1)
        EXPECT_ANY_THROW(fail_together(ranks, lack));
      else
        EXPECT_THAT([&] { fail_together(ranks, nullptr); },
                    ThrowsMessage<OutOfMemory>(MatchesRegex("rank 1 of 2 \\(.*\\): out of memory(: a tensor)?")));
    });
}

TEST(Agreement, IsOnTheLeastNumber) {
  EXPECT_EQ(least_of(*single_process(), -7), -7);
  on_ranks(3, [](Communicator& ranks) {
    EXPECT_EQ(least_of(ranks, 10 + (ranks.rank() + 1) % 3), 10);  // of the last rank
    EXPECT_EQ(least_of(ranks, ranks.rank()), 0);
  });
}

TEST(FirstText, IsThatOfTheFirstRankWithAny) {
  EXPECT_EQ(first_text(*single_process(), "a"), "a");
  on_ranks(4, [](Communicator& ranks) {
    EXPECT_EQ(first_text(ranks, ranks.rank() < 2 ? "" : std::to_string(ranks.rank())), "2");
    EXPECT_EQ(first_text(ranks, ""), "");
  });
}

}  // namespace
}  // namespace dragoman
