#include "model/rnn_parts.h"

#include "base/error.h"

namespace dragoman {
namespace {

std::shared_ptr<const Encoder> make_recurrent_encoder(Parameters& p, const ModelConfig& config,
                                                      std::vector<std::string> layers, int64_t inputs) {
  const RnnEncoderConfig& e = config.rnn.encoder;
  const RecurrentEncoderDesign design{.layers = std::move(layers),
                                      .cell = e.cell,
                                      .inputs = inputs,
                                      .dim = config.rnn.dim,
                                      .norm = config.rnn.norm,
                                      .dropout = config.dropout.rnn,
                                      .reverse = e.reverse};
  return e.type == EncoderType::bidirectional ? make_bidirectional_encoder(p, design)
                                              : make_unidirectional_encoder(p, design);
}

AttentionDesign attention_design(const ModelConfig& config) {
  const AttentionConfig& a = config.attention;
  return {.sizes = {config.heads, config.head_keys(), config.head_values()},
          .score = a.score,
          .projections = a.projections,
          .norm = a.norm,
          .window = a.local > 0 ? a.local : -1,
          .center = a.local_center,
          .choice = a.choice,
          .reward = a.reward,
          .entropy = a.entropy,
          .locations = config.max_positions,
          .projects_result = false,
          .dropout = config.dropout.attention};
}

}  // namespace

std::shared_ptr<const Encoder> make_encoder(Parameters& p, const ModelConfig& config) {
  const RnnEncoderConfig& e = config.rnn.encoder;
  if (e.type == EncoderType::convolutional)
    return make_convolutional_encoder(
        p, {config.encoder_layers, config.dim, config.rnn.dim, e.kernel, config.dropout.rnn});
  std::vector<std::string> layers;
  for (int l = 0; l < config.encoder_layers; ++l) layers.push_back(fmt::format("encoder.{}", l));
  return make_recurrent_encoder(p, config, std::move(layers), config.dim);
}

std::shared_ptr<const Pooling> make_pooling(Parameters& p, const ModelConfig& config) {
  switch (config.rnn.encoder.pooling) {
    case EncoderPooling::last:
      return make_last_pooling();
    case EncoderPooling::sum:
      return make_sum_pooling();
    case EncoderPooling::mean:
      return make_mean_pooling();
    case EncoderPooling::attention:
      return make_attention_pooling(p, config.rnn.dim);
    case EncoderPooling::hierarchical:
      require(config.rnn.encoder.type != EncoderType::convolutional,
              "hierarchical pooling reads sentences by recurrent layers");
      return make_hierarchical_pooling(p, config.rnn.dim, config.dropout.rnn, [&] {
        return make_recurrent_encoder(p, config, {"encoder.sentences"}, config.rnn.dim);
      });
  }
  fail("unknown kind of encoder pooling {}", name_of(config.rnn.encoder.pooling));
}

std::unique_ptr<const RecurrentDecoder> make_decoder(Parameters& p, const ModelConfig& config) {
  const RecurrentDecoder::Design design{.layers = config.decoder_layers,
                                        .inputs = config.dim,
                                        .dim = config.rnn.dim,
                                        .cell = config.rnn.decoder.cell,
                                        .norm = config.rnn.norm,
                                        .dropout = config.dropout.rnn,
                                        .attention = attention_design(config)};
  switch (config.rnn.decoder.attention) {
    case RnnAttention::bahdanau:
      return make_bahdanau_decoder(p, design);
    case RnnAttention::luong:
      return make_luong_decoder(p, design);
    case RnnAttention::none:
      return make_decoder_without_attention(p, design);
  }
  fail("unknown attention of a recurrent decoder {}", name_of(config.rnn.decoder.attention));
}

}  // namespace dragoman
