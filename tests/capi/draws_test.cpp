#include <gmock/gmock.h>

#include <future>
#include <set>

#include "dragoman/dragoman.h"
#include "dragoman/engine.h"
#include "dragoman/text_translator.h"
#include "tests/decode/tiny_translator.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

void keep_text(void* context, dragoman_status, const dragoman_translations* found, const dragoman_error*) {
  static_cast<std::promise<std::string>*>(context)->set_value(dragoman_translations_text(found, 0, 0));
}

TEST(CApiDraws, AreThoseOfTheNumberOfALine) {
  const TemporaryFolder folder;
  const std::string model = folder / "tiny.safetensors";
  TinyModel().save(model);
  const std::vector<std::string> equal(3, "a red house");
  Engine alone;
  const SearchOptions drawn{.max_length_add = 20, .sampling = Sampling::full};
  const auto expected = TextTranslator(alone, {.models = {model}, .search = drawn}).translate(equal);
  EXPECT_EQ(std::set(expected.begin(), expected.end()).size(), 3u);

  dragoman_search_options search;
  dragoman_search_options_init(&search, sizeof search);
  search.max_length_add = 20, search.sampling = DRAGOMAN_SAMPLING_FULL;
  const char* const path = model.c_str();
  dragoman_translator_options options;
  dragoman_translator_options_init(&options, sizeof options);
  options.models = &path, options.model_count = 1, options.search = &search;
  dragoman_engine* engine = nullptr;
  dragoman_translator* translator = nullptr;
  ASSERT_EQ(dragoman_engine_new(nullptr, &engine, nullptr), DRAGOMAN_OK);
  ASSERT_EQ(dragoman_translator_new(engine, &options, &translator, nullptr), DRAGOMAN_OK);

  const char* const texts[3] = {equal[0].c_str(), equal[1].c_str(), equal[2].c_str()};
  dragoman_translations* found = nullptr;
  ASSERT_EQ(dragoman_translate(translator, texts, 3, nullptr, &found, nullptr), DRAGOMAN_OK);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(dragoman_translations_text(found, i, 0), expected[i]);
  dragoman_translations_free(found);

  dragoman_request request;
  dragoman_request_init(&request, sizeof request);
  for (size_t i = 0; i < 3; ++i) {
    std::promise<std::string> drawn_text;
    request.text = texts[i], request.answer = keep_text, request.context = &drawn_text, request.line = i;
    ASSERT_EQ(dragoman_submit(translator, &request, nullptr, nullptr), DRAGOMAN_OK);
    EXPECT_EQ(drawn_text.get_future().get(), expected[i]);
  }
  dragoman_translator_free(translator);
  dragoman_engine_free(engine);
}

}  // namespace
}  // namespace dragoman
