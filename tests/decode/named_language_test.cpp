#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/log.h"
#include "decode/translator.h"
#include "interop/languages.h"
#include "tests/decode/tiny_translator.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

/// A line begins with the language to translate into, which counts for all of it.
class NamedLanguage : public testing::Test {
 protected:
  NamedLanguage() {
    ListedVocabulary words{.special = {.unk = 0, .eos = 1},
                           .pieces = {"<unk>", "</s>", ">>fra<<", ">>deu<<", "a", "red", "house", "the", "book", "▁",
                                      "<2fr>", "<med>", "<law>"}};
    while (int(words.pieces.size()) < tiny_vocabulary().size())
      words.pieces.push_back(fmt::format("w{}", words.pieces.size()));
    const Vocabulary both = Vocabulary::from_list(std::move(words), "words");
    vocabularies.emplace(Vocabularies{both, both});
    translator.emplace(tiny.cx, *tiny.model, *vocabularies, TranslateOptions{.max_length = 3}, search);
  }
  std::string translated(const std::string& line) { return translator->translate({&line, 1})[0]; }
  Translation answer(TextRequest request) {
    Translation found;
    request.search = search;
    translator->submit(
        std::move(request), [&](std::vector<Translation> best) { found = std::move(best[0]); },
        [](std::exception_ptr) { FAIL(); });
    while (!translator->idle()) translator->step();
    return found;
  }

  const SearchOptions search{.beam_size = 2, .max_length_add = 3};
  TinyModel tiny;
  std::optional<Vocabularies> vocabularies;
  std::optional<Translator> translator;
};

TEST_F(NamedLanguage, CountsForAllSegmentsOfALine) {
  EXPECT_NE(translated(">>fra<< house the"), translated("house the"));
  EXPECT_EQ(translated(">>fra<< a red house the book"),
            translated(">>fra<< a red") + ' ' + translated(">>fra<< house the") + ' ' + translated(">>fra<< book"));
}

TEST_F(NamedLanguage, MayBeAProtectedSymbolAfterABlank) {
  EXPECT_NE(translated("▁ <2fr> a"), translated("a"));
  EXPECT_EQ(translated("▁ <2fr> a red"), translated("▁ <2fr> a") + ' ' + translated("▁ <2fr> red"));
  EXPECT_EQ(answer({.text = "house", .tags = "▁ <2fr> a red"}).text, translated("▁ <2fr> house"));
  EXPECT_EQ(answer({.text = "house", .tags = "a <2fr>"}).text, translated("house"));
}

TEST_F(NamedLanguage, CountsForAllThatIsReadOfALine) {
  const std::vector<std::pair<std::string, bool>> parts = {
      {">>fra<< a red", true}, {"house the", false}, {"house the", false}};
  std::vector<std::string> texts;
  auto next = parts.begin();
  translator->run({.ready = [] { return true; },
                   .next = [&](std::string& text,
                               bool& more) { return next != parts.end() && (std::tie(text, more) = *next++, true); },
                   .write = [&](const auto& best, bool) { texts.push_back(best[0].text); },
                   .flush = [] {}});
  EXPECT_THAT(texts,
              ElementsAre(translated(">>fra<< a red"), translated(">>fra<< house the"), translated("house the")));
}

TEST_F(NamedLanguage, MayBeThatOfARequestIfTheTextNamesNone) {
  EXPECT_EQ(answer({.text = "house the", .tags = ">>fra<<"}).text, translated(">>fra<< house the"));
  EXPECT_EQ(answer({.text = ">>deu<< house the", .tags = ">>fra<<"}).text, translated(">>deu<< house the"));
  EXPECT_EQ(answer({.text = "house the", .tags = ">>klingon<<"}).text, translated("house the"));
  EXPECT_EQ(answer({.text = "house the", .tags = "book"}).text, translated("house the"));
  EXPECT_EQ(answer({.text = "", .tags = ">>fra<<"}).text, "");
}

