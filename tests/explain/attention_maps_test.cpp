#include "explain/attention_maps.h"
#include "backend/backend.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "backend/registry.h"
#include "tests/special_ids.h"
#include "tests/toy_model.h"

namespace dragoman {
namespace {

using testing::DoubleNear;

struct Variant {
  const char* name;
  ModelConfig config;
};
void PrintTo(const Variant& v, std::ostream* out) { *out << v.name; }

ModelConfig small(ModelType type = ModelType::transformer) {
  ModelConfig c;
  c.type = type;
  c.dim = 8, c.encoder_layers = c.decoder_layers = 2, c.heads = 2, c.feed_forward = 12;
  c.dropout.sublayer = c.dropout.attention = 0.3;  // must not be applied here
  c.source_vocabulary = c.target_vocabulary = 11;
  c.max_positions = 20, c.attention.rank = 3, c.relative_positions = 2;
  return c;
}
template <class T>
ModelConfig with(T ModelConfig::*member, T value) {
  ModelConfig config = small();
  config.*member = value;
  return config;
}
template <class T>
ModelConfig with(T AttentionConfig::*member, T value) {
  ModelConfig config = small();
  config.attention.*member = value;
  return config;
}

const IdPair pair{{5, 3, 8, 4, eos_id}, {7, 3, 9, eos_id}};

// One weight of one attention is larger than the softmax says.
struct Nudge {
  int attention, head;  // which, in the order of the pass
  int64_t query, key;
  double by;
  int calls = 0;
} nudge;

// y = weights · v, so a weight that is larger by x adds x · v.
void nudged_attention(const Backend::Attention& a) {
  backend("reference").attention(a);
  if (nudge.calls++ != nudge.attention) return;
  const int64_t size = a.v.cols() / a.shape.heads;
  for (int64_t d = nudge.head * size; d < (nudge.head + 1) * size; ++d)
    a.y.view<double>()(nudge.query, d) += nudge.by * a.v.view<double>()(nudge.key, d);
}

double log_prob(Model& model, Arena& arena, const Nudge& how) {
  Backend nudged = backend("reference");
  nudged.attention = nudged_attention;
  nudge = how;
  Context cx{.backend = nudged, .arena = arena};
  const auto packed = [](const std::vector<int32_t>& ids) {
    return PackedIds{ids, Spans::of_lengths({int32_t(ids.size())})};
  };
  const Tensor log_probs = model.loss(cx, {packed(pair.source), packed(pair.target), {0}}, 0).log_prob;
  return std::accumulate(log_probs.as<double>(), log_probs.as<double>() + log_probs.elements(), 0.0);
}

class AttentionMaps : public testing::TestWithParam<Variant> {
 protected:
  Arena arena;
  std::unique_ptr<Model> model = [this] {
    auto made = make_model(GetParam().config, backend("reference"), arena, DType::f64, false);
    made->parameters().initialise(7);
    return made;
  }();
  Context cx{.backend = backend("reference"), .arena = arena};
};

TEST_P(AttentionMaps, HaveRowsThatSumToOneOrSeeNothing) {
  for (const AttentionMap& map : attentions_of(cx, *model, pair)) {
    ASSERT_EQ(map.heads.size(), 2u);
    for (const HeadMap& head : map.heads)
      for (int64_t q = 0; q < map.queries; ++q) {
        const auto row = std::span(head.weights).subspan(size_t(q * map.keys), size_t(map.keys));
        const double sum = std::accumulate(row.begin(), row.end(), 0.0);
        const bool blind = map.site == AttentionSite::cross && GetParam().config.attention.local > 0 && sum == 0;
        EXPECT_TRUE(blind || std::abs(sum - 1) < 1e-6) << map.name << " " << q << " " << sum;
      }
  }
}

TEST_P(AttentionMaps, SayWhereTheyAre) {
  const bool alone = GetParam().config.type == ModelType::decoder_only;
  std::vector<std::tuple<AttentionSite, int, int64_t, int64_t>> found, expected;
  for (const AttentionMap& map : attentions_of(cx, *model, pair))
    found.emplace_back(map.site, map.layer, map.queries, map.keys);
  for (int layer = 0; layer < 2 && !alone; ++layer) expected.emplace_back(AttentionSite::encoder_self, layer, 5, 5);
  for (int layer = 0; layer < 2; ++layer) {
    const int64_t rows = alone ? 9 : 4;
    const bool attends = GetParam().config.autoregression == Autoregression::self_attention;
    if (attends) expected.emplace_back(AttentionSite::decoder_self, layer, rows, rows);
    if (!alone) expected.emplace_back(AttentionSite::cross, layer, 4, 5);
  }
  EXPECT_EQ(found, expected);
}

TEST_P(AttentionMaps, AreZeroWhereAKeyIsOutOfSight) {
  for (const AttentionMap& map : attentions_of(cx, *model, pair))
    for (int64_t q = 0; q < map.queries; ++q)
      for (int64_t k = 0; k < map.keys; ++k) {
        const int window =
            map.site == AttentionSite::cross ? GetParam().config.attention.local : GetParam().config.attention.window;
        const bool sees =
            (map.site != AttentionSite::decoder_self || k <= q) && (window == 0 || std::abs(q - k) <= window);
        EXPECT_EQ(map.heads[1].weights[size_t(q * map.keys + k)] > 0, sees) << map.name << " " << q << " " << k;
      }
}

TEST_P(AttentionMaps, TimesGradientAreWhatDifferencesOfEachWeightSay) {
  const auto raw = attentions_of(cx, *model, pair), found = gradient_times_attention(cx, *model, pair);
  EXPECT_GT(std::ranges::max(found.back().heads[0].weights), 1e-4);  // so that the tolerance below is meaningful
  constexpr double step = 2e-5;
  for (int a = 0; a < int(raw.size()); ++a)
    for (int h = 0; h < 2; ++h)
      for (int64_t q = 0; q < raw[a].queries; ++q)
        for (int64_t k = 0; k < raw[a].keys; ++k) {
          const auto at = [&](const auto& maps) {
            return double(maps[a].heads[h].weights[size_t(q * maps[a].keys + k)]);
          };
          const double slope =
              (log_prob(*model, arena, {a, h, q, k, step}) - log_prob(*model, arena, {a, h, q, k, -step})) / (2 * step);
          EXPECT_THAT(at(found), DoubleNear(at(raw) * slope, 1e-7)) << raw[a].name << " " << h << " " << q << " " << k;
        }
}

INSTANTIATE_TEST_SUITE_P(
    Variants, AttentionMaps,
    testing::Values(Variant{"transformer", small()}, Variant{"pre", with(&ModelConfig::norm, NormPlacement::pre)},
                    Variant{"additive", with(&AttentionConfig::score, AttentionScore::additive)},
                    Variant{"location", with(&AttentionConfig::score, AttentionScore::location)},
                    Variant{"relative", with(&ModelConfig::positions, Positions::relative)},
                    Variant{"rotary", with(&ModelConfig::positions, Positions::rotary)},
                    Variant{"alibi", with(&ModelConfig::positions, Positions::alibi)},
                    Variant{"no projections", with(&AttentionConfig::projections, Projections::none)},
                    Variant{"head norm", with(&AttentionConfig::norm, HeadNorm::layer)},
                    Variant{"recurrent", with(&ModelConfig::autoregression, Autoregression::rnn)},
                    Variant{"window", with(&AttentionConfig::window, 1)},
                    Variant{"local", with(&AttentionConfig::local, 1)},
                    Variant{"decoder-only", small(ModelType::decoder_only)}));

TEST(GradientTimesAttention, IsTheSameInFloat32ToItsDigits) {
  Arena arena;
  const auto model = toy_model(arena, 3);
  const auto exact = make_model(toy_config(), backend("reference"), arena, DType::f64, false);
  for (size_t i = 0; i < exact->parameters().named().size(); ++i)
    backend("reference").copy(exact->parameters().named()[i].value, model->parameters().named()[i].value);
  const Context fast{.backend = backend("cpu"), .arena = arena}, slow{.backend = backend("reference"), .arena = arena};
  const auto found = gradient_times_attention(fast, *model, pair),
             expected = gradient_times_attention(slow, *exact, pair);
  for (size_t i = 0; i < found.size(); ++i)
    for (size_t h = 0; h < 2; ++h)
      EXPECT_THAT(found[i].heads[h].weights,
                  testing::Pointwise(testing::FloatNear(1e-4f), expected[i].heads[h].weights));
}

TEST(MeanOfHeads, IsTakenNumberByNumber) {
  const AttentionMap map{
      "x", AttentionSite::cross, 0, 1, 2, {{0, {0.25f, 0.75f}}, {1, {0.75f, 0.25f}}, {2, {0.5f, 0.5f}}}};
  EXPECT_THAT(mean_of(map).weights, testing::ElementsAre(0.5f, 0.5f));
  EXPECT_EQ(mean_of(map).head, HeadMap::mean);
}

}  // namespace
}  // namespace dragoman
