#include "interop/huggingface_config.h"

#include "interop/t5.h"

namespace dragoman {
namespace {

void require_equal(const JsonObject& c, const char* key, bool expected, const char* why) {
  if (c.get(key, expected) != expected)
    throw Error(fmt::format("{}: {} is {}, which dragoman does not support", c.path(), key, !expected), why);
}

Activation activation_of(const JsonObject& c) {
  const std::string name = c.get("activation_function", std::string("gelu"));
  for (const auto& [known, activation] : {std::pair("swish", Activation::swish),
                                          {"silu", Activation::swish},
                                          {"relu", Activation::relu},
                                          {"gelu", Activation::gelu},
                                          {"gelu_new", Activation::gelu_tanh},
                                          {"gelu_fast", Activation::gelu_tanh},
                                          {"quick_gelu", Activation::gelu_sigmoid}})
    if (name == known) return activation;
  throw Error(fmt::format("{}: activation_function is {}, which dragoman does not support", c.path(), name),
              "swish, silu, relu, gelu, gelu_new and quick_gelu are supported");
}

// 0 would mean "as in the encoder" in a ModelConfig.
int at_least_1(const JsonObject& c, const char* key) {
  const int number = c.number(key);
  require(number >= 1, "{}: {} is {}, expected at least 1", c.path(), key, number);
  return number;
}

void set_sizes(ModelConfig& m, const JsonObject& c) {
  m.dim = c.number("d_model");
  m.encoder_layers = c.number("encoder_layers");
  m.decoder_layers = c.number("decoder_layers");
  m.heads = at_least_1(c, "encoder_attention_heads");
  m.feed_forward = c.number("encoder_ffn_dim");
  if (const int heads = at_least_1(c, "decoder_attention_heads"); heads != m.heads) m.decoder_heads = heads;
  if (const int inner = at_least_1(c, "decoder_ffn_dim"); inner != m.feed_forward) m.decoder_feed_forward = inner;
  m.source_vocabulary = c.number("vocab_size");
  m.target_vocabulary = c.get("decoder_vocab_size", m.source_vocabulary);
}

void set_embeddings(ModelConfig& m, const JsonObject& c) {
  m.embeddings.scale = c.get("scale_embedding", false) ? 0 : 1;
  const bool shared = c.get("share_encoder_decoder_embeddings", true), tied = c.get("tie_word_embeddings", true);
  m.embeddings.tied_all = shared && tied;
  m.embeddings.tied_source = shared && !tied;
  m.embeddings.tied_output = tied && !shared;
}

void set_marian(ModelConfig& m, const JsonObject& c) {
  require_equal(c, "normalize_before", false, "MarianMT models are post-norm");
  require_equal(c, "normalize_embedding", false, "MarianMT models have no norm after the embeddings");
  require_equal(c, "add_final_layer_norm", false, "MarianMT models have no final norm");
  require_equal(c, "static_position_embeddings", true, "MarianMT models have sinusoidal positions");
  m.embeddings.output_bias = true;
}

// As in fairseq, positions are counted from the id of <pad>.
void set_m2m100(ModelConfig& m, const JsonObject& c) {
  m.norm = NormPlacement::pre;
  m.position_spacing = PositionSpacing::tensor2tensor;
  const int pad = c.get("pad_token_id", 1);
  require(pad < m.source_vocabulary, "{}: pad_token_id is {}, expected less than vocab_size, {}", c.path(), pad,
          m.source_vocabulary);
  m.first_position = pad + 1;
}

void set_mbart(ModelConfig& m, const JsonObject& c) {
  m.norm = NormPlacement::pre;
  m.embedding_norm = true;
  m.positions = Positions::learned;
  m.max_positions = c.number("max_position_embeddings");
  m.embeddings.output_bias = true;
}

void set_special_ids(ModelConfig& m, const JsonObject& c, int bos) {
  m.special = {.unk = 0, .bos = bos, .eos = c.number("eos_token_id"), .pad = c.number("pad_token_id")};
  const int start = c.get("decoder_start_token_id", m.special.pad);
  if (start == m.special.pad || start == m.special.eos) {
    m.decoder_start = start == m.special.pad ? DecoderStart::pad : DecoderStart::eos;
    return;
  }
  if (bos < 0) m.special.bos = c.get("bos_token_id", -1);
  m.decoder_start = DecoderStart::bos;
  require(start == m.special.bos, "{}: decoder_start_token_id is {}, expected that of pad, {}, or of eos, {}", c.path(),
          start, m.special.pad, m.special.eos);
}

}  // namespace

HuggingFaceClass huggingface_class(const JsonObject& config) {
  const auto type = config.get("model_type", std::string());
  for (const auto& [known, of] : {std::pair("marian", HuggingFaceClass::marian),
                                  {"m2m_100", HuggingFaceClass::m2m100},
                                  {"mbart", HuggingFaceClass::mbart},
                                  {"t5", HuggingFaceClass::t5},
                                  {"mt5", HuggingFaceClass::t5}})
    if (type == known) return of;
  throw Error(fmt::format("{}: model_type is {}, expected marian, m2m_100, mbart, t5 or mt5", config.path(), type),
              "dragoman reads only the transformers classes of MarianMT, M2M100 (with NLLB-200), mBART-50 and T5 (with "
              "mT5 and MADLAD-400)");
}

ModelConfig huggingface_model_config(const JsonObject& config) {
  ModelConfig m;
  const HuggingFaceClass of = huggingface_class(config);
  if (of != HuggingFaceClass::t5) {
    set_sizes(m, config);
    set_embeddings(m, config);
    m.activation = activation_of(config);
  }
  int bos = -1;
  switch (of) {
    case HuggingFaceClass::marian:
      set_marian(m, config);
      break;
    case HuggingFaceClass::m2m100:
      set_m2m100(m, config);
      bos = config.get("bos_token_id", 0);
      break;
    case HuggingFaceClass::mbart:
      set_mbart(m, config);
      bos = config.get("bos_token_id", 0);
      break;
    case HuggingFaceClass::t5:
      set_t5(m, config);
      bos = t5_first_piece(config);
      break;
  }
  set_special_ids(m, config, bos);
  return m;
}

}  // namespace dragoman
