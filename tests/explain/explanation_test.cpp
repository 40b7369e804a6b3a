#include "explain/explanation.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "explain/attention_json.h"
#include "explain/heat_map.h"
#include "pages/attention_page.h"
#include "pages/page_data.h"
#include "tests/special_ids.h"
#include "tests/toy_model.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

class Explaining : public testing::Test {
 protected:
  Explanation explain(const AttentionChoice& choice) {
    return Explainer(cx, *model, vocabularies, choice).explain({source, target});
  }
  void expect_refused(const AttentionChoice& choice, const std::string& message) {
    try {
      const Explainer refused(cx, *model, vocabularies, choice);
      ADD_FAILURE() << "expected: " << message;
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), HasSubstr(message));
    }
  }
  void use(ModelConfig config) {
    model = toy_model(arena, 1, config);
    packed = model->parameters().pack();
  }

  Vocabularies vocabularies{toy_vocabulary(), toy_vocabulary()};
  std::vector<int32_t> source = {300, 301, eos_id}, target = {310, eos_id};
  Arena arena;
  std::unique_ptr<Model> model = toy_model(arena, 1);
  PackedWeights packed = model->parameters().pack();
  Context cx{.backend = backend("cpu"), .arena = arena, .packed = &packed};
  std::string a = toy_vocabulary().piece(300), b = toy_vocabulary().piece(301), c = toy_vocabulary().piece(310);
};

TEST_F(Explaining, NamesThePiecesOfEachSide) {
  const Explanation e = explain({});
  EXPECT_THAT(e.queries(AttentionSite::encoder_self), ElementsAre(a, b, "</s>"));
  EXPECT_THAT(e.keys(AttentionSite::cross), ElementsAre(a, b, "</s>"));
  EXPECT_THAT(e.queries(AttentionSite::cross), ElementsAre(c, "</s>"));     // what is to be predicted …
  EXPECT_THAT(e.keys(AttentionSite::decoder_self), ElementsAre("<s>", c));  // … after what was read
  for (const AttentionMap& map : e.maps) {
    EXPECT_EQ(size_t(map.queries), e.queries(map.site).size());
    EXPECT_EQ(size_t(map.keys), e.keys(map.site).size());
  }
}

TEST_F(Explaining, ReadsADecoderAloneAsOneSequence) {
  ModelConfig config = toy_config();
  config.type = ModelType::decoder_only;
  use(config);
  const Explanation e = explain({});
  EXPECT_THAT(e.keys(AttentionSite::decoder_self), ElementsAre("<s>", a, b, "</s>", c));
  EXPECT_THAT(e.queries(AttentionSite::decoder_self), ElementsAre(a, b, "</s>", c, "</s>"));
  ASSERT_EQ(e.maps.size(), 1u);
  EXPECT_EQ(e.maps[0].keys, 5);
  expect_refused({.sites = {AttentionSite::cross}},
                 "--sites cross: a model of type decoder-only has only decoder-self");
}

TEST_F(Explaining, ShowsWhatIsChosen) {
  ModelConfig config = toy_config();
  config.encoder_layers = 3, config.decoder_layers = 2;
  use(config);
  const auto names = [&](const AttentionChoice& choice) {
    std::vector<std::string> found;
    for (const AttentionMap& map : explain(choice).maps) found.push_back(map.name);
    return found;
  };
  EXPECT_EQ(names({}).size(), 7u);
  EXPECT_THAT(names({.layers = {-1}}),
              ElementsAre("encoder.2.self_attention", "decoder.1.self_attention", "decoder.1.cross_attention"));
  EXPECT_THAT(names({.sites = {AttentionSite::cross}, .layers = {0}}), ElementsAre("decoder.0.cross_attention"));
  const auto heads = explain({.heads = {1}}).maps[0].heads;
  ASSERT_EQ(heads.size(), 1u);
  EXPECT_EQ(heads[0].head, 1);
  const Explanation mean = explain({.average = true}), all = explain({});
  EXPECT_EQ(mean.maps[0].heads[0].weights, mean_of(all.maps[0]).weights);
}

TEST_F(Explaining, RefusesWhatTheModelDoesNotHave) {
  expect_refused({.layers = {1}}, "--layers 1: the model has 1 layer, numbered 0; -1 is the last");
  expect_refused({.layers = {-2}}, "--layers -2");
  expect_refused({.heads = {2}}, "--heads 2: the model has 2 heads per layer, numbered 0 to 1");
}

TEST_F(Explaining, RefusesLayersThatOnlyOtherSitesHave) {
  ModelConfig config = toy_config();
  config.encoder_layers = 3, config.decoder_layers = 2;
  use(config);
  const auto cross = AttentionSite::cross, encoder = AttentionSite::encoder_self, decoder = AttentionSite::decoder_self;
  for (const int layer : {2, -3})
    expect_refused({.sites = {cross}, .layers = {layer}},
                   fmt::format("--layers {}: the model has 2 layers of cross attention, numbered 0 to 1", layer));
  expect_refused({.sites = {decoder, cross}, .layers = {0, 2}},
                 "--layers 2: the model has 2 layers of decoder-self, cross attention, numbered 0 to 1");
  expect_refused({.sites = {encoder}, .layers = {3}}, "--layers 3: the model has 3 layers of encoder-self attention");
  EXPECT_EQ(explain({.sites = {encoder, cross}, .layers = {2}}).maps.size(), 1u);
  EXPECT_EQ(explain({.layers = {2}}).maps.size(), 1u);
}

