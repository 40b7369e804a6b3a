#include "decode/glossary.h"

#include <gmock/gmock.h>

#include <array>

#include "base/error.h"
#include "decode/translator.h"
#include "tests/decode/tiny_translator.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

class Glossaries : public testing::Test {
 protected:
  Glossary of(const std::string& lines) { return {folder.make("terms", lines), tiny_vocabulary()}; }
  // The translations of the terms in a text.
  std::vector<std::string> found(const std::string& lines, const std::string& text) {
    const Glossary glossary = of(lines);
    std::vector<std::string> translations;
    for (const auto& [begin, phrase] : glossary.find(text)) translations.push_back(tiny_vocabulary().decode(*phrase));
    return translations;
  }
  std::string complaint(const std::string& lines) {
    try {
      of(lines);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }

  TemporaryFolder folder;
};

TEST_F(Glossaries, FindTermsThatAreWholeWords) {
  const std::string terms = "house\tHaus\nNew York\tYork neu\nC++\tCe\nécole\tSchule\n";
  EXPECT_THAT(found(terms, "the house, my house-boat"), ElementsAre("Haus", "Haus"));
  EXPECT_THAT(found(terms, "houses, outhouse, house2, House, house\u0301"), IsEmpty());
  EXPECT_THAT(found(terms, "in New York, New Yorker, New  York"), ElementsAre("York neu"));
  EXPECT_THAT(found(terms, "C++ and C++17 and C++ "), ElementsAre("Ce", "Ce", "Ce"));
  EXPECT_THAT(found(terms, "à l'école des écoles"), ElementsAre("Schule"));
}

// é is U+00E9, or e and U+0301.
TEST_F(Glossaries, FindTermsHoweverTheirCharactersAreComposed) {
  for (const char* term : {"\u00E9cole\tSchule\n", "e\u0301cole\tSchule\n"})
    for (const char* text : {"à l'\u00E9cole", "à l'e\u0301cole", "a\u0300 l'e\u0301cole"})
      EXPECT_THAT(found(term, text), ElementsAre("Schule")) << term << text;
  const Glossary glossary = of("école\tSchule\n");
  const std::string text = "a\u0300 l'e\u0301cole, e\u0301cole";
  std::vector<size_t> begins;
  for (const auto& term : glossary.find(text)) begins.push_back(term.begin);
  EXPECT_THAT(begins, ElementsAre(text.find("e\u0301"), text.rfind("e\u0301")));
  EXPECT_THAT(complaint("\u00E9\ta\ne\u0301\tb\n"), HasSubstr("has another translation in line 1"));
}

TEST_F(Glossaries, NeedNoSpacesInWritingWithoutThem) {
  const std::string terms = "北京\tPeking\n東京\tTokio\n東京都\tTokio Stadt\nกรุง\tStadt\n";
  EXPECT_THAT(found(terms, "我住在北京市。"), ElementsAre("Peking"));
  EXPECT_THAT(found(terms, "東京都と東京へ"), ElementsAre("Tokio Stadt", "Tokio"));
  EXPECT_THAT(found(terms, "เมืองกรุงเก่า กรุ"), ElementsAre("Stadt"));
}

TEST_F(Glossaries, PreferTheLongestTermAndLetNoneOverlap) {
  const std::string terms = "a b\tx\na b c\ty\nb c d\tz\nd\tw\n";
  EXPECT_THAT(found(terms, "a b c d"), ElementsAre("y", "w"));
  EXPECT_THAT(found(terms, "a b b c d"), ElementsAre("x", "z"));
}

TEST_F(Glossaries, SkipLinesWithoutTextAndBlanksAroundTerms) {
  EXPECT_THAT(found("\n  house \t Haus  \n\n", "house"), ElementsAre("Haus"));
  EXPECT_THAT(found("house\tHaus\nhouse\tHaus\n", "house"), ElementsAre("Haus"));
  EXPECT_THAT(found("", "house"), IsEmpty());
}

TEST_F(Glossaries, SayWhichLineIsNoTerm) {
  EXPECT_THAT(complaint("a\tb\nhouse Haus\n"), HasSubstr("terms, line 2: has no tab"));
  EXPECT_THAT(complaint("a\tb\tc\n"), HasSubstr("terms, line 1: has more than one tab"));
  EXPECT_THAT(complaint("\tb\n"), HasSubstr("terms, line 1: has no term before the tab"));
  EXPECT_THAT(complaint("a\t \n"), HasSubstr("terms, line 1: has no translation after the tab"));
  EXPECT_THAT(complaint("a\tb\n\nc\t\xff\n"), HasSubstr("terms, line 3: not UTF-8"));
  EXPECT_THAT(complaint("a\tb\nc\td\na\tc\n"), HasSubstr("terms, line 3: 'a' has another translation in line 1"));
}

TEST_F(Glossaries, SayWhatTheirFileHolds) {
  EXPECT_EQ(thrown_by([&] { of(tiny_vocabulary().bytes()); }).hint(),
            "give a text file with a term of the source, a tab and its translation in each line");
}

TEST_F(Glossaries, NameTranslationsThatTheVocabularyCannotSpell) {
  TinyModel tiny;
  save_with_words(tiny, folder / "words.safetensors");
  const LoadedModel words = load_model(ModelFile(folder / "words.safetensors"), backend("cpu"), tiny.arena, DType::f32);
  const std::string file = folder.make("terms", "Haus\thouse\nBuch\tqueue\n");
  try {
    const Glossary glossary(file, words.vocabularies.target);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("terms, line 2: 'queue' has characters that the model's vocabulary lacks"));
  }
  EXPECT_THAT(
      [&] {
        Glossary({{"Buch", "queue"}}, words.vocabularies.target);
      },
      ThrowsMessage<Error>("glossary: 'queue' has characters that the model's vocabulary lacks"));
}

