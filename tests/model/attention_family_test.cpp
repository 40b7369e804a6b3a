#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "backend/backend.h"
#include "backend/registry.h"
#include "base/philox.h"
#include "tests/model/attention_family.h"
#include "tests/model/forced_logits.h"
#include "tests/op_check/gpu.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

bool batch_norms(const Model& model) { return model.config().norm_kind == NormKind::batch; }

// Batch norms have seen a batch, so that their running statistics are not the first ones.
std::unique_ptr<Model> make(const Variant& v, const char* backend_name, Arena& arena, DType dtype, bool gradients) {
  auto model = make_model(v.config(), test_backend(backend_name), arena, dtype, gradients);
  model->parameters().initialise(7);
  Context cx{.backend = test_backend(backend_name), .arena = arena, .training = true};
  for (int i = 0; i < (batch_norms(*model) ? 10 : 0); ++i) model->loss(cx, small_batch(), 0.1);
  return model;
}

TEST_P(AttentionFamily, StepsWithACacheEqualTheFullPass) {
  for (const auto& [name, dtype, tolerance] :
       {std::tuple("reference", DType::f64, 1e-12), std::tuple("cpu", DType::f32, 1e-5)}) {
    Arena arena;
    const auto model = make(GetParam(), name, arena, dtype, false);
    const PackedWeights packed = model->parameters().pack();
    Context cx{.backend = backend(name), .arena = arena, .packed = &packed};
    const Batch batch = small_batch();
    const Tensor full = model->logits(cx, batch);
    const auto steps = forced_logits(*model, cx, batch);
    for (size_t n = 0; n < steps.size(); ++n) {
      const auto expected = row_of(full, int64_t(n));
      for (size_t v = 0; v < expected.size(); ++v) ASSERT_NEAR(steps[n][v], expected[v], tolerance) << name << " " << n;
    }
  }
}

// Steps are recorded (backend/recorder.h) unless the host has to decide something between their kernels.
TEST_P(AttentionFamily, DecodesTheSameWhereADeviceRecordsSteps) {
  const Variant& v = GetParam();
  const Backend& device = gpu_on_host();
  Backend plain = device;
  plain.recorder = nullptr;
  Arena arena(*device.memory);
  const auto model = make(v, "gpu kernels on the host", arena, DType::f32, false);
  const PackedWeights packed = model->parameters().pack();
  Context cx{.backend = device, .arena = arena, .packed = &packed};
  Context as_called{.backend = plain, .arena = arena, .packed = &packed};
  const int64_t before = device.memory->counts().replays;
  const auto logits = forced_logits(*model, cx, small_batch());
  const bool recorded = device.memory->counts().replays > before;
  EXPECT_EQ(recorded,
            v.type == ModelType::transformer && v.score != AttentionScore::location && v.experts == 0 && !v.copies);
  EXPECT_EQ(logits, forced_logits(*model, as_called, small_batch()));
}

struct Learned {
  std::map<std::string, std::vector<double>> gradients;  // of the parameters that have one
  size_t records;                                        // of the forward pass
};

Learned learned(const Variant& v, const std::vector<std::string>& frozen) {
  Arena arena;
  const Backend& reference = backend("reference");
  const auto model = make_model(v.config(), reference, arena, DType::f64, true, {frozen});
  model->parameters().initialise(7);
  Tape tape;
  Context cx{.backend = reference, .arena = arena, .tape = &tape, .seed = 5};
  cx.training = true;
  model->loss(cx, small_batch(), 0.1);
  Learned result{{}, tape.size()};
  tape.backward(reference, arena);
  model->parameters().zero_unwritten_gradients();
  for (const auto& p : model->parameters().named())
    if (p.has_gradient()) result.gradients[p.name] = values_of(p.gradient);
  return result;
}

