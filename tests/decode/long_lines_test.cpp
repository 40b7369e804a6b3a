#include <gmock/gmock.h>

#include "decode/translator.h"
#include "tests/decode/tiny_translator.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

class LongLines : public testing::Test {
 protected:
  std::vector<std::string> translate(const std::vector<std::string>& lines) {
    return Translator(tiny.cx, *tiny.model, tiny.vocabularies, options, search).translate(lines);
  }
  std::vector<Translation> best_of(Translator& translator, TextRequest request) {
    std::vector<Translation> found;
    translator.submit(
        std::move(request), [&](std::vector<Translation> best) { found = std::move(best); },
        [](std::exception_ptr) { FAIL(); });
    while (!translator.idle()) translator.step();
    return found;
  }

  TinyModel tiny;
  TranslateOptions options;
  SearchOptions search{.beam_size = 3, .max_length_add = 3};
};

TEST_F(LongLines, AreTranslatedInParts) {
  options.no_spm_encode = true;
  options.max_length = 3;
  const auto parts = translate({"▁a b .", "▁the ▁a a"});
  EXPECT_THAT(translate({"▁a b . ▁the ▁a a"}), ElementsAre(parts[0] + " " + parts[1]));
}

TEST_F(LongLines, MayComeInParts) {
  const auto apart = translate({"Where is the castle?", "How much is a ticket?"});
  size_t read = 0;
  std::vector<std::string> texts;
  std::vector<bool> mores;
  const std::vector<std::string> parts = {"Where is the castle?", " ", "How much is a ticket?", "Where is the castle?"};
  Translator(tiny.cx, *tiny.model, tiny.vocabularies, options, search)
      .run({.ready = [] { return true; },
            .next =
                [&](std::string& text, bool& more) {
                  more = read < 2;
                  return read < parts.size() && (text = parts[read++], true);
                },
            .write = [&](const auto& best, bool more) { texts.push_back(best[0].text), mores.push_back(more); },
            .flush = [] {}});
  EXPECT_THAT(texts, ElementsAre(apart[0], "", apart[1], apart[0]));
  EXPECT_THAT(mores, ElementsAre(true, true, false, false));
}

TEST_F(LongLines, StayWithinATableOfLearnedPositions) {
  const std::vector<std::string> line = {"▁a b . ▁a ▁the a b ▁a c"}, parts = {"▁a b . ▁a ▁the a b", "▁a c"};
  options.no_spm_encode = true;
  const auto expect_parts = [&](TinyModel&& learned) {
    Translator translator(learned.cx, *learned.model, learned.vocabularies, options, search);
    const auto expected = translator.translate(parts);
    EXPECT_THAT(translator.translate(line), ElementsAre(expected[0] + " " + expected[1]));
  };
  expect_parts(TinyModel(Positions::learned, 8));
  expect_parts(TinyModel(Positions::learned, 16, ModelType::decoder_only));  // half is for the translation
}

struct Nothing : Constraint {
  Allowed next(State, const HypothesisView&) const override { return {.only = true}; }
};

TEST_F(LongLines, MayHaveEmptyTranslationsBySeveralModels) {
  options.max_length = 3;
  const std::vector<TranslatingModel> models = {{&tiny.cx, tiny.model.get(), 0.5}, {&tiny.cx, tiny.model.get(), 0.5}};
  Translator translator(models, tiny.vocabularies, options, search);
  const auto best = best_of(
      translator, {.text = "Where is the castle?", .search = search, .constraints = {std::make_shared<Nothing>()}});
  ASSERT_EQ(best.size(), 1u);
  EXPECT_EQ(best[0].text, "");
  EXPECT_THAT(best[0].by_model, ElementsAre(0, 0));
}

TEST_F(LongLines, MustFitIntoMemoryIfTheirTranslationsBeginAsTheySay) {
  TemporaryFolder folder;
  const std::string file = folder.make("in", "\n" + std::string(LineReader::longest_line + 1, ' ') + "\n");
  const auto translate_file = [&] {
    LineReader in(file);
    LineWriter out(folder / "out");
    return Translator(tiny.cx, *tiny.model, tiny.vocabularies, options, search).translate(in, out);
  };
  EXPECT_EQ(translate_file(), 2);
  options.force_decode = true;
  EXPECT_THAT(translate_file, testing::ThrowsMessage<Error>(testing::HasSubstr("in: line 2 is longer than 16 MiB")));
}

}  // namespace
}  // namespace dragoman
