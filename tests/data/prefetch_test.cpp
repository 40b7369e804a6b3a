#include "data/prefetch.h"

#include <gmock/gmock.h>

#include <thread>

#include "base/error.h"
#include "tests/data/corpus_case.h"
#include "tests/data/open_pipe.h"
#include "tests/data/toy_corpus.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using namespace std::chrono_literals;

DataOptions batches_of(int64_t pairs) {
  DataOptions options;
  options.mini_batch = pairs;
  return options;
}

TEST(BatchStream, GivesTheBatchesOfThePlanEpochAfterEpoch) {
  const auto corpus = random_corpus(50);
  const DataOptions options = batches_of(7);
  BatchStream stream(corpus, options, 1);
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    const BatchPlan plan = plan_batches(*corpus, options, 1, epoch);
    for (int64_t b = 0; b < plan.size(); ++b) {
      EXPECT_EQ(stream.position(), (Position{epoch, b}));
      EXPECT_EQ(stream.next().sentences, assemble(*corpus, plan[b]).sentences);
      EXPECT_EQ(stream.epoch_ended(), b + 1 == plan.size());
    }
    EXPECT_EQ(stream.position(), (Position{epoch + 1, 0}));
  }
}

TEST(BatchStream, FromAPositionGivesWhatOneGivesThatCameThere) {
  const auto corpus = random_corpus(50);
  for (int done : {0, 1, 5, 8, 17, 40}) {
    BatchStream through(corpus, batches_of(7), 3);
    for (int i = 0; i < done; ++i) through.next();
    BatchStream resumed(corpus, batches_of(7), 3, through.position());
    for (int i = 0; i < 20; ++i) {
      const Batch a = through.next(), b = resumed.next();
      ASSERT_EQ(a.source.ids, b.source.ids);
      ASSERT_EQ(a.target.ids, b.target.ids);
      ASSERT_EQ(a.sentences, b.sentences);
      ASSERT_EQ(through.position(), resumed.position());
      ASSERT_EQ(through.epoch_ended(), resumed.epoch_ended());
    }
  }
}

TEST(BatchStream, OfOnePairEndsAnEpochWithEveryBatch) {
  BatchStream stream(toy_corpus({{2, 2}}), batches_of(7), 1);
  for (int64_t epoch = 1; epoch < 30; ++epoch) {
    stream.next();
    EXPECT_TRUE(stream.epoch_ended());
    EXPECT_EQ(stream.position(), (Position{epoch, 0}));
  }
}

TEST(BatchStream, CanBeLeftAtAnyTime) {
  const auto corpus = random_corpus(500);
  for (auto wait : {0ms, 1ms, 50ms}) {  // after 50 ms the queue is full
    BatchStream unused(corpus, batches_of(2), 1);
    BatchStream stream(corpus, batches_of(2), 1);
    stream.next();
    std::this_thread::sleep_for(wait);
  }
}

TEST(BatchStream, SaysThatThePlanIsShorterThanWhereTrainingStands) {
  BatchStream stream(random_corpus(50), batches_of(10), 1, {2, 5});
  EXPECT_THAT([&] { stream.next(); },
              ThrowsMessage<Error>(HasSubstr("the training state is at batch 5 of epoch 3, which has only 5 batches")));
}

TEST(BatchStream, ThrowsItsThreadsErrorEveryTime) {
  DataOptions unlimited = batches_of(0);
  unlimited.mini_batch_words = 0;
  BatchStream stream(random_corpus(5), unlimited, 1);
  EXPECT_THROW(stream.next(), Error);
  EXPECT_THROW(stream.next(), Error);
}

