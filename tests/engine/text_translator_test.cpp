#include "dragoman/text_translator.h"

#include <gmock/gmock.h>

#include <thread>

#include "base/error.h"
#include "decode/translator.h"
#include "dragoman/engine.h"
#include "tests/decode/tiny_translator.h"
#include "tests/temporary_folder.h"
#include "tests/toy_model.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

class TextTranslatorTest : public testing::Test {
 protected:
  TextTranslatorTest() { tiny.save(model); }

  auto refused(TextTranslatorOptions options) {
    return [this, options] { TextTranslator(engine, options); };
  }

  TinyModel tiny;
  TemporaryFolder folder;
  const std::string model = folder / "tiny.safetensors";
  const std::vector<std::string> lines = {"a red house", "", "the old book is new"};
  Engine engine{EngineOptions{.threads = 2}};
};

TEST_F(TextTranslatorTest, TranslatesAsTheSearchDoesAndCallAfterCall) {
  TextTranslator translator(engine, {.models = {model}, .beam_size = 3, .max_length = 50});
  const std::vector<std::string> expected =
      Translator(tiny.cx, *tiny.model, tiny.vocabularies, {.max_length = 50}, {.beam_size = 3}).translate(lines);
  EXPECT_EQ(translator.translate(lines), expected);
  EXPECT_EQ(translator.translate(lines), expected);
  EXPECT_THAT(translator.translate({}), IsEmpty());
}

TEST_F(TextTranslatorTest, TranslatesBesideAnotherOnTheSameEngine) {
  TextTranslator one(engine, {.models = {model}}), two(engine, {.models = {model, model}, .beam_size = 2});
  const auto of_one = one.translate(lines), of_two = two.translate(lines);
  std::vector<std::string> beside;
  std::thread other([&] { beside = two.translate(lines); });
  EXPECT_EQ(one.translate(lines), of_one);
  other.join();
  EXPECT_EQ(beside, of_two);
}

TEST_F(TextTranslatorTest, RefusesWhatCannotTranslate) {
  EXPECT_THAT(refused({}), ThrowsMessage<Error>(HasSubstr("no model")));
  EXPECT_THAT(refused({.models = {folder / "none"}}), ThrowsMessage<Error>(HasSubstr("none")));
  EXPECT_THAT(refused({.models = {model}, .beam_size = 0}), ThrowsMessage<Error>(HasSubstr("a beam of 0")));
  EXPECT_THAT(refused({.models = {model}, .normalize = -1}), ThrowsMessage<Error>(HasSubstr("normalize is -1")));
  EXPECT_THAT(refused({.models = {model}, .max_length = 0}), ThrowsMessage<Error>(HasSubstr("max_length is 0")));
  const std::string other = save_toy_model(folder / "other", 1, toy_config(), toy_vocabulary("unigram"));
  EXPECT_THAT(refused({.models = {model, other}}), ThrowsMessage<Error>(HasSubstr("their source vocabularies differ")));
}

}  // namespace
}  // namespace dragoman