TEST_F(Explaining, RefusesToFollowWhatIsNotAttention) {
  ModelConfig config = toy_config();
  config.autoregression = Autoregression::rnn;
  use(config);
  EXPECT_EQ(explain({}).maps.size(), 2u);
  expect_refused({.method = AttentionMethod::rollout}, "this one has only encoder-self, cross attention");
}

TEST_F(Explaining, OfAPairDoesNotDependOnThoseBefore) {
  const Explainer explainer(cx, *model, vocabularies, {});
  const auto first = explainer.explain({source, target});
  explainer.explain({target, source});
  const auto again = explainer.explain({source, target});
  for (size_t i = 0; i < first.maps.size(); ++i)
    EXPECT_EQ(first.maps[i].heads[0].weights, again.maps[i].heads[0].weights);
}

// Two queries over two keys; pieces contain hostile characters.
Explanation hostile() {
  Explanation e{.line = 3};
  e.source = {"\xE2\x96\x81</script><b>&\"'", "\xE2\x80\xA8\x1B[31m"};
  e.read = e.predicted = {"\xFF", "]]>"};
  e.maps = {{"decoder.0.cross_attention", AttentionSite::cross, 0, 2, 2, {{0, {1, 0, 0.25f, 0.75f}}}}};
  return e;
}

TEST(ExplanationAsJson, IsOneLineThatSaysAll) {
  const std::string text = to_json(hostile());
  EXPECT_EQ(text.find('\n'), text.npos);
  const Json json = Json::parse(text);
  EXPECT_EQ(json["line"], 3);
  EXPECT_EQ(json["source"][0], hostile().source[0]);
  EXPECT_EQ(json["predicted"][0], "\xEF\xBF\xBD");
  const Json& map = json["attention"][0];
  EXPECT_EQ(map["site"], "cross");
  EXPECT_EQ(map["heads"], Json::array({0}));
  EXPECT_EQ(map["weights"], Json::parse("[[[1,0],[0.25,0.75]]]"));
}

TEST(ExplanationAsJson, SaysWhyThereIsNone) {
  const Json json = Json::parse(to_json({.line = 2, .missing = "too \"long\""}));
  EXPECT_EQ(json["missing"], "too \"long\"");
  EXPECT_FALSE(json.contains("attention"));
}

TEST(ExplanationAsJson, HasNullForWhatIsNotFinite) {
  Explanation e = hostile();
  e.maps[0].heads[0].weights[1] = NAN;
  EXPECT_TRUE(Json::parse(to_json(e))["attention"][0]["weights"][0][0][1].is_null());
}

TEST(ExplanationPage, IsNotEndedByItsData) {
  const std::string part = page_part(hostile());
  EXPECT_EQ(part.find("</script>"), part.size() - std::string("</script>\n").size());
  EXPECT_EQ(part.find("<b>"), part.npos);
  const size_t from = part.find('>') + 1;
  const Json json = Json::parse(part.substr(from, part.rfind("</script>") - from));
  EXPECT_EQ(json["source"][0], hostile().source[0]);
  // 0, ¼, ¾ and 1 of 2047 on from 2048: 4095 = 63·64 + 63, 2048 = 32·64, 2560 = 40·64, 3583 = 55·64 + 63.
  EXPECT_EQ(json["maps"][0]["weights"][0], "--gAoA3-");
}

TEST(ExplanationPage, NamesTheModelWhateverItIsCalled) {
  EXPECT_THAT(page_begin("</script><b>.safetensors", AttentionMethod::raw), Not(HasSubstr("<b>")));
}

TEST(ExplanationPage, TakesNoLongToMakeDataSafe) {
  constexpr int count = 4'000'000;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(safe_in_script(std::string(count, '<')).size(), count * std::string("\\u003c").size() + 2);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(HeatMap, HasARowForEachPieceThatLooks) {
  Explanation e = hostile();
  e.source = {"ab", "\xE6\xBC\xA2"};  // one is as wide as two
  e.predicted = {"x", "yz"};
  EXPECT_EQ(heat_map(e),
            "\nline 3, decoder.0.cross_attention, head 0\n"
            "               a \xE6\xBC\xA2\n"
            "               b\n"
            "x              ██    ab            1\n"
            "yz             ▒▒██  \xE6\xBC\xA2            0.75\n");
}

TEST(HeatMap, GivesNoOrdersToATerminal) { EXPECT_EQ(heat_map(hostile()).find('\x1B'), std::string::npos); }

TEST(HeatMap, MarksWhatIsBelowZero) {
  Explanation e = hostile();
  e.method = AttentionMethod::gradient;
  e.maps[0].heads[0].weights = {-4, 0, 2, 1};  // relative to 4
  EXPECT_THAT(heat_map(e), HasSubstr(" -█    "));
  EXPECT_THAT(heat_map(e), HasSubstr(" ▓▓▒▒  "));
}

}  // namespace
}  // namespace dragoman
