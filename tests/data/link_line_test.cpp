#include "data/link_line.h"

#include <gmock/gmock.h>

#include "data/batches.h"
#include "data/id_pairs.h"
#include "data/survey.h"
#include "tests/data/corpus_case.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;
using Links = std::vector<TokenLink>;

LinkLine parsed(const std::string& line) {
  const TemporaryFolder files;
  LineReader reader(files.make("links", "\n" + line + "\n"));
  std::string read;
  for (int i = 0; i < 2; ++i) reader.next(read);
  LinkLine links = parse_links(read, reader);
  links.file = "links";
  return links;
}

TEST(ParseLinks, TakesLinksInOrderAndEachOnce) {
  EXPECT_EQ(parsed("1-2 0-10  0-1\t1-2 ").links, (Links{{0, 1}, {0, 10}, {1, 2}}));
  EXPECT_THAT(parsed("").links, IsEmpty());
  EXPECT_EQ(parsed("1-2").line, 2);
}

TEST(ParseLinks, NamesTheLineOfAWordThatIsNoLink) {
  for (const std::string word :
       {"1", "-1", "1-", "1-x", "1--2", "1-2-3", "1:2", "x", "1-2,3-4", "99999999999999999999-1", "+1-2", "1- 2"})
    EXPECT_THAT([&] { parsed("0-0 " + word + " 1-1"); },
                ThrowsMessage<Error>(HasSubstr("links, line 2: '" + word.substr(0, word.find(' ')) +
                                               "' is not a link, expected numbers such as 0-0")))
        << word;
}

TEST(ParseLinks, LimitsTheirNumber) {
  std::string line;
  for (int i = 0; i < 65536; ++i) line += fmt::format("{}-{} ", i / 256, i % 256);
  EXPECT_THAT([&] { parsed(line); },
              ThrowsMessage<Error>(HasSubstr("links, line 2: has 65,536 links, expected at most 65,535")));
}

TEST(LinkLine, MustNotLinkTokensThatThereAreNot) {
  const LinkLine line = parsed("2-0 0-3");
  EXPECT_NO_THROW(line.require_tokens(3, 4));
  EXPECT_THAT([&] { line.require_tokens(2, 4); },
              ThrowsMessage<Error>(HasSubstr("links, line 2: the link 2-0 is beyond the pair, which has 2 source and 4 "
                                             "target pieces, </s> included")));
  EXPECT_THAT([&] { line.require_tokens(3, 3); }, ThrowsMessage<Error>(HasSubstr("the link 0-3 is beyond the pair")));
}

TEST_F(CorpusTest, CropsWhatIsTooLongIfAsked) {
  CorpusFiles text = pair("a b c d\na\n\na b\n", "a b\nd c b a d\na b c d\na b\n");
  text.max_length = 3, text.crops = true;
  const auto corpus = read_corpus(text);
  EXPECT_THAT(lines_of(*corpus), ElementsAre(0, 1, 3));
  const auto cropped = read_corpus(pair("a b c\na\n\na b\n", "a b\nd c b\n\na b\n"));
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(std::ranges::equal(corpus->pairs[i].source, cropped->pairs[i].source)) << i;
    EXPECT_TRUE(std::ranges::equal(corpus->pairs[i].target, cropped->pairs[i].target)) << i;
  }
  EXPECT_EQ(corpus->report.cropped, 2);
  EXPECT_EQ(corpus->report.dropped_long, 0);
  EXPECT_EQ(corpus->report.dropped_empty, 1);
  EXPECT_THAT(corpus->report.summary(), HasSubstr("; 2 cropped to 3 pieces"));
  text.crops = false;
  EXPECT_NE(corpus->fingerprint, read_corpus(text)->fingerprint);
}

// Three and five pieces, cropped to three: </s> is token 3 of the source as before, and no longer 5 of the target,
// but 3.
TEST(Crop, KeepsTheLinksOfKeptTokens) {
  std::vector<int32_t> source = {5, 6, 7}, target = {5, 6, 7, 8, 9};
  Links links = {{0, 0}, {1, 3}, {1, 4}, {2, 2}, {2, 5}, {3, 4}, {3, 5}};
  EXPECT_TRUE(crop(source, target, links, 3));
  EXPECT_THAT(source, ElementsAre(5, 6, 7));
  EXPECT_THAT(target, ElementsAre(5, 6, 7));
  EXPECT_EQ(links, (Links{{0, 0}, {2, 2}, {2, 3}, {3, 3}}));
  EXPECT_FALSE(crop(source, target, links, 3));
  EXPECT_EQ(links.size(), 4);
  EXPECT_TRUE(crop(source, target, links, 1));
  EXPECT_EQ(links, (Links{{0, 0}, {1, 1}}));
}

