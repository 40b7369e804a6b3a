#include "data/corpus.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/error.h"
#include "base/log.h"
#include "data/prefetch.h"
#include "tests/data/corpus_case.h"
#include "tests/threads.h"

namespace dragoman {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

TEST_F(CorpusTest, EncodesBothSidesAndEndsEverySentence) {
  CorpusFiles text = pair("the house\nthe river\n", "a river\na house");
  text.given_pieces = false;
  const auto corpus = read_corpus(text);
  ASSERT_EQ(corpus->size(), 2);
  EXPECT_EQ(text_of(corpus->pairs[1].source), "the river");
  EXPECT_EQ(text_of(corpus->pairs[0].target), "a river");
  for (int64_t i : {0, 1}) {
    EXPECT_EQ(corpus->pairs[i].source.back(), vocabulary->eos());
    EXPECT_EQ(corpus->pairs[i].target.back(), vocabulary->eos());
  }
}

TEST_F(CorpusTest, PutsTheSpecialPiecesOfAModelAroundSentences) {
  CorpusFiles text = pair("a b\n", "c\n");
  const auto plain = read_corpus(text);
  const int32_t eos = vocabulary->eos();
  text.frames = {{.before = {}, .after = {}, .alone = eos}, {.before = {3}, .after = {eos}}};
  const auto corpus = read_corpus(text);
  EXPECT_EQ(corpus->pairs.source_length(0), plain->pairs.source_length(0) - 1);
  EXPECT_NE(corpus->pairs[0].source.back(), eos);
  EXPECT_EQ(corpus->pairs.target_length(0), plain->pairs.target_length(0) + 1);
  EXPECT_EQ(corpus->pairs[0].target.front(), 3);
  EXPECT_EQ(corpus->pairs[0].target.back(), eos);
}

TEST_F(CorpusTest, DropsWhatIsEmptyOrTooLongAndCountsIt) {
  CorpusFiles text = pair("a b c\n\na b\na\na b c d\n \na b c\n",     // 3 0 2 1 4 0 3 pieces
                          "a\na\na b c d e\na b c\n\na\na b c d\n");  // 1 1 5 3 0 1 4
  text.max_length = 3;
  const auto corpus = read_corpus(text);
  EXPECT_THAT(lines_of(*corpus), ElementsAre(0, 3));
  const CorpusReport& report = corpus->report;
  EXPECT_EQ(report.lines, 7);
  EXPECT_EQ(report.kept, 2);
  EXPECT_EQ(report.dropped_empty, 3);
  EXPECT_EQ(report.dropped_long, 2);
  EXPECT_THAT(report.tokens, ElementsAre(4 + 2, 2 + 4));
  EXPECT_EQ(corpus->pairs.source_length(0), 4);
  EXPECT_EQ(corpus->pairs.target_length(1), 4);
  EXPECT_THAT(report.summary(),
              AllOf(HasSubstr("7 lines, 2 pairs kept with 6 source and 6 target tokens"),
                    HasSubstr("3 dropped with an empty side"), HasSubstr("2 dropped with more than 3 pieces")));
}

TEST_F(CorpusTest, SummaryOmitsWhatDidNotHappen) {
  EXPECT_THAT(read_corpus(pair("a\n", "b\n"))->report.summary(), Not(HasSubstr("dropped")));
}

TEST_F(CorpusTest, OfDifferentNumbersOfLinesIsAnErrorThatNamesBoth) {
  const CorpusFiles text = pair("a\na b c d e f\na b\n", "a\na b\n");
  const auto& [source, target] = text.texts[0].paths;
  EXPECT_THAT([&] { read_corpus(text); },
              ThrowsMessage<Error>(AllOf(HasSubstr(source + " has 3 lines, " + target + " has 2"),
                                         HasSubstr("line 2 of " + source + " is the first without a partner"))));
}

TEST_F(CorpusTest, WithoutAnyPairIsAnErrorThatSaysWhy) {
  EXPECT_THAT([&] { read_corpus(pair("", "")); }, ThrowsMessage<Error>(HasSubstr("no sentence pair is left")));
  EXPECT_THAT([&] { read_corpus(pair("a\n\n", "\nb\n")); },
              ThrowsMessage<Error>(HasSubstr("2 dropped with an empty side")));
  CorpusFiles text = pair("a b\n", "a\n");
  text.max_length = 1;
  try {
    read_corpus(text);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.hint(), HasSubstr("--max-length"));
  }
}

