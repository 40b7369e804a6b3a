#include <gmock/gmock.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "serve/allowed_origin.h"
#include "serve/api_description.h"
#include "serve/api_keys.h"
#include "serve/language_names.h"
#include "serve/metrics.h"
#include "serve/own_request.h"
#include "serve/served_models.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(ModelSpec, HasLanguagesBeforeTheFile) {
  const auto parts = [](const char* spec) {
    const ModelSpec s = parse_model_spec(spec);
    return std::vector<std::string>{s.source, s.target, s.file};
  };
  EXPECT_THAT(parts("en-fr=a.safetensors"), ElementsAre("en", "fr", "a.safetensors"));
  EXPECT_THAT(parts("pt-BR:zh-Hans=a=b"), ElementsAre("pt-BR", "zh-Hans", "a=b"));
  EXPECT_THAT(parts("eng_Latn-fra_Latn=m"), ElementsAre("eng_Latn", "fra_Latn", "m"));
  EXPECT_THAT(parts("a.safetensors"), ElementsAre("", "", "a.safetensors"));
  EXPECT_THAT(parts("runs/x=1/m"), ElementsAre("", "", "runs/x=1/m"));
  EXPECT_THROW(parse_model_spec("pt-BR-en=a"), Error);
}

TEST(ModelSpec, IsOneForEachPairOfLanguages) {
  const auto count = [](std::vector<std::string> models) {
    ServeOptions options;
    options.models = std::move(models);
    return model_specs(options).size();
  };
  EXPECT_EQ(count({"a"}), 1);
  EXPECT_EQ(count({"en-fr=a", "fr-en=b"}), 2);
  EXPECT_THROW(count({"en-fr=a", "en-fr=b"}), Error);
  EXPECT_THROW(count({"en-fr=a", "b"}), Error);
  EXPECT_THROW(count({"en-fr="}), Error);
}

TEST(ModelSpec, MayHaveAnEqualsSignInTheNameOfAnExistingFile) {
  const auto specs = [](const std::string& model) {
    ServeOptions options;
    options.models = {model};
    return model_specs(options);
  };
  for (const char* model : {"x=m", "en=m", "en-f=m"})
    EXPECT_THAT([&] { specs(model); },
                testing::ThrowsMessage<Error>(HasSubstr("is not two languages, and there is no file")));
  const TemporaryFolder folder;
  folder.make("x=m", "");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder / "");
  EXPECT_NO_THROW(specs("x=m"));
  std::filesystem::current_path(before);
  EXPECT_EQ(specs("runs/x=1/m").at(0).file, "runs/x=1/m") << "opening it says that it is missing";
}

TEST(ApiKeys, AreTheLinesOfAFile) {
  const TemporaryFolder folder;
  write_atomically(folder / "keys", [](FileWriter& file) { file.write("# of Anna\nsecret\n\nother key \r\n"); });
  const ApiKeys keys(folder / "keys");
  EXPECT_TRUE(keys.needed());
  EXPECT_TRUE(keys.contain("secret") && keys.contain("other key"));
  for (const char* wrong : {"", "secre", "secrets", "secretsecret", "# of Anna", "Secret"})
    EXPECT_FALSE(keys.contain(wrong)) << wrong;
  EXPECT_FALSE(ApiKeys("").needed());
  write_atomically(folder / "none", [](FileWriter& file) { file.write("# nobody\n"); });
  EXPECT_THROW(ApiKeys(folder / "none"), Error);
}

