#include "comm/communicator.h"

#include <numeric>
#include <thread>

#include "tests/comm/on_ranks.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

TEST(Communicator, OfOneProcessHasOnlyItself) {
  const auto ranks = single_process();
  EXPECT_EQ(ranks->rank(), 0);
  EXPECT_EQ(ranks->size(), 1);
  EXPECT_EQ(ranks->broadcast(std::string("text")), "text");
  EXPECT_THAT(ranks->gather("own"), ElementsAre("own"));
  EXPECT_TRUE(ranks->any(true));
  EXPECT_FALSE(ranks->any(false));
}

TEST(Communicator, GivesAllRanksTheBytesOfRank0) {
  for (int count : {2, 3, 4, 7, 8})
    on_ranks(count, [](Communicator& ranks) {
      const std::string text(100'000, 'x');
      EXPECT_EQ(ranks.broadcast(ranks.rank() == 0 ? text : "mine"), text);
      EXPECT_EQ(ranks.broadcast(std::string()), "");
      EXPECT_TRUE(ranks.broadcast(ranks.rank() == 0));
    });
}

TEST(Communicator, GathersTextsOnRank0InOrder) {
  on_ranks(5, [](Communicator& ranks) {
    const auto texts = ranks.gather(std::string(size_t(ranks.rank()), 'a'));
    if (ranks.rank() == 0)
      EXPECT_THAT(texts, ElementsAre("", "a", "aa", "aaa", "aaaa"));
    else
      EXPECT_TRUE(texts.empty());
  });
}

TEST(Communicator, CombinesAnswersOfAllRanks) {
  for (int who : {0, 1, 2})
    on_ranks(3, [who](Communicator& ranks) {
      EXPECT_TRUE(ranks.any(ranks.rank() == who));
      EXPECT_FALSE(ranks.any(false));
    });
}

// More than sockets hold: nobody may wait for its own bytes to be sent before it receives.
TEST(Communicator, ExchangesLargeMessagesInBothDirectionsAtOnce) {
  on_ranks(4, [](Communicator& ranks) {
    constexpr size_t numbers = 1 << 20;
    const auto message = [](int from, int to) {
      std::vector<int> values(numbers + size_t(to));
      std::iota(values.begin(), values.end(), 1000 * from + to);
      return values;
    };
    std::vector<std::vector<int>> sent(4), received(4);
    std::vector<Outgoing> out;
    std::vector<Incoming> in;
    for (int r = 0; r < 4; ++r) {
      if (r == ranks.rank()) continue;
      sent[size_t(r)] = message(ranks.rank(), r);
      received[size_t(r)].resize(numbers + size_t(ranks.rank()));
      out.push_back({r, bytes_of(sent[size_t(r)])});
      in.push_back({r, writable_bytes_of(received[size_t(r)])});
    }
    ranks.exchange(out, in);
    for (int r = 0; r < 4; ++r)
      if (r != ranks.rank()) {
        EXPECT_EQ(received[size_t(r)], message(r, ranks.rank()));
      }
  });
}

TEST(Communicator, KeepsTheOrderOfMessagesBetweenTwoRanks) {
  on_ranks(2, [](Communicator& ranks) {
    std::vector<char> first{'a', 'b'}, second{'c'};
    if (ranks.rank() == 0) {
      const std::array out = {Outgoing{1, bytes_of(first)}, Outgoing{1, bytes_of(second)}};
      return ranks.exchange(out, {});
    }
    std::vector<char> one(1), two(2);
    const std::array in = {Incoming{0, writable_bytes_of(one)}, Incoming{0, writable_bytes_of(two)}};
    ranks.exchange({}, in);
    EXPECT_THAT(one, ElementsAre('a'));
    EXPECT_THAT(two, ElementsAre('b', 'c'));
  });
}

// What rank 0 hears when another rank ends while it waits.
std::string loss(const std::function<void()>& how_rank_2_ends) {
  auto ranks = fork_ranks(4);
  if (ranks->rank() == 2) how_rank_2_ends();
  std::string what = "nothing";
  for (int times = 0; times < 2; ++times) {  // the same whenever it is asked
    try {
      ranks->barrier();
    } catch (const RankLost& error) {
      if (ranks->rank() > 0) _exit(2);
      what = error.what();
    }
    if (ranks->rank() > 0) _exit(0);
  }
  return what;
}

TEST(Communicator, SaysHowALostRankHasEnded) {
  EXPECT_EQ(loss([] { raise(SIGKILL); }), "rank 2 of 4 was killed by signal 9 (Killed)");
  EXPECT_EQ(loss([] { _exit(7); }), "rank 2 of 4 ended with exit code 7");
  EXPECT_EQ(loss([] { _exit(exit_code_of_errors); }), "rank 2 of 4 ended with exit code 2; stderr has its error");
}

TEST(Communicator, ReportsWhetherRank0Ends) {
  auto ranks = fork_ranks(2);
  if (ranks->rank() == 1) {
    const bool early = ranks->rank_0_ends_within(0.01);
    ranks->any(early);
    const bool later = ranks->rank_0_ends_within(30);
    _exit(early || !later);
  }
  EXPECT_FALSE(ranks->any(false));
  ranks.reset();
}

}  // namespace
}  // namespace dragoman