TEST_F(NamedLanguage, IsMissedInALineWithoutOne) {
  for (const char* line : {">>fra<< house", "<med> <2fr> a", ""}) translated(line);
  EXPECT_EQ(translator->without_language(), std::nullopt);
  for (const char* line : {"<med> house", "house"}) translated(line);
  EXPECT_EQ(translator->without_language(), 0);
}

// As if it stood before the text, but for the length limit, for which it counts only there.
TEST_F(NamedLanguage, MayBeInTheFramesOfARequest) {
  const auto frames =
      std::make_shared<const SentenceFrames>(frames_of(tiny.model->config(), *vocabularies, {"", "fra"}, "the model"));
  EXPECT_THAT(translated(">>fra<< house the"), StartsWith(answer({.text = "house the", .frames = frames}).text));
  const auto first = [&](TextRequest request) { return answer(std::move(request)).piece_log_probs.at(0); };
  EXPECT_EQ(first({.text = "house the", .frames = frames}), first({.text = ">>fra<< house the"}));
  EXPECT_NE(first({.text = "house the", .frames = frames}), first({.text = "house the"}));
  EXPECT_EQ(answer({.text = ">>deu<< house the", .frames = frames}).text, translated(">>deu<< house the"));
  EXPECT_EQ(answer({.text = "house the", .frames = frames, .tags = ">>deu<<"}).text, translated(">>deu<< house the"));
  EXPECT_THAT(translated(">>fra<< <med> house"),
              StartsWith(answer({.text = "house", .frames = frames, .tags = "<med>"}).text));
  EXPECT_EQ(answer({.text = "house the", .frames = frames, .alignment = true}).alignment.sources, 4);
}

// Symbols that name no language, such as domains.
TEST_F(NamedLanguage, IsNotTheOnlyTagOfALine) {
  EXPECT_NE(translated("<med> house the"), translated("house the"));
  EXPECT_EQ(translated("<med> a red house the"), translated("<med> a red") + ' ' + translated("<med> house the"));
  EXPECT_EQ(translated("<med> <2fr> a red"), translated("<med> <2fr> a") + ' ' + translated("<med> <2fr> red"));
  EXPECT_EQ(answer({.text = "house the", .tags = "<med> a red"}).text, translated("<med> house the"));
  EXPECT_EQ(answer({.text = "<law> house the", .tags = "<med>"}).text, translated("<law> house the"));
}

TEST_F(NamedLanguage, IsKeptByAPartWithOtherTags) {
  EXPECT_EQ(answer({.text = "<law> a", .tags = "<2fr> red"}).text, translated("<2fr> <law> a"));
  EXPECT_EQ(answer({.text = "<law> >>deu<<", .tags = "<2fr> red"}).text, translated("<law> >>deu<<"));
}

// A tag that is repeated is none of the line's tokens.
TEST_F(NamedLanguage, IsOneTokenInTheAlignmentOfALine) {
  const std::string line = "<med> a red house the";  // 5 tokens, and </s> of both segments
  const LineAlignment found = answer({.text = line, .alignment = true}).alignment;
  EXPECT_EQ(found.sources, 7);
  const LineAlignment first = answer({.text = "<med> a red", .alignment = true}).alignment;
  const LineAlignment second = answer({.text = "house the", .tags = "<med>", .alignment = true}).alignment;
  EXPECT_EQ(first.sources, 4);
  EXPECT_EQ(second.sources, 3);
  LineAlignment both = first;
  append(both, second);
  EXPECT_EQ(to_text(found, {AlignmentStyle::hard}), to_text(both, {AlignmentStyle::hard}));
}

