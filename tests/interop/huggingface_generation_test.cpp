#include "interop/huggingface_generation.h"

#include <gmock/gmock.h>

#include "base/log.h"
#include "interop/huggingface.h"
#include "tests/interop/huggingface_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Probability of all pieces but these as the first token.
double probability_of_all_but(const ModelFile& file, const std::vector<int>& left_out) {
  double sum = 0;
  Arena arena;
  const LoadedModel loaded = load_model(file, backend("cpu"), arena);
  Context cx{.backend = backend("cpu"), .arena = arena, .packed = &loaded.packed};
  const Spans source = Spans::of_lengths({3}), target = Spans::of_lengths({1});
  for (int32_t id = 0; id < file.config().target_vocabulary; ++id) {
    if (std::ranges::count(left_out, id) > 0) continue;
    const std::vector<int32_t> first = {id};
    sum += std::exp(loaded.model->loss(cx, {{{5, 7, 6}, source}, {first, target}, {0}}, 0).log_prob.as<float>()[0]);
  }
  return sum;
}

// By `renormalize_logits`, pieces that are not generated take no probability from the others.
TEST_F(MarianMt, RenormalizesAsGenerateDoes) {
  const int pad = 203;
  for (const std::string renormalize : {"", ", \"renormalize_logits\": false"}) {
    folder.make("generation_config.json", R"({"bad_words_ids": [[203]], "suppress_tokens": [9])" + renormalize + "}");
    EXPECT_LT(score_difference(open_model(path()), golden_pairs()), 1e-5);
    EXPECT_LT(probability_of_all_but(open_model(path()), {9, pad}), 0.999);
  }
  folder.make("generation_config.json",
              R"({"bad_words_ids": [[203]], "suppress_tokens": [9], "renormalize_logits": true})");
  EXPECT_NEAR(probability_of_all_but(open_model(path()), {9, pad}), 1, 1e-5);
  EXPECT_NEAR(probability_of_all_but(open_model(path()), {}), 1, 1e-5);
}

TEST_F(MarianMt, IsRefusedIfItsBiasIsOfAnotherSize) {
  ConvertedModel model = *read_huggingface(path());
  model.config.generation.suppressed = {1};
  std::ranges::find(model.weights, "output.bias", &TensorEntry::name)->shape = {3};
  EXPECT_THAT(
      [&] { renormalize(model.config, model.weights, JsonObject::of_text(R"({"renormalize_logits": true})", "g")); },
      testing::ThrowsMessage<Error>(HasSubstr("is (3), expected one number for each of 204 pieces")));
}

TEST_F(M2M100, RenormalizesAsGenerateDoes) {
  set("bos_token_id", R"(0, "bad_words_ids": [[1]])");
  EXPECT_LT(probability_of_all_but(open_model(path()), {1}), 0.999);
  set("bos_token_id", R"(0, "bad_words_ids": [[1]], "renormalize_logits": true)");
  EXPECT_NEAR(probability_of_all_but(open_model(path()), {1}), 1, 1e-5);
}

// config.json is for older folders, which have no other file.
TEST_F(M2M100, IsToldByTheFileThatGenerateReads) {
  const int french = open_model(path(), english_to_french).config().generation.target_language_id;
  set("bos_token_id", fmt::format(R"(0, "forced_bos_token_id": {}, "bad_words_ids": [[7]])", french - 1));
  EXPECT_EQ(open_model(path()).config().generation.target_language_id, french - 1);
  folder.make("generation_config.json",
              fmt::format(R"({{"forced_bos_token_id": {}, "bad_words_ids": [[9], [8]], "suppress_tokens": [4, 9],
                              "early_stopping": true}})",
                          french));
  const GenerationConfig told = open_model(path()).config().generation;
  EXPECT_EQ(told.target_language_id, french);
  EXPECT_THAT(told.suppressed, ElementsAre(4, 8, 9));
  EXPECT_EQ(told.search_rule, SearchRule::huggingface_early);
}

TEST_F(MarianMt, IsToldThatItsLinesBeginWithTheLanguage) {
  std::string said;
  const LogSink sink = [&](LogLevel level, std::string_view message) {
    if (level == LogLevel::warning) said += message;
  };
  const LogScope scope(&sink);
  folder.make("generation_config.json", R"({"forced_bos_token_id": 9})");
  EXPECT_EQ(open_model(path()).config().generation.target_language, TargetLanguage::source);
  EXPECT_THAT(said,
              HasSubstr("generation_config.json: forced_bos_token_id 9 is ignored, as lines of this model begin"));
}

TEST_F(MarianMt, NamesTheSettingsOfGenerateThatItLacks) {
  std::string said;
  const LogSink sink = [&](LogLevel level, std::string_view message) {
    if (level == LogLevel::warning) said += message;
  };
  const LogScope scope(&sink);
  folder.make("generation_config.json", R"({"no_repeat_ngram_size": 0, "repetition_penalty": 1.0, "num_beams": 6})");
  EXPECT_EQ(complaint(), "");
  EXPECT_EQ(said, "");
  folder.make("generation_config.json", R"({"no_repeat_ngram_size": 3, "repetition_penalty": 1.2})");
  EXPECT_EQ(complaint(), "");
  EXPECT_EQ(said, folder / "generation_config.json" +
                      ": these settings are ignored: no_repeat_ngram_size 3 (give --no-repeat-ngram), "
                      "repetition_penalty 1.2");
  said.clear();
  folder.make("generation_config.json", R"({"length_penalty": 0.6, "guidance_scale": 1.5, "force_words_ids": [[7]],
                                            "constraints": [], "penalty_alpha": 0.6, "top_k": 4})");
  EXPECT_EQ(complaint(), "");
  EXPECT_EQ(said, folder / "generation_config.json" +
                      ": these settings are ignored: length_penalty 0.6 (give --normalize), penalty_alpha 0.6, "
                      "guidance_scale 1.5, force_words_ids [[7]]");
  for (const std::string key : {"suppress_tokens", "bad_words_ids"}) {
    folder.make("generation_config.json", "{\"" + key + "\": 7}");
    EXPECT_THAT(complaint(), HasSubstr("generation_config.json: " + key + " is 7, expected a list"));
  }
  folder.make("generation_config.json", R"({"early_stopping": "never"})");
  EXPECT_THAT(complaint(), HasSubstr("generation_config.json: early_stopping is \"never\", expected true or false"));
}

}  // namespace
}  // namespace dragoman