TEST_F(CorpusTest, SurvivesHostileLines) {
  const std::string big(1 << 20, 'x');
  const std::string text = "ok\n\xff\xfe bad\na\0b\nr\r\nline\u2028separator\n<s> </s> <unk>\n"s + big + "\nlast";
  CorpusFiles both = pair(text, text);
  both.given_pieces = false;
  const auto corpus = read_corpus(both);
  EXPECT_EQ(corpus->report.lines, 8);
  EXPECT_EQ(corpus->report.dropped_long, 1);
  EXPECT_THAT(lines_of(*corpus), ElementsAre(0, 1, 2, 3, 4, 5, 7));
  for (const auto& invalid : corpus->report.invalid_utf8) {
    EXPECT_EQ(invalid.lines, 1);
    EXPECT_EQ(invalid.first, 2);
  }
  for (int64_t i = 0; i < corpus->size(); ++i) {
    const auto ids = corpus->pairs[i].source;
    EXPECT_EQ(std::count(ids.begin(), ids.end(), vocabulary->eos()), 1);
  }
}

TEST_F(CorpusTest, OfOneSentenceGivesBatchesForEver) {
  BatchStream stream(read_corpus(pair("a\n", "b\n")), {}, 1);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(stream.next().target.ids.size(), 2u);
}

TEST_F(CorpusTest, FingerprintChangesWithTextAndOptionsOnly) {
  const CorpusFiles text = pair("a\nb\n", "c\nd\n");
  const uint64_t first = read_corpus(text)->fingerprint;
  EXPECT_EQ(read_corpus(text)->fingerprint, first);
  CorpusFiles shorter = text;
  shorter.max_length = 10;
  EXPECT_NE(read_corpus(shorter)->fingerprint, first);
  EXPECT_NE(read_corpus(pair("a\nb\n", "c\ne\n"))->fingerprint, first);
  EXPECT_NE(read_corpus(pair("c\nd\n", "a\nb\n"))->fingerprint, first);
  CorpusFiles elsewhere = pair("a\nb\n", "c\nd\n");
  elsewhere.texts = {{{files.make("x", "a\nb\n"), files.make("y", "c\nd\n")}}};
  EXPECT_EQ(read_corpus(elsewhere)->fingerprint, first);
}

// 1,500 lines each, so that blocks of encoding, which decide what is sampled, cross from one corpus to the other.
TEST_F(CorpusTest, OfSeveralTextsIsThatOfTheTextsPutTogether) {
  std::array<std::string, 2> source, target, columns;
  for (int i = 0; i < 3000; ++i) {
    const std::string s = fmt::format("the house {}", i % 7), t = i % 50 == 0 ? "" : fmt::format("a river {}", i);
    source[i / 1500] += s + "\n";
    target[i / 1500] += t + "\n";
    columns[i / 1500] += s + "\t" + t + "\n";
  }
  CorpusFiles whole = pair(source[0] + source[1], target[0] + target[1]);
  whole.given_pieces = false;
  whole.alphas = {0.5, 0.5};
  CorpusFiles two = whole, tsv = whole;
  two.texts = {{{files.make("s0", source[0]), files.make("t0", target[0])}},
               {{files.make("s1", source[1]), files.make("t1", target[1])}}};
  tsv.texts = text_pairs("train-sets", {files.make("0.tsv", columns[0]), files.make("1.tsv", columns[1])}, true);
  const auto expected = read_corpus(whole);
  for (const auto& files : {two, tsv}) {
    const auto corpus = read_corpus(files);
    EXPECT_EQ(ids_of(*corpus), ids_of(*expected));
    EXPECT_EQ(lines_of(*corpus), lines_of(*expected));
    EXPECT_EQ(corpus->fingerprint, expected->fingerprint);
    EXPECT_EQ(corpus->report.dropped_empty, 60);
  }
}

