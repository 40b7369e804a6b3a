#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "io/config_json.h"
#include "model/config_fields.h"
#include "model/presets.h"
#include "model/validate.h"
#include "tests/error_of.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

// Converts to whatever an aggregate has as its next member.
struct Anything {
  template <class T>
  operator T() const;  // NOLINT: implicit, and never called
};

/// How many members an aggregate has.
template <class T, class... Initialisers>
consteval int members() {
  if constexpr (requires { T{Initialisers{}..., Anything{}}; })
    return members<T, Initialisers..., Anything>();
  else
    return sizeof...(Initialisers);
}

// A member that is added to a group and has no row in config_fields.cpp is found here.
TEST(ModelConfig, HasARowForEachMember) {
  constexpr int groups_of_config = 9, groups_of_rnn = 2;
  constexpr int expected = members<ModelConfig>() - groups_of_config + members<AttentionConfig>() +
                           members<AlignmentConfig>() + members<ExpertsConfig>() + members<AverageAttentionConfig>() +
                           members<RnnConfig>() - groups_of_rnn + members<RnnEncoderConfig>() +
                           members<RnnDecoderConfig>() + members<EmbeddingsConfig>() + members<DropoutConfig>() +
                           members<SpecialIds>() + members<GenerationConfig>();
  ModelConfig config;
  std::set<std::string_view> keys;
  std::set<const void*> addresses;
  for (const ConfigField& field : model_config_fields()) {
    keys.insert(field.key);
    std::visit(
        [&]<class T>(const T& at) {
          if constexpr (std::is_same_v<T, EnumMember>)
            addresses.insert(at.value);
          else
            addresses.insert(at);
        },
        field.member(config));
  }
  EXPECT_EQ(int(addresses.size()), expected);
  EXPECT_EQ(int(keys.size()), expected + 1);  // rnn.norm has a row for s2s and one for the SSRU
}

TEST(ModelConfig, HasHelpAndAHeadingForEachOption) {
  for (const ConfigField& field : model_config_fields()) {
    EXPECT_EQ(field.option.empty(), field.help.empty()) << field.key;
    EXPECT_EQ(field.option.empty(), field.group.empty()) << field.key;
  }
}

TEST(ModelConfig, HasDefaultsWithinTheirBounds) {
  for (const ModelType type : {ModelType::transformer, ModelType::decoder_only, ModelType::s2s}) {
    ModelConfig config;
    config.type = type;
    EXPECT_NO_THROW(validate(defaults_of(config))) << name_of(type);
  }
}

TEST(ModelConfig, GetsTheSameSentenceFromAProgramAndFromAFile) {
  ModelConfig config;
  config.heads = 7;
  const std::string sentence = error_of([&] { validate(config); });
  EXPECT_EQ(sentence, "--dim-emb 512 cannot be divided among --transformer-heads 7");
  EXPECT_EQ(error_of([&] { config_from_json(to_json(config), "m"); }),
            "m: its model configuration is impossible: " + sentence);
}

TEST(ModelConfig, RefusesHeadsThatNothingJoinsToTheWidthOfTheModel) {
  ModelConfig config;
  config.attention.projects_result = false;
  EXPECT_EQ(error_of([&] { validate(config); }), "");
  config.value_size = 32;
  EXPECT_THAT(error_of([&] { validate(config); }),
              HasSubstr("without a projection of attention's result (attention_projects_result), its 8 heads of 32 "
                        "values would have to be as wide as --dim-emb 512"));
}

// A field that older programs do not know.
TEST(ModelConfig, IsWrittenWithoutNewerFieldsAtTheirDefaults) {
  ModelConfig config;
  EXPECT_THAT(to_json(config), testing::Not(HasSubstr("norm_epsilon")));
  config.norm_epsilon = 1e-6;
  EXPECT_THAT(to_json(config), HasSubstr("\"norm_epsilon\":1e-06"));
  EXPECT_EQ(config_from_json(to_json(config), "m").norm_epsilon, 1e-6);
}