TEST_F(Glossaries, MayComeFromAProgram) {
  const auto made = [](const std::map<std::string, std::string>& terms) { return Glossary(terms, tiny_vocabulary()); };
  const Glossary file = of("house\tHaus\nred\trot\nNew York\tYork neu\n");
  const Glossary own =
      made({{" house ", "Gebäude\t"}, {"New", "neu"}, {"red house", "rotes Haus"}, {"b\xff", "c\xff"}});
  std::vector<std::string> found;
  for (const auto& [begin, phrase] : own.find("a red house, a house in red, New York, b\uFFFD", &file))
    found.push_back(std::to_string(begin) + " " + tiny_vocabulary().decode(*phrase));
  EXPECT_THAT(found, ElementsAre("2 rotes Haus", "15 Gebäude", "24 rot", "29 York neu", "39 c\uFFFD"));
  EXPECT_THAT(own.find("red", nullptr), IsEmpty());
  EXPECT_TRUE(made({}).empty() && !own.empty());
  EXPECT_TRUE(own.is_for(tiny_vocabulary()));
  EXPECT_TRUE(own.is_for(Vocabulary::from_bytes(tiny_vocabulary().bytes(), "again")));
  EXPECT_FALSE(own.is_for(Vocabulary::load(source_dir() + "/tests/vocab/golden/unigram.spm")));
  EXPECT_THAT([&] { made({{" ", "b"}}); }, ThrowsMessage<Error>("glossary: a term is empty"));
  EXPECT_THAT([&] { made({{"a", " "}}); }, ThrowsMessage<Error>("glossary: 'a' has no translation"));
  EXPECT_THAT([&] { made({{"a", "b"}, {"a ", "c"}}); }, ThrowsMessage<Error>("glossary: 'a' has another translation"));
}

// A list that was searched for each term took 14 s.
TEST_F(Glossaries, HoldManyTermsWithTheSameFirstWord) {
  std::string lines;
  for (int i = 0; i < 20000; ++i) lines += fmt::format("part {}\tab {}\n", i, i);
  const Glossary glossary = of(lines);
  EXPECT_EQ(glossary.find("part 1234 and part 77, part").size(), 2u);
  EXPECT_THAT(complaint(lines + "part 5\tab\n"), HasSubstr("'part 5' has another translation in line 6"));
}

class Terminology : public Glossaries {
 protected:
  Terminology() {
    options.max_length = 12;
    search.max_length_add = 10;
  }
  std::vector<std::string> translate(const std::vector<std::string>& lines, const Glossary* glossary) {
    Translator translator(std::array{TranslatingModel{&tiny.cx, tiny.model.get()}}, tiny.vocabularies, options, search,
                          {.glossary = glossary});
    auto found = translator.translate(lines);
    lacking = translator.lacking();
    return found;
  }