class TextStreamBatches : public CorpusTest {
 protected:
  // Parts of 3, 3, 3 and 2 lines, the third of which has no pair that can be used.
  std::shared_ptr<const Corpus> begin() {
    CorpusFiles text = pair("a\nb\nc\nd\ne\nf\n\n\n\ng\nh\n", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n");
    text.stream = std::make_shared<TextStream>(TextStream{.part_lines = 3});
    return read_corpus(text);
  }

  static BatchStream::Wait waited_for(BatchStream& batches, int64_t count) {
    BatchStream::Wait wait = BatchStream::Wait::too_long;
    while (wait == BatchStream::Wait::too_long) wait = batches.wait_for(count);
    return wait;
  }
  static bool more(BatchStream& batches, int64_t count = 1) {
    return waited_for(batches, count) == BatchStream::Wait::over;
  }
};

TEST_F(TextStreamBatches, AreWaitedForTogether) {
  BatchStream batches(begin(), batches_of(1), 1);  // eight
  EXPECT_TRUE(more(batches));
  while (batches.wait_for(20) == BatchStream::Wait::too_long) continue;
  for (int i = 0; i < 8; ++i) batches.next();
  EXPECT_TRUE(batches.ended()) << "without further waiting";
}

TEST_F(TextStreamBatches, EndWithTheText) {
  BatchStream batches(begin(), batches_of(2), 1);
  std::vector<Position> positions;
  int64_t pairs = 0;
  while (more(batches)) {
    pairs += int64_t(batches.next().sentences.size());
    positions.push_back(batches.position());
  }
  EXPECT_EQ(pairs, 8);
  EXPECT_EQ(positions, (std::vector<Position>{{0, 1}, {1, 0}, {1, 1}, {2, 0}, {4, 0}}));
  EXPECT_TRUE(batches.ended());
  EXPECT_EQ(batches.failure(), nullptr);
}

TEST_F(TextStreamBatches, PassAPartOfWhichNoPairCanBeUsed) {
  BatchStream batches(begin(), batches_of(2), 1, {1, 1});
  batches.next();
  EXPECT_EQ(batches.position(), (Position{2, 0})) << "what follows is not known yet";
  EXPECT_TRUE(more(batches));
  EXPECT_EQ(batches.position(), (Position{3, 0}));
}

TEST_F(TextStreamBatches, HaveAFingerprintOfTheirTextSoFar) {
  const auto fingerprints = [&](const std::string& source, int64_t at_once) {
    CorpusFiles text = pair(source, "1\n2\n3\n4\n");
    text.stream = std::make_shared<TextStream>(TextStream{.part_lines = 2});
    BatchStream batches(read_corpus(text), batches_of(1), 1);
    std::vector<uint64_t> all;
    while (more(batches, at_once)) {
      all.push_back(batches.text());
      for (int64_t i = 0; i < at_once; ++i) batches.next();
    }
    return all;
  };
  const auto one = fingerprints("a\nb\nc\nd\n", 1), other = fingerprints("a\nb\nc\ne\n", 1);
  ASSERT_EQ(one.size(), 4u);
  ASSERT_EQ(other.size(), 4u);
  EXPECT_EQ(one[1], one[0]);
  EXPECT_NE(one[2], one[1]) << "another part";
  EXPECT_EQ(one[3], one[2]);
  EXPECT_EQ(other[1], one[1]);
  EXPECT_NE(other[2], one[2]) << "another text";
  EXPECT_EQ(fingerprints("a\nb\nc\nd\n", 4), std::vector<uint64_t>{one[3]});
}

TEST_F(TextStreamBatches, BeforeAnErrorAreThereAndTheErrorComesAfterThem) {
  CorpusFiles text = pair("a\nb\nc\nd\ne\n", "1\n2\n3\n4\n");
  text.stream = std::make_shared<TextStream>(TextStream{.part_lines = 2});
  BatchStream batches(read_corpus(text), batches_of(1), 1);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(more(batches));
    batches.next();
  }
  EXPECT_EQ(waited_for(batches, 1), BatchStream::Wait::failed);
  EXPECT_THAT([&] { std::rethrow_exception(batches.failure()); }, ThrowsMessage<Error>(HasSubstr("5 lines")));
}

TEST_F(TextStreamBatches, FromAPositionAreThoseAfterReachingIt) {
  BatchStream whole(begin(), batches_of(2), 1);
  for (int i = 0; i < 3; ++i) whole.next();
  const Position position = whole.position();
  BatchStream resumed(begin(), batches_of(2), 1, position);
  while (more(whole)) {
    ASSERT_TRUE(more(resumed));
    EXPECT_EQ(whole.next().target.ids, resumed.next().target.ids);
    EXPECT_EQ(whole.position(), resumed.position());
  }
  EXPECT_FALSE(more(resumed));
}

TEST_F(TextStreamBatches, AreNotWaitedForInVain) {
  OpenPipe pipe(files / "pipe", "a\t1\nb\t2\nc\t3\nd");
  CorpusFiles text = pair("", "");
  text.texts = {{{pipe.path, pipe.path}, true}};
  text.stream = std::make_shared<TextStream>(TextStream{.part_lines = 3});
  {
    BatchStream batches(read_corpus(text), batches_of(3), 1);
    EXPECT_EQ(batches.next().sentences.size(), 3u);
    EXPECT_EQ(batches.wait_for(1), BatchStream::Wait::too_long);
  }  // the thread that reads ends, too
}

}  // namespace
}  // namespace dragoman
