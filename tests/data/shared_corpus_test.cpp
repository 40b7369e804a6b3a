#include "base/error.h"
#include "comm/machine_ranks.h"
#include "data/batches.h"
#include "tests/comm/on_ranks.h"
#include "tests/data/corpus_case.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

using SharedCorpus = CorpusTest;

// The first rank alone has the text. Its file is the others', too.
TEST_F(SharedCorpus, IsReadOnceForTheRanksOfAMachine) {
  for (const bool sampled : {false, true})
    for (const int64_t ram : {0, 120'000}) {
      CorpusFiles text = sampled_pair(1);
      if (!sampled) text.alphas = {0, 0};
      text.ram = ram;
      text.tempdir = files / ".";
      const auto alone = read_corpus(text, 3);
      on_ranks(4, [&](Communicator& ranks) {
        const std::string machine = ranks.rank() % 2 ? "one" : "another";
        text.machine = std::make_shared<const MachineRanks>(ranks, machine);
        EXPECT_EQ(text.machine->size(), 2);
        EXPECT_EQ(text.machine->first(), ranks.rank() < 2);
        if (!text.machine->first()) text.texts = {{{"nowhere", "nowhere"}}};
        if (text.machine->first()) read_corpus(text, 2);  // of a stream that was stopped, before the others read it
        const auto corpus = read_corpus(text, 3);
        EXPECT_EQ(corpus->fingerprint, alone->fingerprint);
        EXPECT_EQ(corpus->ends, alone->ends);
        EXPECT_EQ(corpus->epoch, 3);
        EXPECT_EQ(ids_of(*corpus), ids_of(*alone));
        EXPECT_EQ(lines_of(*corpus), lines_of(*alone));
        EXPECT_EQ(corpus->report.tokens, alone->report.tokens);
        EXPECT_EQ(plan_batches(*corpus, {}, 1, 3).pairs, plan_batches(*alone, {}, 1, 3).pairs);
      });
    }
}

TEST_F(SharedCorpus, OfAStreamIsReadByTheFirstRank) {
  on_ranks(2, [&](Communicator& ranks) {
    CorpusFiles text = pair("a\nb\nc\n", "1\n2\n3\n");
    text.machine = std::make_shared<const MachineRanks>(ranks);
    if (ranks.rank() > 0) text.texts = {{{"nowhere", "nowhere"}}};
    text.stream = std::make_shared<TextStream>(TextStream{.part_lines = 2});
    const auto first = read_corpus(text), second = for_epoch(first, 1);
    EXPECT_EQ(first->size(), 2);
    ASSERT_EQ(second->size(), 1);
    EXPECT_EQ(text_of(second->pairs[0].target), "3");
    EXPECT_EQ(for_epoch(second, 2), nullptr);
  });
}

TEST_F(SharedCorpus, IsNotWaitedForInVain) {
  on_ranks(2, [&](Communicator& ranks) {
    CorpusFiles text = pair("a\n", "b\n");
    text.machine = std::make_shared<const MachineRanks>(ranks);
    std::stop_source stopped;
    stopped.request_stop();
    if (ranks.rank() == 1) {
      EXPECT_THAT([&] { read_corpus(text, 0, stopped.get_token()); }, ThrowsMessage<Error>(HasSubstr("was stopped")));
    }
    ranks.barrier();
    if (ranks.rank() == 0) {
      text.machine.reset();
    } else {
      EXPECT_THROW(read_corpus(text), RankLost);
    }
  });
}

// 2,500 sampled pairs take 34 KB, and 20 KB for the plans of each process.
TEST_F(SharedCorpus, TakesTheMemoryOfTheMachine) {
  CorpusFiles text = sampled_pair(1);
  text.tempdir = files / ".";
  text.ram = 60'000;  // enough for one process, which has one plan
  EXPECT_NO_THROW(read_corpus(text));
  on_ranks(3, [&](Communicator& ranks) {
    text.machine = std::make_shared<const MachineRanks>(ranks);
    if (text.machine->first()) {
      EXPECT_THAT([&] { read_corpus(text); }, ThrowsMessage<Error>(HasSubstr("--ram 58.59375K is too little")));
    }
    ranks.barrier();
  });
}

}  // namespace
}  // namespace dragoman
