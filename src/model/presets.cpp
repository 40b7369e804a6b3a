#include "model/presets.h"

#include "model/config_fields.h"

namespace dragoman {

void apply_task(ModelConfig& c, Task task) {
  if (task == Task::big || task == Task::big_prenorm)
    c.dim = 1024, c.feed_forward = 4096, c.heads = 16, c.dropout.sublayer = 0.3;
  if (task == Task::tiny) {
    c.encoder_layers = c.decoder_layers = 4;
    c.dim = 128, c.feed_forward = 256, c.heads = 4, c.dropout.sublayer = 0.3;
  }
  if (task == Task::tiny11) {  // Marian's: a deep encoder, which runs once, and a shallow decoder
    c.encoder_layers = 6, c.decoder_layers = 2;
    c.dim = 256, c.feed_forward = 1536, c.heads = 8;
    c.autoregression = Autoregression::rnn;
  }
  if (task == Task::base_marian) {  // what Marian computes
    c.decoder_start = DecoderStart::zero, c.position_spacing = PositionSpacing::tensor2tensor;
    c.norm_epsilon = 1e-6, c.embeddings.output_bias = true;
  }
  if (task == Task::base_prenorm || task == Task::big_prenorm) c.norm = NormPlacement::pre;
}

ModelConfig defaults_of(const ModelConfig& config) {
  ModelConfig d;
  d.type = config.type;
  if (config.type == ModelType::decoder_only) d.encoder_layers = 0;
  if (config.type != ModelType::s2s) return d;
  const RnnAttention attention = config.rnn.decoder.attention;
  d.encoder_layers = d.decoder_layers = d.heads = 1;
  d.attention.projections = Projections::none;
  d.attention.score = attention == RnnAttention::luong ? AttentionScore::bilinear : AttentionScore::additive;
  if (config.rnn.encoder.type != EncoderType::convolutional)
    d.positions = Positions::none;  // recurrences know the order
  d.rnn.encoder.pooling = attention == RnnAttention::none ? EncoderPooling::last : EncoderPooling::mean;
  return d;
}

void complete(ModelConfig& config, const std::function<bool(std::string_view option)>& given) {
  ModelConfig transformer, standard = defaults_of(config);
  for (const ConfigField& field : model_config_fields()) {
    const ConfigMember value = field.member(standard);
    if (to_text(value) == to_text(field.member(transformer))) continue;
    if (!has_field(config, field) || !given(field.option)) assign(field.member(config), value);
  }
}

}  // namespace dragoman