TEST(AllowedOrigin, IsWhatBrowsersWrite) {
  for (const char* origin :
       {"*", "https://a.example", "http://localhost:8080", "http://127.0.0.1:1", "https://[::1]:65535", "http://a:443",
        "https://xn--bcher-kva.example", "chrome-extension://abcdefgh", "app+x.1-y://a_b", "https://a.example.",
        "https://[2001:db8::a:1]", "https://1.example"})
    EXPECT_NO_THROW(require_origin(origin)) << origin;
  for (const std::string origin : {"a.example",
                                   "https://a.example/",
                                   "https://a.example/path",
                                   "https://A.example",
                                   "HTTPS://a.example",
                                   "https://",
                                   "://a",
                                   "https:a",
                                   "1s://a",
                                   "https://a b",
                                   "https://bücher.example",
                                   "https://*.example",
                                   "https://user@a.example",
                                   "https://a?q",
                                   "https://a.example,https://b.example",
                                   "https://a https://b",
                                   "null",
                                   "https://a:",
                                   "https://a:0",
                                   "https://a:65536",
                                   "https://a:08",
                                   "https://a:+8",
                                   "https://a:8:8",
                                   "",
                                   "https://a..b",
                                   "https://.a",
                                   "https://.",
                                   "https://1.2.3.256",
                                   "https://1.2.3",
                                   "https://[:::::]",
                                   "https://[1.2.3.4]",
                                   "https://[::A]",
                                   "https://::1",
                                   "https://[::1",
                                   "https://[]",
                                   "https://[::1]8",
                                   "https://a:443",
                                   "http://a:80",
                                   "**",
                                   " *",
                                   "*\n",
                                   "https://a.example\r\nX-Other: 1",
                                   "https://a.example\n"})
    EXPECT_THAT(error_of([&] { require_origin(origin); }),
                HasSubstr("is not an origin, expected * or scheme://host[:port]"))
        << origin;
  EXPECT_THROW(require_origin(std::string("https://a\0", 10)), Error);
}

TEST(LanguageName, IsEnglish) {
  EXPECT_EQ(language_name("fr"), "French");
  EXPECT_EQ(language_name("pt-BR"), "Portuguese (BR)");
  EXPECT_EQ(language_name("xx"), "xx");
}