// "fra" in >>fra<< and "2fr" in <2fr> are no words of the line.
TEST_F(NamedLanguage, ContainsNoTermsOfAGlossary) {
  const std::map<std::string, std::string> terms = {{"fra", "book"}, {"2fr", "house"}};
  const auto glossary = std::make_shared<const Glossary>(terms, vocabularies->target);
  const TranslatingModel model{&tiny.cx, tiny.model.get()};
  Translator with_terms({&model, 1}, *vocabularies, TranslateOptions{.max_length = 3}, search,
                        {.glossary = glossary.get()});
  for (const std::string line : {">>fra<< a red", "▁ <2fr> a", ">>fra<< a red house the", "▁ <2fr> a red"}) {
    EXPECT_EQ(with_terms.translate({&line, 1})[0], translated(line));
    EXPECT_EQ(answer({.text = line, .glossary = glossary}).text, translated(line));
  }
  for (const std::string line : {">>fra<< fra", "fra a", "▁ <2fr> fra", ">>fra<< 2fr a"}) {
    const char* const word = line.find("2fr a") != std::string::npos ? "house" : "book";
    EXPECT_THAT(with_terms.translate({&line, 1})[0], testing::HasSubstr(word)) << line;
    EXPECT_THAT(answer({.text = line, .glossary = glossary}).text, testing::HasSubstr(word)) << line;
  }
  const Translation told = answer({.text = "fra a", .glossary = glossary, .tags = ">>fra<<"});
  EXPECT_THAT(told.text, testing::HasSubstr("book")) << "the tag is not in the text";
}

class LinksAfterATag : public NamedLanguage, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Named, LinksAfterATag, testing::Values(">>fra<< a red ", "<med> a red ", "▁ <2fr> a "));

TEST_P(LinksAfterATag, AreWithTheWordsOfTheText) {
  const std::string first = GetParam();
  const bool is_one_piece = !first.starts_with("▁");
  std::vector<ByteRange> expected, found;
  for (int word = 12; word < 50; ++word) {
    const std::string second = fmt::format("w{}", word) + (is_one_piece ? fmt::format(" w{}", word + 100) : "");
    for (const Link& link : answer({.text = second, .tags = first, .alignment = true}).links)
      expected.push_back({link.source.begin + first.size(), link.source.end + first.size()});
    for (const Link& link : answer({.text = first + second, .alignment = true}).links)
      if (link.source.begin >= first.size()) found.push_back(link.source);
  }
  EXPECT_THAT(found, testing::Not(IsEmpty()));
  EXPECT_EQ(found, expected);
}

// Segments of three pieces, each with the tag of the first one before it.
TEST_F(NamedLanguage, LinksWordsOfATextThatNamesItAgainAndAgain) {
  std::string text = ">>fra<< a";
  for (int word = 12; word < 50; ++word) text += fmt::format(" >>fra<< w{} w{}", word, word + 1);
  const std::vector<Link> links = answer({.text = text, .alignment = true}).links;
  EXPECT_THAT(links, testing::Not(IsEmpty()));
  for (const Link& link : links) {
    EXPECT_LE(link.source.end, text.size());
    EXPECT_TRUE(link.source.begin == 0 || text[link.source.begin - 1] == ' ') << link.source.begin;
  }
  EXPECT_NO_THROW(answer({.text = text, .tags = ">>fra<<", .alignment = true}));
}

// Tags of four pieces and more in segments of three.
TEST_F(NamedLanguage, LinksWordsBehindTagsThatAreLongerThanASegment) {
  for (const char* tags : {"▁ <med> ▁ <2fr>", "<med> <law> >>fra<<", ">>fra<< <law> <med> >>deu<<"})
    for (const char* text : {"a red house the book", "a"}) {
      const Translation found = answer({.text = text, .tags = tags, .alignment = true});
      EXPECT_THAT(found.links, testing::Not(IsEmpty())) << tags;
      for (const Link& link : found.links) EXPECT_LE(link.source.end, std::string_view(text).size()) << tags;
    }
}

TEST_F(NamedLanguage, LeavesNoWordWithoutALink) {
  const std::string text = "a house b c d e f g";
  std::vector<bool> linked(text.size());
  for (const Link& link : answer({.text = text, .alignment = true}).links)
    std::fill(linked.begin() + int64_t(link.source.begin), linked.begin() + int64_t(link.source.end), true);
  for (size_t at = 0; at < text.size(); ++at) EXPECT_TRUE(linked[at] || text[at] == ' ') << text << ", byte " << at;
}

}  // namespace
}  // namespace dragoman
