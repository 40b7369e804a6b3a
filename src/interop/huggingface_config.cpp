#include "interop/huggingface_config.h"

#include "base/utf8.h"
#include "interop/huggingface_activations.h"
#include "interop/t5.h"

namespace dragoman {
namespace {

void require_equal(const JsonObject& c, const char* key, bool expected, const char* why) {
  if (c.get(key, expected) != expected)
    throw Error(fmt::format("{}: {} is {}, which dragoman does not support", c.path(), key, !expected), why);
}

/// What a class takes for keys that config.json lacks. An id of -1 is none: the class has no such default, or, for
/// MarianMT, one of a single model that others cannot have meant.
struct ClassDefaults {
  const char* activation;
  bool scales_embeddings;
  int start, bos, eos, pad;
};

ClassDefaults defaults_of(const JsonObject& c) {
  switch (huggingface_class(c)) {
    case HuggingFaceClass::marian:
      return {"gelu", false, -1, -1, 0, -1};
    case HuggingFaceClass::m2m100:
      return {"relu", true, 2, 0, 2, 1};
    case HuggingFaceClass::mbart:
      return {"gelu", false, -1, 0, 2, 1};
    case HuggingFaceClass::t5:
      break;
  }
  return {"", false, is_mt5(c) ? 0 : -1, -1, 1, 0};
}

Activation activation_of(const JsonObject& c, const ClassDefaults& defaults) {
  const std::string name = c.get("activation_function", std::string(defaults.activation));
  std::string all;
  for (const auto& [known, activation] : huggingface_activations) {
    if (name == known) return activation;
    all += fmt::format("{}{}", all.empty() ? "" : ", ", known);
  }
  throw Error(fmt::format("{}: activation_function is {}, which dragoman does not support", c.path(), name),
              "these are supported: " + all);
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

void set_embeddings(ModelConfig& m, const JsonObject& c, const ClassDefaults& defaults) {
  m.embeddings.scale = c.get("scale_embedding", defaults.scales_embeddings) ? 0 : 1;
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
  const int pad = c.get("pad_token_id", defaults_of(c).pad);
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

int eos_of(const JsonObject& c, const ClassDefaults& defaults) {
  if (c.has("eos_token_id") && c.root()["eos_token_id"].is_array())
    throw Error(
        fmt::format("{}: eos_token_id is {}, expected one id", c.path(), beginning_of(c.root()["eos_token_id"].dump())),
        "keep the one that ends translations");
  return c.get("eos_token_id", defaults.eos);
}

// As generate() finds it: it begins with <s> if nothing says what to begin with.
int start_of(const JsonObject& c, const JsonObject& generation, const ClassDefaults& defaults) {
  for (const char* key : {"decoder_start_token_id", "bos_token_id"}) {
    const int otherwise = key == std::string("bos_token_id") ? defaults.bos : defaults.start,
              id = generation.get(key, c.get(key, otherwise));
    if (id >= 0) return id;
  }
  throw Error(fmt::format("{} has no decoder_start_token_id, nor has generation_config.json", c.path()),
              "add it: the id of the piece that the decoder begins with, often that of <pad> or </s>");
}

void set_special_ids(ModelConfig& m, const JsonObject& c, const JsonObject& generation, HuggingFaceClass of) {
  const ClassDefaults defaults = defaults_of(c);
  const bool has_bos = defaults.bos >= 0;
  m.special = {.unk = 0,
               .bos = has_bos ? c.get("bos_token_id", defaults.bos) : -1,
               .eos = eos_of(c, defaults),
               .pad = c.get("pad_token_id", defaults.pad)};
  require(m.special.pad >= 0, "{} has no pad_token_id", c.path());
  const int start = start_of(c, generation, defaults);
  if (start == m.special.pad || start == m.special.eos) {
    m.decoder_start = start == m.special.pad ? DecoderStart::pad : DecoderStart::eos;
    return;
  }
  if (!has_bos) m.special.bos = of == HuggingFaceClass::t5 ? start : c.get("bos_token_id", -1);  // MADLAD-400: <unk>
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

ModelConfig huggingface_model_config(const JsonObject& config, const JsonObject& generation) {
  ModelConfig m;
  const HuggingFaceClass of = huggingface_class(config);
  const ClassDefaults defaults = defaults_of(config);
  if (of != HuggingFaceClass::t5) {
    set_sizes(m, config);
    set_embeddings(m, config, defaults);
    m.activation = activation_of(config, defaults);
  }
  switch (of) {
    case HuggingFaceClass::marian:
      set_marian(m, config);
      break;
    case HuggingFaceClass::m2m100:
      set_m2m100(m, config);
      break;
    case HuggingFaceClass::mbart:
      set_mbart(m, config);
      break;
    case HuggingFaceClass::t5:
      set_t5(m, config);
      break;
  }
  set_special_ids(m, config, generation, of);
  return m;
}

}  // namespace dragoman