TEST(Metrics, AreCumulativeHistogramsAndCounters) {
  Metrics metrics;
  metrics.count_request("/translate", 200, 0.02);
  metrics.count_request("/translate", 200, 7);
  metrics.observe_batch(2);
  metrics.count_sentence(12);
  metrics.add_in_flight(1);
  const std::string text = metrics.to_text(3);
  for (const char* line :
       {"dragoman_requests_total{route=\"/translate\",status=\"200\"} 2\n",
        "dragoman_request_seconds_bucket{le=\"0.01\"} 0\n", "dragoman_request_seconds_bucket{le=\"0.025\"} 1\n",
        "dragoman_request_seconds_bucket{le=\"10\"} 2\n", "dragoman_request_seconds_bucket{le=\"+Inf\"} 2\n",
        "dragoman_request_seconds_count 2\n", "dragoman_request_seconds_sum 7.02\n",
        "dragoman_batch_sentences_bucket{le=\"1\"} 0\n", "dragoman_batch_sentences_bucket{le=\"2\"} 1\n",
        "dragoman_target_tokens_total 12\n", "dragoman_requests_in_flight 1\n", "dragoman_connections 3\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

std::string refusal_of(const json& fields) {
  return error_of([&] { read_translate_request(fields, {}); });
}

TEST(TranslateRequest, HasTheSearchThatItAsksFor) {
  const SearchOptions standard{.beam_size = 3, .normalize = 0.6};
  const auto plain = read_translate_request({{"text", "a"}}, standard).job;
  EXPECT_EQ(plain.search.beam_size, 3);
  EXPECT_EQ(plain.search.normalize, 0.6);
  EXPECT_EQ(read_translate_request({{"text", "a"}, {"n_best", 8}}, standard).job.search.beam_size, 8);
  const auto drawn = read_translate_request(
      {{"text", "a"}, {"sampling", "topk"}, {"sampling_pieces", 5}, {"n_best", 2}, {"seed", 9}}, standard);
  EXPECT_EQ(drawn.job.search.beam_size, 2);
  EXPECT_EQ(drawn.job.search.sampling_pieces, 5);
  EXPECT_EQ(drawn.job.search.seed, 9u);
  const auto ruled =
      read_translate_request({{"text", "a"}, {"min_length_factor", 0.5}, {"rule", "huggingface-early"}}, standard);
  EXPECT_EQ(ruled.job.search.min_length_factor, 0.5);
  EXPECT_EQ(ruled.job.search.rule, SearchRule::huggingface_early);
  EXPECT_THAT(read_translate_request({{"text", {"a", "b"}}}, standard).job.texts, ElementsAre("a", "b"));
}

TEST(TranslateRequest, IsRefusedWithTheReason) {
  EXPECT_THAT(refusal_of({{"source", "en"}}), HasSubstr("text is missing"));
  EXPECT_THAT(refusal_of({{"text", 1}}), HasSubstr("expected text"));
  EXPECT_THAT(refusal_of({{"text", "a"}, {"beam_sizes", 2}}), HasSubstr("did you mean beam_size?"));
  EXPECT_THAT(refusal_of({{"text", "a"}, {"beam_size", 1.5}}), HasSubstr("expected a whole number"));
  EXPECT_THAT(refusal_of({{"text", "a"}, {"beam_size", 0}}), HasSubstr("expected 1 to 64"));
  EXPECT_THAT(refusal_of({{"text", "a"}, {"beam_size", uint64_t{1} << 63}}), HasSubstr("expected 1 to 64"));
  EXPECT_THAT(refusal_of({{"text", "a"}, {"beam_size", 2}, {"n_best", 3}}), HasSubstr("more than beam_size"));
  EXPECT_THAT(refusal_of({{"text", "a"}, {"sampling", "best"}}), HasSubstr("full, topk, nucleus"));
  EXPECT_THAT(refusal_of({{"text", "a"}, {"min_length_factor", 11}}), HasSubstr("expected 0 to 10"));
  EXPECT_EQ(refusal_of({{"text", "a"}, {"min_length_factor", 2}, {"max_length_factor", 1}}),
            "min_length_factor 2 is more than max_length_factor 1 allows");
  EXPECT_THAT(refusal_of({{"text", "a"}, {"rule", "moses"}}), HasSubstr("auto, marian, huggingface"));
  EXPECT_THAT(refusal_of({{"text", {"a", "b"}}, {"stream", true}}), HasSubstr("one text"));
}

TEST(TranslateRequest, HasTermsOfItsOwn) {
  const auto with = [](json glossary) { return json{{"text", "a"}, {"glossary", std::move(glossary)}}; };
  EXPECT_THAT(read_translate_request(with({{"a", "b"}, {"c", "d"}}), {}).job.glossary,
              ElementsAre(Pair("a", "b"), Pair("c", "d")));
  EXPECT_EQ(refusal_of(with(json::array({"a"}))),
            "glossary is array, expected an object of terms and their translations");
  EXPECT_EQ(refusal_of(with({{"a", 1}})), "glossary: the translation of 'a' is number, expected text");
  EXPECT_THAT(refusal_of(with({{"a", std::string(1001, 'b')}})), HasSubstr("has 1001 bytes, expected at most 1000"));
  json many = json::object(), sampled = with({{"a", "b"}});
  for (int i = 0; i < 1001; ++i) many[std::to_string(i)] = "b";
  EXPECT_EQ(refusal_of(with(many)), "glossary has 1001 terms, expected at most 1000");
  sampled["sampling"] = "full";
  EXPECT_EQ(refusal_of(sampled), "glossary contradicts sampling: only a search makes translations contain terms");
  sampled["glossary"] = json::object();
  EXPECT_EQ(refusal_of(sampled), "");
}

TEST(TranslateRequest, HasPhrasesToAvoid) {
  const auto with = [](json avoid) { return json{{"text", "a"}, {"avoid", std::move(avoid)}}; };
  EXPECT_THAT(read_translate_request(with({"a", "b c"}), {}).job.avoid, ElementsAre("a", "b c"));
  EXPECT_EQ(refusal_of(with(json::object())), "avoid is object, expected an array of phrases");
  EXPECT_EQ(refusal_of(with({"a", 1})), "a phrase in avoid is number, expected text");
  EXPECT_EQ(refusal_of(with({std::string(1001, 'b')})), "a phrase in avoid has 1001 bytes, expected at most 1000");
  EXPECT_EQ(refusal_of(with(std::vector<std::string>(1001, "b"))), "avoid has 1001 phrases, expected at most 1000");
}

TEST(TranslateRequest, IsRefusedWhereAParameterHasNoEffect) {
  const auto refusal = [](json fields) {
    fields["text"] = "a";
    return refusal_of(fields);
  };
  EXPECT_EQ(refusal({{"temperature", 0.5}}), "temperature 0.5 is for sampling, which is not given");
  EXPECT_EQ(refusal({{"sampling", "full"}, {"temperature", 0.5}}), "");
  EXPECT_EQ(refusal({{"temperature", 1}}), "") << "the default changes nothing";
  EXPECT_EQ(refusal({{"seed", 3}}), "seed 3 is for sampling, which is not given");
  EXPECT_EQ(refusal({{"sampling", "full"}, {"seed", 3}}), "");
  EXPECT_EQ(refusal({{"seed", 1}}), "") << "the default changes nothing";
  EXPECT_THAT(refusal({{"sampling_pieces", 5}}), HasSubstr("is for sampling topk, which is not given"));
  EXPECT_THAT(refusal({{"sampling", "nucleus"}, {"sampling_pieces", 5}}), HasSubstr("sampling_pieces 5 is for"));
  EXPECT_THAT(refusal({{"sampling", "topk"}, {"sampling_mass", 0.5}}), HasSubstr("sampling_mass 0.5 is for"));
  EXPECT_EQ(refusal({{"length_penalty", 0.6}, {"normalize", 1}}),
            "length_penalty and normalize 1 are two ways to divide scores by length: give one");
  EXPECT_EQ(refusal({{"length_penalty", 0.6}, {"normalize", 0}}), "");
  EXPECT_EQ(refusal({{"word_penalty", -1000}}),
            "word_penalty -1000 has no effect with normalize 1, where it adds the same number to every score: give "
            "normalize another value, such as 0");
  EXPECT_EQ(refusal({{"word_penalty", 1}, {"normalize", 0}}), "");
  EXPECT_EQ(refusal({{"word_penalty", 1}, {"length_penalty", 0.6}}), "");
  EXPECT_EQ(refusal({{"length_penalty", 0}, {"normalize", 0.5}}), "");
}

TEST(TranslateRequest, IsRefusedWhateverBytesAParameterHas) {
  EXPECT_THAT(refusal_of({{"text", "a"}, {"beam_size", "\xff"}}), HasSubstr("expected a whole number"));
}

TEST(ScoreRequest, IsRefusedWithTheReason) {
  const auto refusal = [](const json& fields) { return error_of([&] { read_score_request(fields); }); };
  EXPECT_EQ(refusal({{"text", "a"}, {"translation", "b"}}), "");
  EXPECT_EQ(refusal({{"text", "a"}}), "translation is missing");
  EXPECT_THAT(refusal({{"text", "a"}, {"translation", {1}}}), HasSubstr("translation is number, expected text"));
  EXPECT_THAT(refusal({{"text", "a"}, {"translation", {"b", "c"}}}), HasSubstr("1 texts and 2 translations"));
  EXPECT_EQ(refusal({{"text", "a"}, {"translation", "b"}, {"sources", "en"}}),
            "there is no parameter 'sources', did you mean source?");
}

TEST(ApiDescription, HasTheParametersOfATranslation) {
  const json body = json::parse(api_description())["paths"]["/v1/translate"]["post"]["requestBody"];
  std::vector<std::string> described;
  for (const auto& [name, type] : body["content"]["application/json"]["schema"]["properties"].items())
    described.push_back(name);
  EXPECT_THAT(described, testing::UnorderedElementsAreArray(translate_parameter_names()));
}

TEST(ApiDescription, IsJsonWithEveryPath) {
  const json spec = json::parse(api_description());
  for (const char* path : {"/translate", "/detect", "/languages", "/frontend/settings", "/health", "/spec",
                           "/v1/translate", "/v1/score", "/v1/reload", "/metrics"})
    EXPECT_TRUE(spec["paths"].contains(path)) << path;
}

}  // namespace
}  // namespace dragoman