TEST(ModelConfig, RefusesNumbersBeyondTheirBounds) {
  ModelConfig config;
  config.attention.stride = 1;
  EXPECT_EQ(error_of([&] { validate(config); }), "--attention-stride: 1 is out of range, expected from 2 to 1000");
  config.attention.stride = 3, config.dropout.sublayer = 1;
  EXPECT_EQ(error_of([&] { validate(config); }), "--transformer-dropout: 1 is out of range, expected from 0 to 0.99");
}

TEST(ModelConfig, TiesDecoderLayersToLayersBelowWithWeightsOfTheirOwn) {
  ModelConfig config;
  config.tied_decoder_layers = {1, 1, 2, 1, 1, 1};
  EXPECT_EQ(error_of([&] { validate(config); }),
            "--transformer-tied-layers ties decoder layer 3 to layer 2, expected itself, or a layer below with weights "
            "of its own, from 1");
  config.tied_decoder_layers = {0, 1, 1, 1, 1, 1};
  EXPECT_EQ(error_of([&] { validate(config); }),
            "--transformer-tied-layers ties decoder layer 1 to layer 0, expected itself, or a layer below with weights "
            "of its own, from 1");
  config.tied_decoder_layers = {1};
  EXPECT_EQ(error_of([&] { validate(config); }),
            "--transformer-tied-layers has 1 numbers, expected one for each of the 6 decoder layers");
  config.tied_decoder_layers = {1, 2, 1, 2, 1, 6};
  EXPECT_EQ(error_of([&] { validate(config); }), "");
}

TEST(ModelConfig, ReadsTiedLayersThatEarlierVersionsCountedFromZero) {
  ModelConfig config;
  config.decoder_layers = 3, config.tied_decoder_layers = {1, 2, 1};
  std::string json = to_json(config);
  EXPECT_EQ(config_from_json(json, "m").tied_decoder_layers, (std::vector{1, 2, 1}));
  const std::string now = "\"tied_decoder_layers\":[1,2,1]", then = "\"tied_decoder_layers\":[0,1,0]";
  ASSERT_NE(json.find(now), std::string::npos);
  json.replace(json.find(now), now.size(), then);
  EXPECT_EQ(config_from_json(json, "m").tied_decoder_layers, (std::vector{1, 2, 1}));
}

TEST(ModelConfig, HasDecoderHeadsThatDivideTheModel) {
  ModelConfig config;
  config.decoder_heads = 7;
  EXPECT_EQ(error_of([&] { validate(config); }), "--dim-emb 512 cannot be divided among --transformer-decoder-heads 7");
  config.decoder_heads = 4, config.positions = Positions::rotary;
  EXPECT_THAT(error_of([&] { validate(config); }), HasSubstr("needs the same heads everywhere"));
}

TEST(ModelConfig, HasIdsOfPiecesThatTheVocabularyHas) {
  ModelConfig config;
  config.decoder_start = DecoderStart::pad;
  EXPECT_EQ(error_of([&] { validate(config); }), "--decoder-start pad is a piece that the vocabulary does not have");
  config.special.pad = 3, config.special.bos = -1, config.source_vocabulary = config.target_vocabulary = 4;
  EXPECT_EQ(error_of([&] { validate(config); }), "");
  EXPECT_EQ(config_from_json(to_json(config), "m").special, config.special);
  config.special.unk = 4;
  EXPECT_EQ(error_of([&] { validate(config); }), "unk_id is 4, but the vocabulary has 4 pieces");
  config.special.unk = 0, config.special.eos = -1;
  EXPECT_THAT(error_of([&] { validate(config); }), HasSubstr("eos_id: -1 is out of range, expected"));
}

std::string complaint(const ModelConfig& config, std::set<std::string_view> options) {
  return error_of([&] { refuse_unused(config, [&](std::string_view option) { return options.contains(option); }); });
}