// 280 KB of ids, more where they are sampled; 2,500 pairs take 31 KB of lengths and plans, or 54 KB.
TEST_F(CorpusTest, IsTheSameInAFileAsInMemory) {
  for (const bool sampled : {false, true}) {
    CorpusFiles text = sampled_pair(1);
    if (!sampled) text.alphas = {0, 0};
    std::string weights;
    for (int i = 0; i < 2500; ++i) weights += fmt::format("{}\n", i % 3);
    add_notes(text.texts, {files.make("w", weights)}, {});
    const auto in_memory = read_corpus(text, 1);
    text.tempdir = files / "temporary";
    std::filesystem::create_directory(text.tempdir);
    for (const int64_t ram : {60'000, 200'000}) {
      text.ram = ram;
      const auto in_file = read_corpus(text, 1);
      EXPECT_TRUE(in_file->pairs.in_file());
      EXPECT_TRUE(std::filesystem::is_empty(text.tempdir));  // the file has no name any more
      EXPECT_THAT(in_file->report.summary(), HasSubstr("MiB of ids in a temporary file in " + text.tempdir));
      EXPECT_EQ(in_file->fingerprint, in_memory->fingerprint);
      EXPECT_EQ(in_file->ends, in_memory->ends);
      EXPECT_EQ(ids_of(*in_file), ids_of(*in_memory));
      EXPECT_EQ(lines_of(*in_file), lines_of(*in_memory));
      const BatchPlan plan = plan_batches(*in_memory, {}, 1, 3);
      EXPECT_EQ(plan_batches(*in_file, {}, 1, 3).pairs, plan.pairs);
      for (int64_t b = 0; b < plan.size(); ++b)
        EXPECT_EQ(assemble(*in_file, plan[b]).weights, assemble(*in_memory, plan[b]).weights);
    }
    text.ram = int64_t{1} << 30;
    EXPECT_FALSE(read_corpus(text, 1)->pairs.in_file());
  }
}

TEST_F(CorpusTest, SaysThatTheMemoryOrTheDiskIsTooSmall) {
  CorpusFiles text = sampled_pair(1);
  text.tempdir = files / ".";
  text.ram = 30'000;
  EXPECT_THAT([&] { read_corpus(text); },
              ThrowsMessage<Error>(
                  HasSubstr("--ram 29.296875K is too little: the lengths and order of 2,000 pairs alone take")));
  text.tempdir = "/proc";  // where nothing is free
  EXPECT_THAT([&] { read_corpus(text); },
              ThrowsMessage<Error>(AllOf(HasSubstr("--tempdir /proc has 0.0 KiB free"),
                                         testing::ContainsRegex("needs about [0-9.]+ KiB"))));
  text.tempdir = files / "nowhere";
  EXPECT_THAT([&] { read_corpus(text); },
              ThrowsMessage<Error>(HasSubstr(text.tempdir + ": cannot create a temporary file there")));
}

TEST_F(CorpusTest, HasAPairWhoseWeightIsAbove0) {
  CorpusFiles text = pair("a\n\nb\n", "a\nb\nc\n");
  add_notes(text.texts, {files.make("w", "0\n7\n0\n")}, {});
  EXPECT_THAT([&] { read_corpus(text); }, ThrowsMessage<Error>(HasSubstr("the weights of all pairs are 0")))
      << "the second one has an empty side";
  files.make("w", "0\n7\n1\n");
  EXPECT_EQ(read_corpus(text)->size(), 2);
}

TEST_F(CorpusTest, KeepsTheWeightsOfThePairsThatStay) {
  CorpusFiles text = pair("a\n\nb\n", "a\nb\nc\n");
  const uint64_t plain = read_corpus(text)->fingerprint;
  EXPECT_FALSE(read_corpus(text)->pairs.weighted());
  add_notes(text.texts, {files.make("w", "0.5\n7\n2\n")}, {});
  const auto corpus = read_corpus(text);
  EXPECT_EQ(corpus->pairs[0].weight, 0.5f);
  EXPECT_EQ(corpus->pairs[1].weight, 2);
  EXPECT_NE(corpus->fingerprint, plain);
  files.make("w", "0.5\n7\n3\n");
  EXPECT_NE(read_corpus(text)->fingerprint, corpus->fingerprint);
}

TEST_F(CorpusTest, ListsWhereEachTextEndsInPairs) {
  CorpusFiles text = pair("a\n\nb\n", "a\nb\nc\n");
  text.texts.push_back({{files.make("s1", "\n"), files.make("t1", "a\n")}});
  text.texts.push_back({{files.make("s2", "c\nd\n"), files.make("t2", "c\nd\n")}});
  EXPECT_THAT(read_corpus(text)->ends, ElementsAre(2, 2, 4));
}