  TinyModel tiny;
  TranslateOptions options;
  SearchOptions search;
  int64_t lacking = 0;
};

// A long line comes in chunks.
TEST_F(Terminology, AndLengthAreMissedOncePerLine) {
  options.constraints = LineConstraints::unordered;
  options.no_spm_encode = true;
  const TranslatingModel model{.cx = &tiny.cx, .model = tiny.model.get(), .longest_source = 1};
  Translator translator({&model, 1}, tiny.vocabularies, options, search);
  for (const int64_t runs : {1, 2}) {
    size_t read = 0;
    const std::vector<bool> more = {true, true, false, true, false};
    translator.run({.ready = [] { return true; },
                    .next =
                        [&](std::string& text, bool& follows) {
                          if (read == more.size()) return false;
                          text = "▁the ▁the\t</s>", follows = more[read++];
                          return true;
                        },
                    .write = [](const auto&, bool) {},
                    .flush = [] {}});
    EXPECT_EQ(translator.beyond_training(), 2 * runs);
    EXPECT_EQ(translator.lacking(), 2 * runs);
  }
}

// Also in segments, and not in lines without terms.
TEST_F(Terminology, OccursInTheTranslations) {
  const Glossary glossary = of("house\tHaus\nbook\tdas Buch\n");
  const std::string text = "the old house is new. the red book is old, the new house is red.";
  const std::vector<std::string> lines = {"the red one", "the red house", "a book in a house", "", text};
  for (const int beam_size : {1, 4}) {
    search.beam_size = beam_size;
    const auto free = translate(lines, nullptr), found = translate(lines, &glossary);
    EXPECT_EQ(found[0], free[0]);
    EXPECT_EQ(found[3], "");
    EXPECT_THAT(found[1], HasSubstr("Haus"));
    EXPECT_THAT(found[2], testing::AllOf(HasSubstr("Haus"), HasSubstr("das Buch")));
    const size_t first = found[4].find("Haus"), book = found[4].find("das Buch");
    ASSERT_NE(book, std::string::npos);
    EXPECT_LT(first, book) << "in the segment of the term";
    EXPECT_NE(found[4].find("Haus", book), std::string::npos);
    EXPECT_EQ(lacking, 0);
  }
}

TEST_F(Terminology, IsBoundedInALineThatRepeatsATerm) {
  const std::string translation(600, 'x');
  const Glossary glossary = of("a\t" + translation + "\nb\tHaus\n");
  search.beam_size = 1;
  const std::string found = translate({"a a a a b"}, &glossary)[0];
  const size_t first = found.find(translation);
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(found.find(translation, first + translation.size()), std::string::npos);
  EXPECT_THAT(found, HasSubstr("Haus"));
}

TEST_F(Terminology, MayComeWithTheLine) {
  for (const LineConstraints how : {LineConstraints::unordered, LineConstraints::ordered}) {
    options.constraints = how;
    const auto found = translate({"the house\tdas Buch\tHaus", "the house\t\t", "the house", "\tHaus"}, nullptr);
    const size_t book = found[0].find("das Buch"), house = found[0].find("Haus");
    ASSERT_NE(std::max(book, house), std::string::npos);
    EXPECT_TRUE(how == LineConstraints::unordered || book < house);
    EXPECT_EQ(found[1], found[2]);
    EXPECT_THAT(found[3], HasSubstr("Haus"));
  }
  options.force_decode = true;
  const std::string found = translate({"the house\tein Anfang\tHaus"}, nullptr)[0];
  EXPECT_THAT(found, testing::StartsWith("ein Anfang"));
  EXPECT_THAT(found, HasSubstr("Haus"));
}

// The vocabulary spells every text, but no search predicts its end of a sentence.
TEST_F(Terminology, IsCountedWhereItIsLacking) {
  options.constraints = LineConstraints::unordered;
  options.no_spm_encode = true;
  const auto found = translate({"▁the\t▁the", "▁the\t</s>", "▁the\tno-piece"}, nullptr);
  EXPECT_EQ(found.size(), 3u);
  EXPECT_EQ(lacking, 2);
}

}  // namespace
}  // namespace dragoman
