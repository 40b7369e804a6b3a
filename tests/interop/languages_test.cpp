#include "interop/languages.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "model/frame.h"
#include "tests/temporary_folder.h"
#include "tests/vocab/travel_text.h"
#include "vocab/listed_vocabulary.h"
#include "vocab/training.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

TEST(Languages, HavePiecesOfFourShapes) {
  for (const char* piece : {"__fr__", "__ast__", "fra_Latn", "zho_Hans", "fr_XX", "az_AZ"})
    EXPECT_TRUE(names_language(piece)) << piece;
  for (const char* piece :
       {"",       "fr",       "__f__",    "__fran__",   "__Fr__",  "__fr_",     "_fr__",    "__fr__x", "x__fr__",
        "__f1__", "fra_latn", "fra_LAtn", "fr_Latn",    "fra_Lat", "fra_Latin", "fra-Latn", "fr_xx",   "fr_X",
        "fr_XXX", "FR_XX",    "fra_XX",   "\u00e9a_XX", "{{_XX",   "``_XX",     "fr_@@",    "fr_[["})
    EXPECT_FALSE(names_language(piece)) << piece;
  EXPECT_FALSE(names_language(std::string("fr_XX\0", 6)));
}

// The pieces of words come first in a vocabulary.
TEST(Languages, AreNotMistakenForWords) {
  const Vocabulary v = Vocabulary::from_list(
      {.special = {.unk = 1, .eos = 0, .control = {7}},
       .pieces = {"</s>", "<unk>", "it", "fra", "__it__", ">>fra<<", "ita_Latn", "spanish", "klingon"}},
      "list");
  const auto id_of = [&](const std::string& language) {
    ModelConfig config{.generation = {.target_language = TargetLanguage::target}};
    set_languages(config, {v, v}, {"", language}, "the model");
    return config.generation.target_language_id;
  };
  EXPECT_EQ(id_of("it"), 4);
  EXPECT_EQ(id_of("fra"), 5);
  for (const int id : {4, 5, 6, 7}) EXPECT_EQ(id_of(v.piece(id)), id);
  for (const char* none : {"klingon", "</s>", "la"}) {
    EXPECT_THROW(id_of(none), Error) << none;
    EXPECT_FALSE(knows_language(v, none)) << none;
  }
  for (const char* one : {"it", "__it__", "fra", "ita_Latn", "spanish"}) EXPECT_TRUE(knows_language(v, one)) << one;
}

TEST(Languages, AreChosenUnlessTheyAreStored) {
  const Vocabulary v = Vocabulary::from_list(
      {.special = {.unk = 1, .eos = 0}, .pieces = {"</s>", "<unk>", "it", "__it__", "__de__", "ita_Latn", "fr_XX"}},
      "list");
  ModelConfig config{
      .generation = {.source_language = SourceLanguage::first, .target_language = TargetLanguage::target}};
  LanguageChoice choice = language_choice(config, {v, v});
  EXPECT_THAT(choice.sources, testing::ElementsAre("de", "fr_XX", "it", "ita_Latn"));
  EXPECT_EQ(choice.targets, choice.sources);
  EXPECT_FALSE(choice.in_text);
  for (const std::string& language : choice.targets)
    EXPECT_TRUE(knows_languages([&] {
      ModelConfig told = config;
      set_languages(told, {v, v}, {language, language}, "the model");
      return told;
    }()))
        << language;
  set_languages(config, {v, v}, {"", "it"}, "the model");
  EXPECT_FALSE(knows_languages(config));
  choice = language_choice(config, {v, v});
  EXPECT_EQ(choice.sources.size(), 4u);
  EXPECT_THAT(choice.targets, testing::IsEmpty());
  EXPECT_THAT(language_choice({}, {v, v}).targets, testing::IsEmpty());
}

class Tags : public testing::Test {
 protected:
  ModelConfig told(const std::string& language, ModelType type = ModelType::transformer) const {
    ModelConfig config{.type = type, .special = {.unk = 1, .eos = 0}};
    set_languages(config, {v, v}, {"", language}, "the model");
    return config;
  }
  std::string error_of(const std::string& language, ModelType type) const {
    try {
      told(language, type);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }

  static Vocabulary learned() {
    const TemporaryFolder folder;
    std::string text;
    for (const std::string& line : travel_text()) text += line + '\n';
    const std::string model = folder / "v.spm";
    train_vocabulary({.inputs = {folder.make("text", text)},
                      .model = model,
                      .size = 380,
                      .protected_symbols = {"<2de>", ">>fra<<", "<news>"}});
    return Vocabulary::load(model);
  }

  const Vocabulary v = learned();
};

TEST_F(Tags, AreTheFirstPiecesOfALine) {
  const auto tags = [&](const std::string& line) { return v.decode(leading_tags(v, v.encode(line))); };
  for (const std::string tag : {"<2de>", ">>fra<<", "<news> <2de>", "<2de> <news>", "<news>"})
    EXPECT_EQ(tags(tag + " Where?"), tag);
  EXPECT_EQ(tags("<2de> Where? <news>"), "<2de>");
  for (const std::string line : {"Where? <2de>", "<2fr> Where?", "", "<unk> <2de>"}) EXPECT_EQ(tags(line), "") << line;
}

TEST_F(Tags, AreChosenUnlessOneIsStored) {
  const LanguageChoice choice = language_choice({}, {v, v});
  EXPECT_THAT(choice.sources, testing::IsEmpty());
  EXPECT_THAT(choice.targets, testing::ElementsAre("de", "fra"));
  EXPECT_TRUE(choice.in_text);
  EXPECT_THAT(language_choice(told("fra"), {v, v}).targets, testing::IsEmpty());
  EXPECT_THAT(language_choice({.type = ModelType::decoder_only}, {v, v}).targets, testing::IsEmpty());
}

TEST_F(Tags, MayNameALanguage) {
  const auto language = [&](const std::string& line) { return name_language(v, leading_tags(v, v.encode(line))); };
  for (const char* line : {"<2de> Where?", "<news> <2de> Where?", "<2de> <news> Where?"})
    EXPECT_TRUE(language(line)) << line;
  for (const char* line : {"<news> Where?", "Where? <2de>", ""}) EXPECT_FALSE(language(line)) << line;
}

// As if each line began with the tag.
TEST_F(Tags, AreTargetLanguages) {
  for (const auto& [language, tag] : {std::pair("de", "<2de>"), {"<2de>", "<2de>"}, {"fra", ">>fra<<"}}) {
    const ModelConfig config = told(language);
    const ModelConfig untold{.special = config.special};
    EXPECT_EQ(source_frame(config).around(v.encode("Where?")),
              source_frame(untold).around(v.encode(fmt::format("{} Where?", tag))))
        << language;
    EXPECT_TRUE(target_frame(config).before.empty());
  }
  EXPECT_THAT(error_of("klingon", ModelType::transformer), HasSubstr("has no piece that names this language"));
  EXPECT_THAT(error_of("news", ModelType::transformer), HasSubstr("has no piece that names this language"));
  EXPECT_THAT(error_of("de", ModelType::decoder_only), HasSubstr("takes no target language"));
}

}  // namespace
}  // namespace dragoman