// Whatever is frozen, the others have the gradients that they have without that. What lies before all that is trained
// is not even recorded.
TEST_P(AttentionFamily, GivesWhatIsNotFrozenTheSameGradients) {
  const Learned all = learned(GetParam(), {});
  for (const char* pattern : {"encoder.*", "embedding.*", "decoder.*", "*.weight", "*.bias", "*attention*"}) {
    SCOPED_TRACE(pattern);
    const Learned some = learned(GetParam(), {pattern, "nothing"});
    for (const auto& [name, gradient] : some.gradients) {
      const auto& expected = all.gradients.at(name);
      ASSERT_EQ(gradient, expected) << name;
    }
  }
  const Learned last = learned(GetParam(), {"encoder*", "decoder.0.*", "*embedding*", "*positions*"});
  EXPECT_LT(last.gradients.size(), all.gradients.size());
  EXPECT_LT(last.records, all.records);
}

// The sum of the weights of each query in each head, and how many keys it sees.
std::vector<std::pair<double, int64_t>> sums_of_queries(const ObservedAttention& a) {
  std::vector<std::pair<double, int64_t>> sums;
  const float* weight = a.weights.as<float>();
  for (int s = 0; s < a.shape.queries.sentences(); ++s) {
    const int64_t queries = a.shape.queries[s].end - a.shape.queries[s].begin;
    const int64_t keys = a.shape.keys[s].end - a.shape.keys[s].begin;
    for (int64_t row = 0; row < a.shape.heads * queries; ++row, weight += keys) {
      const Range seen = a.shape.visible.keys(row % queries, keys);
      sums.emplace_back(std::accumulate(weight, weight + keys, 0.0), seen.end - seen.begin);
    }
  }
  return sums;
}

// A watch hears of every attention once. The weights of each query sum to 1, or less if a Gaussian has lowered them.
TEST_P(AttentionFamily, ShowsItsWeightsToAnObserver) {
  Arena arena;
  const auto model = make(GetParam(), "cpu", arena, DType::f32, false);
  std::vector<std::string> names;
  const AttentionObserver observer = [&](const ObservedAttention& a) {
    names.push_back(a.name);
    const bool sees_all = GetParam().local == 0 || a.name.find("cross") == a.name.npos;
    const bool lowered = !sees_all && GetParam().center == LocalCenter::predictive;
    double all = 0;
    for (const auto& [sum, seen] : sums_of_queries(a)) {
      all += sum;
      if (lowered) {
        EXPECT_LE(sum, 1 + 1e-5) << a.name;
      } else {
        EXPECT_NEAR(sum, seen > 0, 1e-5) << a.name;
      }
    }
    if (lowered) {
      EXPECT_GT(all, 0);
      EXPECT_LT(all, a.shape.queries.rows() - 0.1);
    }
  };
  Context cx{.backend = backend("cpu"), .arena = arena, .observer = &observer};
  model->logits(cx, small_batch());
  if (GetParam().recurrent()) {
    const bool attends = GetParam().rnn_attention != RnnAttention::none;
    EXPECT_EQ(names, std::vector<std::string>(attends, "decoder.0.cross_attention"));
  } else if (GetParam().autoregression != Autoregression::self_attention) {
    EXPECT_THAT(names, testing::ElementsAre("encoder.0.self_attention", "encoder.1.self_attention",
                                            "decoder.0.cross_attention", "decoder.1.cross_attention"));
  } else if (GetParam().alone()) {
    EXPECT_THAT(names, testing::ElementsAre("decoder.0.self_attention", "decoder.1.self_attention"));
  } else if (model->config().decoder_layers == 2) {
    EXPECT_THAT(names, testing::ElementsAre("encoder.0.self_attention", "encoder.1.self_attention",
                                            "decoder.0.self_attention", "decoder.0.cross_attention",
                                            "decoder.1.self_attention", "decoder.1.cross_attention"));
  }
}

double loss_of(Model& model, Arena& arena) {
  Context cx{.backend = backend("reference"), .arena = arena, .training = batch_norms(model)};  // there is no dropout
  return sum_of(model.loss(cx, small_batch(), 0.1).loss);
}