TEST(ModelConfig, RefusesWhatWasGivenThoughSuchAModelLacksIt) {
  ModelConfig config;
  config.rnn.dim = 512, config.attention.rank = 8, config.experts.top_k = 1;
  EXPECT_EQ(complaint(config, {}), "");
  EXPECT_EQ(complaint(config, {"dim-rnn"}), "--dim-rnn is for --type s2s, not for transformer");
  EXPECT_EQ(complaint(config, {"attention-rank"}),
            "--attention-rank is for --attention-score reduced-rank, not for scaled-dot");
  EXPECT_EQ(complaint(config, {"moe-top-k"}), "--moe-top-k is for --moe-experts, which is not given");
  config.type = ModelType::decoder_only;
  EXPECT_EQ(complaint(config, {"enc-depth"}),
            "--enc-depth is for models with an encoder; --type decoder-only has none");
  config.type = ModelType::s2s, config.rnn.decoder.attention = RnnAttention::none;
  EXPECT_EQ(complaint(config, {"transformer-heads"}),
            "--transformer-heads is for models with attention; --rnn-attention none has none");
  config.key_size = 8, config.value_size = 8, config.dropout.attention = 0.3;
  for (const char* option : {"transformer-dim-key", "transformer-dim-value", "transformer-dropout-attention"})
    EXPECT_EQ(complaint(config, {option}),
              std::string("--") + option + " is for models with attention; --rnn-attention none has none");
  EXPECT_EQ(error_of([&] { validate(config); }), "") << "models that were trained with them can be read";
}

TEST(ModelConfig, RefusesSizesThatItsAttentionDoesNotUse) {
  ModelConfig config;
  config.max_positions = 5;
  EXPECT_EQ(complaint(config, {"transformer-max-positions"}),
            "--transformer-max-positions is for --transformer-positions learned and --attention-score location; other "
            "positions have no maximum");
  config.positions = Positions::learned;
  EXPECT_EQ(complaint(config, {"transformer-max-positions"}), "");
  config.positions = Positions::none, config.attention.score = AttentionScore::location;
  EXPECT_EQ(complaint(config, {"transformer-max-positions"}), "");
  config.key_size = 7;
  EXPECT_EQ(complaint(config, {"transformer-dim-key"}), "");
  config.attention.score = AttentionScore::reduced_rank;
  EXPECT_EQ(complaint(config, {"transformer-dim-key"}),
            "--transformer-dim-key is not for --attention-score reduced-rank, whose queries and keys have the size "
            "--attention-rank");
}

TEST(ModelConfig, CountsTheLayersThatHaveExperts) {
  ModelConfig config;
  config.encoder_layers = 1, config.decoder_layers = 3, config.experts.count = 4;
  EXPECT_EQ(config.layers_with_experts(), 1);
  config.tied_decoder_layers = {1, 2, 2};
  EXPECT_EQ(config.layers_with_experts(), 2);
  EXPECT_EQ(error_of([&] { validate(config); }), "");
  config.tied_decoder_layers = {1, 1, 1};
  EXPECT_EQ(error_of([&] { validate(config); }),
            "--moe-frequency 2 gives no layer experts: --transformer-tied-layers replaces those that would have some");
  config = {.type = ModelType::decoder_only, .decoder_layers = 1, .experts = {.count = 4}};
  EXPECT_EQ(error_of([&] { validate(config); }),
            "--moe-frequency 2 gives no layer experts: the model has only 1 layer");
}

TEST(ModelConfig, HasNumbersThatTrainingCanUse) {
  ModelConfig config;
  config.dropout.embedding = -0.5;
  EXPECT_EQ(error_of([&] { validate(config); }),
            "--transformer-dropout-embedding -0.5 is no probability, expected from 0 to 0.99, or -1");
  config.dropout.embedding = -1, config.norm_epsilon = 0;
  EXPECT_EQ(error_of([&] { validate(config); }),
            "--transformer-norm-epsilon: 0 is out of range, expected from 1e-30 to 1");
}

TEST(ModelConfig, TakesTheDefaultsOfItsTypeUnlessTheyAreGiven) {
  ModelConfig config;
  config.type = ModelType::s2s, config.rnn.decoder.attention = RnnAttention::luong, config.decoder_layers = 3;
  complete(config, [](std::string_view option) { return option == "dec-depth"; });
  EXPECT_EQ(config.encoder_layers, 1);
  EXPECT_EQ(config.decoder_layers, 3);
  EXPECT_EQ(config.attention.score, AttentionScore::bilinear);
  EXPECT_EQ(config.positions, Positions::none);
}

}  // namespace
}  // namespace dragoman