TEST(PairStore, KeepsLinksInMemoryAndInAFileThatOthersMap) {
  PairStore pairs(true, true);
  const auto links = [](int32_t i) {
    Links all;
    for (int32_t l = 0; l < i % 5; ++l) all.push_back({l, 65535 - i});
    return all;
  };
  for (int32_t i = 0; i < 40; ++i) pairs.add({i, std::vector{i, 2}, std::vector{7, i, 2}, 0.5f, links(i)});
  const int64_t bytes = pairs.memory();
  for (const bool mapped : {false, true}) {
    if (mapped) pairs = PairStore(pairs.to_file());
    ASSERT_EQ(pairs.size(), 40);
    EXPECT_TRUE(pairs.linked());
    for (int32_t i = 39; i >= 0; --i) {
      EXPECT_EQ(pairs[i].links, links(i)) << i;
      EXPECT_EQ(pairs[i].line, i);
      EXPECT_THAT(pairs[i].target, ElementsAre(7, i, 2));
    }
  }
  PairStore plain(true);
  for (int32_t i = 0; i < 40; ++i) plain.add({i, std::vector{i, 2}, std::vector{7, i, 2}, 0.5f});
  EXPECT_EQ(bytes, plain.memory() + 40 * 2 + (0 + 1 + 2 + 3 + 4) * 8 * 4);
}

class LinkedCorpus : public CorpusTest {
 protected:
  CorpusFiles linked(const std::string& links) const {
    CorpusFiles corpus = pair("a b\n\nc d e\n", "v\nw\nx y\n");
    corpus.texts[0].links = {.path = files.make("links", links)};
    corpus.links_weight = 0.5;
    return corpus;
  }
};

TEST_F(LinkedCorpus, GivesBatchesTheLinksOfTheirPairs) {
  const auto corpus = read_corpus(linked("1-0 0-0\n\n2-1 3-2\n"));
  ASSERT_EQ(corpus->size(), 2);
  const Batch batch = assemble(*corpus, {std::vector<int32_t>{1, 0}});
  EXPECT_THAT(batch.links, ElementsAre(Links{{2, 1}, {3, 2}}, Links{{0, 0}, {1, 0}}));
  EXPECT_EQ(batch.links_weight, 0.5);
  EXPECT_EQ(batch.linked_weight(), 1.5);
  const Batch second = sentences_of(batch, {1, 2});
  EXPECT_THAT(second.links, ElementsAre(Links{{0, 0}, {1, 0}}));
  EXPECT_EQ(second.links_weight, 0.5);
}

TEST_F(LinkedCorpus, CountsTheSpecialPiecesInFrontOfASentence) {
  CorpusFiles files = linked("1-0\n\n0-0\n");
  files.frames = SentenceFrames{.source = {.before = {9, 9}, .after = {2}}, .target = {.before = {8}, .after = {2}}};
  EXPECT_EQ(read_corpus(files)->pairs[0].links, (Links{{3, 1}}));
}

TEST_F(LinkedCorpus, HasTheFingerprintOfItsLinks) {
  const auto fingerprint = [&](const std::string& links) { return read_corpus(linked(links))->fingerprint; };
  EXPECT_EQ(fingerprint("1-0\n\n0-0\n"), fingerprint("1-0 1-0\n\n0-0\n"));
  EXPECT_NE(fingerprint("1-0\n\n0-0\n"), fingerprint("0-0\n\n0-0\n"));
  EXPECT_NE(fingerprint("1-0\n\n\n"), fingerprint("\n\n1-0\n"));
}

TEST_F(LinkedCorpus, NeedsALineOfLinksForEachPair) {
  const auto message = [&](const std::string& links) -> std::string {
    try {
      read_corpus(linked(links));
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(message("1-0\n\n"), AllOf(HasSubstr(files / "links" + " has 2 lines, " + files / "source" + " has 3"),
                                        HasSubstr("--guided-alignment needs a line of links for each")));
  EXPECT_THAT(message("1-0\n\n\n\n"), HasSubstr("has 4 lines"));
  EXPECT_THAT(message("1-0\n\n4-0\n"), HasSubstr(files / "links" + ", line 3: the link 4-0 is beyond the pair"));
  EXPECT_THAT(
      [&] {
        auto texts = linked("").texts;
        add_notes(texts, {}, {"a", "b"});
      },
      ThrowsMessage<Error>(
          HasSubstr("--guided-alignment names 2 files, --train-sets 1 corpora, expected one for each")));
}

TEST_F(LinkedCorpus, IsSampledWithItsLinks) {
  Corpus sample;
  sample.files = linked("1-0\n\n2-1\n");
  sample.pairs = PairStore(false, true);
  survey_corpus(sample.files.texts, sample.files.vocabularies, {.no_spm_encode = true}, &sample);
  ASSERT_EQ(sample.size(), 2);
  EXPECT_EQ(sample.pairs[1].links, (Links{{2, 1}}));
}

}  // namespace
}  // namespace dragoman
