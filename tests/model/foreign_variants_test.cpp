#include "tests/model/attention_family.h"

namespace dragoman {
namespace {

// What models of other programs are made of (src/interop).
void with_output_bias(ModelConfig& c) { c.embeddings.output_bias = true; }
void with_untied_output_bias(ModelConfig& c) { c.embeddings.output_bias = true, c.embeddings.tied_all = false; }
void with_final_norm(ModelConfig& c) { c.final_norm = FinalNorm::always; }
void without_final_norm(ModelConfig& c) { c.norm = NormPlacement::pre, c.final_norm = FinalNorm::never; }
void with_tied_decoder_layers(ModelConfig& c) { c.decoder_layers = 4, c.tied_decoder_layers = {1, 1, 3, 1}; }
void with_values_of_distances(ModelConfig& c) { c.relative_values = true; }
void without_result_projection(ModelConfig& c) { c.attention.projects_result = false; }

void like_marian(ModelConfig& c) {
  c.position_spacing = PositionSpacing::tensor2tensor, c.norm_epsilon = 1e-6;
  c.decoder_feed_forward = 5, c.decoder_heads = 4, c.embeddings.output_bias = true;
  c.activation = Activation::gelu_sigmoid;
}
void like_mbart(ModelConfig& c) {
  c.norm = NormPlacement::pre, c.embedding_norm = true, c.embeddings.scale = 1;
  c.activation = Activation::gelu_tanh;
}
void like_m2m100(ModelConfig& c) {
  c.position_spacing = PositionSpacing::tensor2tensor, c.first_position = 2;
  c.norm = NormPlacement::pre, c.final_norm = FinalNorm::always;
}

INSTANTIATE_TEST_SUITE_P(
    Foreign, AttentionFamily,
    testing::Values(
        Variant{.name = "output_bias", .also = with_output_bias},
        Variant{.name = "output_bias_decoder_only", .type = ModelType::decoder_only, .also = with_untied_output_bias},
        Variant{.name = "output_bias_s2s",
                .score = AttentionScore::additive,
                .projections = Projections::none,
                .type = ModelType::s2s,
                .also = with_output_bias},
        Variant{.name = "output_bias_copies", .copies = true, .also = with_output_bias},
        Variant{.name = "like_marian",
                .autoregression = Autoregression::rnn,
                .start = DecoderStart::zero,
                .also = like_marian},
        Variant{.name = "like_mbart", .positions = Positions::learned, .start = DecoderStart::eos, .also = like_mbart},
        Variant{.name = "like_m2m100", .also = like_m2m100}, Variant{.name = "final_norm", .also = with_final_norm},
        Variant{.name = "no_final_norm", .also = without_final_norm},
        Variant{.name = "values_of_distances", .positions = Positions::relative, .also = with_values_of_distances},
        Variant{.name = "values_of_distances_decoder_only",
                .positions = Positions::relative,
                .type = ModelType::decoder_only,
                .also = with_values_of_distances},
        Variant{.name = "tied_decoder_layers", .also = with_tied_decoder_layers},
        Variant{.name = "no_result_projection", .also = without_result_projection}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace dragoman