TEST_F(CorpusTest, SamplingIsAFunctionOfSeedAndEpoch) {
  const auto ids = [&](uint64_t seed, int64_t epoch) { return ids_of(*read_corpus(sampled_pair(seed), epoch))[0]; };
  EXPECT_EQ(ids(1, 0), ids(1, 0));
  EXPECT_NE(ids(1, 0), ids(2, 0));
  EXPECT_NE(ids(1, 0), ids(1, 1));
}

TEST_F(CorpusTest, IsTheSameForAnyNumberOfThreads) {
  const auto with_threads = [&](int count) {
    const Threads threads(count);
    return read_corpus(sampled_pair(1), 0);
  };
  const auto one = with_threads(1);
  for (const int count : {2, 3, 8}) {  // of which the last read all 3 blocks at once
    const auto several = with_threads(count);
    EXPECT_EQ(ids_of(*several), ids_of(*one)) << count;
    EXPECT_EQ(lines_of(*several), lines_of(*one)) << count;
    EXPECT_EQ(several->fingerprint, one->fingerprint) << count;
  }
}

TEST_F(CorpusTest, SamplingDiffersBetweenSidesAndKeepsTextAndFingerprint) {
  const CorpusFiles text = sampled_pair(1);
  const auto first = read_corpus(text, 0), second = read_corpus(text, 1);
  EXPECT_NE(ids_of(*first)[0], ids_of(*first)[1]);
  EXPECT_EQ(first->fingerprint, second->fingerprint);
  for (int64_t i : {0, 1, 999, 1000, 2499})
    EXPECT_EQ(text_of(second->pairs[i].source), "the " + std::to_string(i) + " small houses stand near the old river");
}

TEST_F(CorpusTest, StreamSamplesEveryEpochAnewAndResumesExactly) {
  const CorpusFiles text = sampled_pair(1);
  DataOptions options;
  options.mini_batch = 1000;
  options.mini_batch_words = 0;
  BatchStream through(read_corpus(text), options, 1);
  for (int i = 0; i < 3; ++i) through.next();
  ASSERT_EQ(through.position(), (Position{1, 0}));
  // A stream may begin with the corpus of any epoch: it reads the one that is due.
  BatchStream resumed(read_corpus(text), options, 1, through.position());
  const auto corpus = read_corpus(text, 1);
  const BatchPlan plan = plan_batches(*corpus, options, 1, 1);
  for (int64_t b = 0; b < plan.size(); ++b) {
    const Batch expected = assemble(*corpus, plan[b]);
    EXPECT_EQ(through.next().source.ids, expected.source.ids);
    EXPECT_EQ(resumed.next().source.ids, expected.source.ids);
  }
}

TEST_F(CorpusTest, StopsReadingOnRequest) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(read_corpus(sampled_pair(1), 0, stop.get_token()), Error);
}

TEST_F(CorpusTest, TakesTheOptionsOfTraining) {
  DataOptions options;
  options.train_sets = {"a", "b"};
  options.sentencepiece_alphas = {0.1, 0};
  options.max_length = 7;
  const CorpusFiles text = training_files(options, *vocabulary, *vocabulary, 5);
  ASSERT_EQ(text.texts.size(), 1u);
  EXPECT_THAT(text.texts[0].paths, ElementsAre("a", "b"));
  EXPECT_THAT(text.alphas, ElementsAre(0.1, 0));
  EXPECT_TRUE(text.sampled());
  EXPECT_EQ(text.max_length, 7);
  EXPECT_EQ(text.seed, 5u);

  options.sentencepiece_alphas = {0.2};
  EXPECT_THAT(training_files(options, *vocabulary, *vocabulary, 7).alphas, ElementsAre(0.2, 0.2));
}

TEST_F(CorpusTest, SamplesSegmentationsForEachCopyOfAWeightedText) {
  CorpusFiles once = sampled_pair(1);
  once.texts.push_back(once.texts[0]);
  once.weights = {2.5, 1};
  const CorpusFiles copies = with_sampled_copies(once);
  EXPECT_THAT(copies.weights, ElementsAre(1, 1, 0.5, 1));
  EXPECT_EQ(text_name(copies.texts), text_name(once.texts));
  const auto corpus = read_corpus(copies, 0);
  EXPECT_THAT(corpus->ends, ElementsAre(2500, 5000, 7500, 10000));
  int same = 0;
  for (int64_t i = 0; i < 2500; ++i)
    same += std::ranges::equal(corpus->pairs[i].source, corpus->pairs[i + 2500].source);
  EXPECT_LT(same, 250);
  EXPECT_EQ(text_of(corpus->pairs[7].source), text_of(corpus->pairs[2507].source));
  EXPECT_EQ(pairs_an_epoch(*corpus), 8750);

  once.alphas = {0, 0};
  EXPECT_THAT(with_sampled_copies(once).weights, ElementsAre(2.5, 1));
}