// Every parameter has a gradient, and it is the loss's.
TEST_P(AttentionFamily, HasTheGradientsThatDifferencesSay) {
  Arena arena;
  const auto model = make(GetParam(), "reference", arena, DType::f64, true);
  Tape tape;
  Context cx{.backend = backend("reference"), .arena = arena, .tape = &tape, .training = batch_norms(*model)};
  model->parameters().forget_gradients();
  model->loss(cx, small_batch(), 0.1);
  tape.backward(cx.backend, arena);
  for (const auto& p : model->parameters().named()) {
    if (!p.trained) continue;
    const int64_t i = p.value.elements() * 2 / 3;
    double& weight = p.value.as<double>()[i];
    const double before = weight, h = 1e-5;
    weight = before + h;
    const double up = loss_of(*model, arena);
    weight = before - h;
    const double down = loss_of(*model, arena);
    weight = before;
    EXPECT_NEAR(p.gradient.as<double>()[i], (up - down) / (2 * h), 2e-6) << p.name;
  }
}

// Word order matters unless nothing tells it: then an encoder sees a bag of words, and only the decoder's past has one.
TEST_P(AttentionFamily, DependsOnTheOrderOfSourceWordsUnlessThereAreNoPositions) {
  const Variant& v = GetParam();
  Arena arena;
  const auto model = make(v, "reference", arena, DType::f64, false);
  Context cx{.backend = backend("reference"), .arena = arena};
  const auto logits = [&](std::vector<int32_t> source) {
    const Batch batch{{source, Spans::of_lengths({int32_t(source.size())})}, {{4}, Spans::of_lengths({1})}, {0}};
    return row_of(model->logits(cx, batch), 0);
  };
  const auto a = logits({3, 4, 5, 6}), b = logits({6, 4, 3, 5});
  double difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference = std::max(difference, std::abs(a[i] - b[i]));
  const bool blind = v.positions == Positions::none && v.window == 0 && v.score != AttentionScore::location &&
                     !v.alone() && !v.recurrent();
  if (blind) {
    EXPECT_LT(difference, 1e-12);
  } else {
    EXPECT_GT(difference, 1e-6);
  }
}

void few_buckets(ModelConfig& c) { c.relative_buckets = 4, c.relative_max_distance = 3; }

void as_in_t5(ModelConfig& c) {
  few_buckets(c);
  c.decoder_heads = 1, c.gated_feed_forward = true;
}