TEST_F(CorpusTest, RefusesOptionsOfTrainingThatDoNotGoTogether) {
  const auto message = [](const DataOptions& options) -> std::string {
    try {
      training_files(options, *vocabulary, *vocabulary, 1);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  DataOptions options;
  options.train_sets = {"a"};
  EXPECT_THAT(message(options), HasSubstr("two files for each corpus, source and target, found 1: a"));
  options.train_sets = {"-", "-"};
  EXPECT_THAT(message(options), HasSubstr("only one file can come from stdin"));
  options.train_sets = {"-", "b"};
  EXPECT_EQ(message(options), "");
  options.sentencepiece_alphas = {0.1, 0.1, 0.1};
  EXPECT_THAT(message(options), HasSubstr("--sentencepiece-alphas has 3 values, expected one for both sides"));
  options.sentencepiece_alphas = {0.1, 0.1};
  EXPECT_THAT(message(options), HasSubstr("a pipe needs --stream"));
  options.train_sets = {"a", "b"};
  options.corpus_weights = {1, 2};
  EXPECT_THAT(message(options), HasSubstr("--corpus-weights has 2 numbers, --train-sets 1 corpora"));
  options.corpus_weights = {0};
  EXPECT_THAT(message(options), HasSubstr("--corpus-weights are all 0"));
  options.corpus_weights = {};
  options.no_spm_encode = true;
  EXPECT_THAT(message(options), HasSubstr("cannot be sampled"));
}

// Source and target of all pairs of a part.
using Lines = std::vector<std::string>;

TEST_F(CorpusTest, OfAStreamIsReadPartByPart) {
  CorpusFiles text = pair("a\nb\n\nc\nd\n", "1\n2\n3\n4\n5\n");
  text.stream = std::make_shared<TextStream>(TextStream{.part_lines = 2});
  const auto lines = [](const Corpus& corpus) {
    Lines lines;
    for (int64_t i = 0; i < corpus.size(); ++i) lines.push_back(text_of(corpus.pairs[i].target));
    return lines;
  };
  const auto first = read_corpus(text);
  EXPECT_EQ(lines(*first), (Lines{"1", "2"}));
  EXPECT_EQ(for_epoch(first, 0), first);
  const auto second = for_epoch(first, 1);
  EXPECT_EQ(lines(*second), (Lines{"4"})) << "line 3 has an empty side";
  EXPECT_EQ(second->report.lines, 2);
  EXPECT_EQ(lines(*for_epoch(second, 2)), (Lines{"5"}));
  EXPECT_EQ(for_epoch(second, 3), nullptr);
  EXPECT_EQ(for_epoch(second, 4), nullptr);
}

TEST_F(CorpusTest, WarnsOfInvalidLines) {
  std::string said;
  const LogSink sink = [&](LogLevel, std::string_view message) { said = message; };
  const LogScope scope(&sink);
  read_corpus(pair("a\n\xff\n", "1\n2\n"));
  EXPECT_THAT(said, HasSubstr("source: 1 line is not valid UTF-8, the first is line 2"));
}

TEST_F(CorpusTest, OfAStreamSkipsThePartsThatTheRunHasHad) {
  CorpusFiles text = pair("a\nb\nc\nd\ne\n", "1\n2\n3\n4\n5\n");
  text.stream = std::make_shared<TextStream>(TextStream{.part_lines = 2, .first_epoch = 7});
  const auto first = read_corpus(text);
  EXPECT_EQ(for_epoch(first, 7), first);
  const auto last = for_epoch(first, 9);
  ASSERT_EQ(last->size(), 1);
  EXPECT_EQ(text_of(last->pairs[0].target), "5");
  EXPECT_EQ(for_epoch(last, 10), nullptr);
}

}  // namespace
}  // namespace dragoman