using enum AttentionScore;
constexpr auto s2s = ModelType::s2s, alone = ModelType::decoder_only;
constexpr auto full = Projections::query_key_value, shared = Projections::key_value, plain = Projections::none;
INSTANTIATE_TEST_SUITE_P(
    Variants, AttentionFamily,
    testing::Values(
        Variant{"scaled_dot"}, Variant{"no_positions", Positions::none}, Variant{"relative", Positions::relative},
        Variant{"rotary", Positions::rotary}, Variant{"alibi", Positions::alibi},
        Variant{"dot", Positions::sinusoidal, dot}, Variant{"additive", Positions::sinusoidal, additive},
        Variant{"location", Positions::none, location}, Variant{"bilinear", Positions::sinusoidal, bilinear, plain},
        Variant{"reduced_rank", Positions::sinusoidal, reduced_rank, plain},
        Variant{"shared_key_value", Positions::sinusoidal, scaled_dot, shared},
        Variant{"no_projections", Positions::sinusoidal, scaled_dot, plain},
        Variant{"additive_without_values", Positions::alibi, additive, plain},
        Variant{"rotary_shared", Positions::rotary, scaled_dot, shared},
        Variant{"relative_window", Positions::relative, dot, full, 2},
        Variant{"window", Positions::none, scaled_dot, full, 1},
        Variant{"local", Positions::sinusoidal, scaled_dot, full, 0, 2},
        Variant{.name = "relative_bias", .positions = Positions::relative_bias, .also = few_buckets},
        Variant{.name = "relative_bias_dot", .positions = Positions::relative_bias, .score = dot, .also = as_in_t5},
        Variant{.name = "relative_bias_decoder_only",
                .positions = Positions::relative_bias,
                .type = alone,
                .also = few_buckets},
        Variant{.name = "gated", .also = [](ModelConfig& c) { c.gated_feed_forward = true; }},
        Variant{.name = "gated_experts", .experts = 3, .also = [](ModelConfig& c) { c.gated_feed_forward = true; }},
        Variant{.name = "rms_norm", .norm_kind = NormKind::rms},
        Variant{.name = "batch_norm", .norm_kind = NormKind::batch},
        Variant{.name = "batch_norm_decoder_only", .type = alone, .norm_kind = NormKind::batch},
        Variant{.name = "ssru", .autoregression = Autoregression::rnn},
        Variant{.name = "ssru_norm",
                .autoregression = Autoregression::rnn,
                .also = [](ModelConfig& c) { c.rnn.norm = true; }},
        Variant{.name = "ssru_window", .window = 2, .autoregression = Autoregression::rnn},
        Variant{.name = "average_attention", .autoregression = Autoregression::average_attention},
        Variant{.name = "average_attention_ungated",
                .autoregression = Autoregression::average_attention,
                .average_gates = false},
        Variant{.name = "compressed_memory", .type = alone, .memory = AttentionMemory::local_compressed},
        Variant{.name = "compressed_memory_additive_shared",
                .score = additive,
                .projections = shared,
                .type = alone,
                .memory = AttentionMemory::local_compressed,
                .block = 2,
                .stride = 2},
        Variant{.name = "compressed_memory_wider_than_the_text",
                .positions = Positions::none,
                .projections = plain,
                .type = alone,
                .memory = AttentionMemory::local_compressed,
                .block = 50,
                .stride = 30},
        Variant{.name = "head_norm", .head_norm = HeadNorm::layer},
        Variant{.name = "head_rms_rotary", .positions = Positions::rotary, .head_norm = HeadNorm::rms},
        Variant{.name = "head_norm_shared", .projections = shared, .head_norm = HeadNorm::layer},
        Variant{.name = "head_norm_relative_plain",
                .positions = Positions::relative,
                .projections = plain,
                .type = alone,
                .head_norm = HeadNorm::rms},
        Variant{.name = "experts", .experts = 4},
        Variant{.name = "one_expert_a_row", .experts = 3, .experts_of_a_row = 1},
        Variant{.name = "decoder_only_experts", .type = alone, .experts = 3}, Variant{.name = "copies", .copies = true},
        Variant{.name = "copies_ssru", .autoregression = Autoregression::rnn, .copies = true},
        Variant{.name = "zero_start", .start = DecoderStart::zero},
        Variant{.name = "zero_start_ssru", .autoregression = Autoregression::rnn, .start = DecoderStart::zero},
        Variant{.name = "zero_start_decoder_only", .type = alone, .start = DecoderStart::zero},
        Variant{.name = "zero_start_s2s",
                .score = additive,
                .projections = plain,
                .type = s2s,
                .start = DecoderStart::zero},
        Variant{.name = "end_start", .positions = Positions::learned, .start = DecoderStart::eos},
        Variant{"decoder_only", Positions::sinusoidal, scaled_dot, full, 0, 0, alone},
        Variant{"decoder_only_learned", Positions::learned, dot, shared, 0, 0, alone},
        Variant{"decoder_only_relative", Positions::relative, scaled_dot, full, 3, 0, alone}),
    [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(Hierarchical, AttentionFamily,
                         testing::Values(Variant{.name = "s2s_hierarchical",
                                                 .type = s2s,
                                                 .rnn_attention = RnnAttention::none,
                                                 .pooling = EncoderPooling::hierarchical},
                                         Variant{.name = "s2s_hierarchical_attending",
                                                 .score = bilinear,
                                                 .projections = plain,
                                                 .type = s2s,
                                                 .rnn_attention = RnnAttention::luong,
                                                 .cell = Cell::lstm,
                                                 .encoder_type = EncoderType::unidirectional,
                                                 .pooling = EncoderPooling::hierarchical}),
                         [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Copying, AttentionFamily,
    testing::Values(Variant{.name = "s2s_copies", .score = additive, .projections = plain, .type = s2s, .copies = true},
                    Variant{.name = "s2s_luong_copies",
                            .score = dot,
                            .projections = plain,
                            .type = s2s,
                            .rnn_attention = RnnAttention::luong,
                            .encoder_type = EncoderType::unidirectional,
                            .pooling = EncoderPooling::last,
                            .copies = true}),
    [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(OneQueryEach, AttentionFamily,
                         testing::Values(Variant{.name = "s2s_predictive",
                                                 .score = additive,
                                                 .projections = plain,
                                                 .local = 1,
                                                 .type = s2s,
                                                 .center = LocalCenter::predictive},
                                         Variant{.name = "s2s_luong_predictive",
                                                 .score = scaled_dot,
                                                 .local = 2,
                                                 .type = s2s,
                                                 .rnn_attention = RnnAttention::luong,
                                                 .cell = Cell::lstm,
                                                 .center = LocalCenter::predictive},
                                         Variant{.name = "s2s_hard",
                                                 .score = additive,
                                                 .projections = plain,
                                                 .type = s2s,
                                                 .choice = AttentionKind::hard},
                                         Variant{.name = "s2s_luong_hard",
                                                 .score = bilinear,
                                                 .projections = plain,
                                                 .type = s2s,
                                                 .rnn_attention = RnnAttention::luong,
                                                 .cell = Cell::lstm,
                                                 .choice = AttentionKind::hard}),
                         [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Recurrent, AttentionFamily,
    testing::Values(
        Variant{.name = "s2s", .score = additive, .projections = plain, .type = s2s},
        Variant{.name = "s2s_luong",
                .score = bilinear,
                .projections = plain,
                .type = s2s,
                .rnn_attention = RnnAttention::luong,
                .cell = Cell::lstm},
        Variant{.name = "s2s_luong_dot",
                .score = dot,
                .projections = plain,
                .type = s2s,
                .rnn_attention = RnnAttention::luong,
                .encoder_type = EncoderType::unidirectional,
                .pooling = EncoderPooling::last},
        Variant{.name = "s2s_luong_local",
                .score = reduced_rank,
                .projections = plain,
                .local = 1,
                .type = s2s,
                .rnn_attention = RnnAttention::luong},
        Variant{.name = "s2s_heads_norm", .type = s2s, .rnn_norm = true},
        Variant{
            .name = "s2s_head_norm", .type = s2s, .rnn_attention = RnnAttention::luong, .head_norm = HeadNorm::layer},
        Variant{.name = "s2s_location",
                .score = location,
                .projections = shared,
                .type = s2s,
                .pooling = EncoderPooling::attention},
        Variant{.name = "s2s_bottleneck",
                .type = s2s,
                .rnn_attention = RnnAttention::none,
                .cell = Cell::lstm,
                .encoder_type = EncoderType::unidirectional,
                .pooling = EncoderPooling::last,
                .reverse_source = true},
        Variant{.name = "s2s_conv",
                .score = additive,
                .projections = plain,
                .type = s2s,
                .encoder_type = EncoderType::convolutional},
        Variant{.name = "s2s_last", .type = s2s, .rnn_attention = RnnAttention::none, .pooling = EncoderPooling::last},
        Variant{.name = "s2s_sum", .type = s2s, .rnn_attention = RnnAttention::none, .pooling = EncoderPooling::sum}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace dragoman
