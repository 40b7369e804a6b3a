#include "model/config_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace dragoman {
namespace {

ConfigMember member(bool& value) { return &value; }
ConfigMember member(int& value) { return &value; }
ConfigMember member(double& value) { return &value; }
ConfigMember member(std::vector<int>& value) { return &value; }
template <class E>
ConfigMember member(E& value) {
  return EnumMember{&value, [](const void* at) { return name_of(*static_cast<const E*>(at)); },
                    [](void* at, std::string_view name) {
                      const auto found = from_name<E>(name);
                      if (found) *static_cast<E*>(at) = *found;
                      return found.has_value();
                    },
                    [] { return all_names<E>(); }};
}

constexpr std::string_view model = "Model";
constexpr std::string_view transformer = "Transformer";
constexpr std::string_view positions = "Positions";
constexpr std::string_view attention = "Attention";
constexpr std::string_view decoder = "Decoder";
constexpr std::string_view recurrent = "Recurrent models (--type s2s)";
constexpr std::string_view experts = "Mixture of experts";
constexpr std::string_view regularisation = "Regularisation";

using C = ModelConfig;

constexpr ConfigField fields[] = {
    {.key = "type",
     .member = [](C& c) { return member(c.type); },
     .option = "type",
     .value = "NAME",
     .group = model,
     .help = "kind of model: transformer; decoder-only, one stack that reads source and target as one sequence; or "
             "s2s, recurrent, with or without attention"},
    {.key = "dim",
     .member = [](C& c) { return member(c.dim); },
     .option = "dim-emb",
     .value = "N",
     .group = model,
     .help = "size of embeddings and of every layer's output",
     .bounds = {2, 65536}},
    {.key = "encoder_layers",
     .member = [](C& c) { return member(c.encoder_layers); },
     .option = "enc-depth",
     .value = "N",
     .group = model,
     .help = "encoder layers; 0 for models without an encoder",
     .bounds = {0, 1000},
     .models = types::with_encoder},
    {.key = "decoder_layers",
     .member = [](C& c) { return member(c.decoder_layers); },
     .option = "dec-depth",
     .value = "N",
     .group = model,
     .help = "decoder layers",
     .bounds = {1, 1000}},
    {.key = "heads",
     .member = [](C& c) { return member(c.heads); },
     .option = "transformer-heads",
     .value = "N",
     .group = transformer,
     .help = "attention heads of every layer",
     .bounds = {1, 1024},
     .of_attention = true},
    {.key = "key_size",
     .member = [](C& c) { return member(c.key_size); },
     .option = "transformer-dim-key",
     .value = "N",
     .group = transformer,
     .help = "size of a head's queries and keys; 0: --dim-emb / heads",
     .bounds = {0, 65536}},
    {.key = "value_size",
     .member = [](C& c) { return member(c.value_size); },
     .option = "transformer-dim-value",
     .value = "N",
     .group = transformer,
     .help = "size of a head's values; 0: the size of its keys",
     .bounds = {0, 65536}},
    {.key = "feed_forward",
     .member = [](C& c) { return member(c.feed_forward); },
     .option = "transformer-dim-ffn",
     .value = "N",
     .group = transformer,
     .help = "inner size of feed-forward layers",
     .bounds = {1, 1'000'000},
     .models = types::transformers},
    {.key = "activation",
     .member = [](C& c) { return member(c.activation); },
     .option = "transformer-ffn-activation",
     .value = "NAME",
     .group = transformer,
     .help = "activation function of feed-forward layers",
     .models = types::transformers},
    {.key = "moe_experts",
     .member = [](C& c) { return member(c.experts.count); },
     .option = "moe-experts",
     .value = "N",
     .group = experts,
     .help = "feed-forward networks of which a router sends each token to --moe-top-k: many parameters at the cost of "
             "a few; 0: one network for all tokens",
     .bounds = {0, 4096},
     .models = types::transformers},
    {.key = "moe_top_k",
     .member = [](C& c) { return member(c.experts.top_k); },
     .option = "moe-top-k",
     .value = "N",
     .group = experts,
     .help = "experts that each token is sent to",
     .bounds = {1, 4096},
     .models = types::transformers,
     .needs = {"moe-experts", ""}},
    {.key = "moe_frequency",
     .member = [](C& c) { return member(c.experts.frequency); },
     .option = "moe-frequency",
     .value = "N",
     .group = experts,
     .help = "the last of every N layers has experts, in encoder and decoder; 1: all layers",
     .bounds = {1, 1000},
     .models = types::transformers,
     .needs = {"moe-experts", ""}},
    {.key = "moe_load_loss",
     .member = [](C& c) { return member(c.experts.load_loss); },
     .option = "moe-load-loss",
     .value = "W",
     .group = experts,
     .help =
         "weight of the load-balancing loss (Fedus et al. 2021); not included in the reported cost or in validation",
     .bounds = {0, 100},
     .models = types::transformers,
     .needs = {"moe-experts", ""},
     .training_only = true},
    {.key = "moe_capacity",
     .member = [](C& c) { return member(c.experts.capacity); },
     .option = "moe-capacity",
     .value = "F",
     .group = experts,
     .help = "capacity factor: in training an expert takes at most F times an even share of the tokens, and the others "
             "skip it; 0: no limit, as in translating and scoring",
     .bounds = {0, 1000},
     .models = types::transformers,
     .needs = {"moe-experts", ""},
     .training_only = true},
    {.key = "norm", .member = [](C& c) { return member(c.norm); }, .models = types::transformers},
    {.key = "norm_kind",
     .member = [](C& c) { return member(c.norm_kind); },
     .option = "transformer-norm",
     .value = "NAME",
     .group = transformer,
     .help = "kind of normalisation: layer, to mean 0 and variance 1; rms, to a mean square of 1 without subtracting "
             "or adding anything (Zhang & Sennrich 2019); batch, to mean 0 and variance 1 of each dimension over the "
             "tokens of a batch (Ioffe & Szegedy 2015), for comparison: see docs/attention.md",
     .models = types::transformers},
    {.key = "positions",
     .member = [](C& c) { return member(c.positions); },
     .option = "transformer-positions",
     .value = "KIND",
     .group = positions,
     .help = "how a model represents word order: sinusoidal, sines followed by cosines as in Marian and tensor2tensor, "
             "with the wavelengths of the paper; interleaved, sines and cosines alternating as in the paper; learned "
             "embeddings; in self-attention: relative, learned vectors of distances; rotary, rotated queries and keys; "
             "alibi, scores that fall with distance; or none",
     .models = types::transformers},
    {.key = "max_positions",
     .member = [](C& c) { return member(c.max_positions); },
     .option = "transformer-max-positions",
     .value = "N",
     .group = positions,
     .help = "learned position embeddings and location scores: longest sentence, in tokens",
     .bounds = {1, 1'000'000}},
    {.key = "relative_positions",
     .member = [](C& c) { return member(c.relative_positions); },
     .option = "transformer-relative-positions",
     .value = "N",
     .group = positions,
     .help = "relative positions: distances on each side that have a vector of their own; larger distances share the "
             "last one",
     .bounds = {1, 10'000},
     .needs = {"transformer-positions", "relative"}},
    {.key = "attention_score",
     .member = [](C& c) { return member(c.attention.score); },
     .option = "attention-score",
     .value = "NAME",
     .group = attention,
     .help = "score function of a query and a key: see docs/attention.md. bilinear and reduced-rank need "
             "--attention-projections none",
     .of_attention = true},
    {.key = "attention_projections",
     .member = [](C& c) { return member(c.attention.projections); },
     .option = "attention-projections",
     .value = "NAME",
     .group = attention,
     .help = "roles that have a projection of their own: query, key and value; query, and one for key and value "
             "together; or none",
     .of_attention = true},
    {.key = "attention_norm",
     .member = [](C& c) { return member(c.attention.norm); },
     .option = "attention-norm",
     .value = "NAME",
     .group = attention,
     .help =
         "normalisation of queries and keys in each head (query-key normalisation), for scores that are dot products",
     .of_attention = true},
    {.key = "attention_rank",
     .member = [](C& c) { return member(c.attention.rank); },
     .option = "attention-rank",
     .value = "N",
     .group = attention,
     .help = "reduced-rank: size of a head's queries and keys",
     .bounds = {1, 65536},
     .needs = {"attention-score", "reduced-rank"}},
    {.key = "attention_window",
     .member = [](C& c) { return member(c.attention.window); },
     .option = "attention-window",
     .value = "N",
     .group = attention,
     .help = "self-attention sees N tokens on each side; 0: all",
     .bounds = {0, 1'000'000},
     .models = types::transformers},
    {.key = "attention_local",
     .member = [](C& c) { return member(c.attention.local); },
     .option = "attention-local",
     .value = "N",
     .group = attention,
     .help = "a target token sees N source tokens on each side of its own position (local-m of Luong et al.); 0: all",
     .bounds = {0, 1'000'000},
     .models = types::with_encoder,
     .of_attention = true},
    {.key = "attention_memory",
     .member = [](C& c) { return member(c.attention.memory); },
     .option = "attention-memory",
     .value = "NAME",
     .group = attention,
     .help = "decoder-only, for long texts: full, or local-compressed, which alternates layers whose tokens see their "
             "own block of the text and layers that see all of the text with several keys compressed into one (Liu et "
             "al. 2018)"},
    {.key = "attention_block",
     .member = [](C& c) { return member(c.attention.block); },
     .option = "attention-block",
     .value = "N",
     .group = attention,
     .help = "local-compressed: tokens of a block",
     .bounds = {1, 1'000'000},
     .needs = {"attention-memory", "local-compressed"}},
    {.key = "attention_stride",
     .member = [](C& c) { return member(c.attention.stride); },
     .option = "attention-stride",
     .value = "N",
     .group = attention,
     .help = "local-compressed: keys, and values, that a convolution compresses into one",
     .bounds = {2, 1000},
     .needs = {"attention-memory", "local-compressed"}},
    {.key = "attention_local_center",
     .member = [](C& c) { return member(c.attention.local_center); },
     .option = "attention-local-center",
     .value = "NAME",
     .group = attention,
     .help = "--type s2s: centre of the window of --attention-local: the position of the target token, or one that is "
             "predicted from the decoder's state, with a Gaussian around it (local-p of Luong et al.)",
     .models = types::s2s,
     .of_attention = true},
    {.key = "attention_choice",
     .member = [](C& c) { return member(c.attention.choice); },
     .option = "attention-choice",
     .value = "NAME",
     .group = attention,
     .help = "--type s2s: soft, the mean of the values by the attention weights; or hard, one source token, sampled by "
             "the weights in training and the most likely one in translation (Xu et al. 2015)",
     .models = types::s2s,
     .of_attention = true},
    {.key = "attention_reward",
     .member = [](C& c) { return member(c.attention.reward); },
     .option = "attention-reward",
     .value = "X",
     .group = attention,
     .help = "--attention-choice hard: weight of the REINFORCE reward",
     .bounds = {0, 1000},
     .models = types::s2s,
     .needs = {"attention-choice", "hard"},
     .training_only = true},
    {.key = "attention_entropy",
     .member = [](C& c) { return member(c.attention.entropy); },
     .option = "attention-entropy",
     .value = "X",
     .group = attention,
     .help =
         "--attention-choice hard: weight of the entropy of the attention weights, which keeps sampling exploratory",
     .bounds = {0, 1000},
     .models = types::s2s,
     .needs = {"attention-choice", "hard"},
     .training_only = true},
    {.key = "autoregression",
     .member = [](C& c) { return member(c.autoregression); },
     .option = "transformer-decoder-autoreg",
     .value = "NAME",
     .group = decoder,
     .help = "how the decoder uses its own output so far: by self-attention; by the average of all of it, gated "
             "(average attention); or by a recurrent unit, the fastest in translation: see docs/attention.md",
     .models = types::transformers},
    {.key = "average_feed_forward",
     .member = [](C& c) { return member(c.average.feed_forward); },
     .option = "transformer-dim-aan",
     .value = "N",
     .group = decoder,
     .help = "average attention: inner size of its feed-forward layer",
     .bounds = {1, 1'000'000},
     .needs = {"transformer-decoder-autoreg", "average-attention"}},
    {.key = "average_activation",
     .member = [](C& c) { return member(c.average.activation); },
     .option = "transformer-aan-activation",
     .value = "NAME",
     .group = decoder,
     .help = "average attention: activation function of that layer",
     .needs = {"transformer-decoder-autoreg", "average-attention"}},
    {.key = "average_gates", .member = [](C& c) { return member(c.average.gates); }},
    {.key = "rnn_dim",
     .member = [](C& c) { return member(c.rnn.dim); },
     .option = "dim-rnn",
     .value = "N",
     .group = recurrent,
     .help = "size of states; a bidirectional encoder has half of it in each direction (Marian: all of it in each)",
     .bounds = {2, 65536},
     .models = types::s2s},
    {.key = "encoder_cell",
     .member = [](C& c) { return member(c.rnn.encoder.cell); },
     .option = "enc-cell",
     .value = "NAME",
     .group = recurrent,
     .help = "recurrent unit of the encoder",
     .models = types::s2s},
    {.key = "decoder_cell", .member = [](C& c) { return member(c.rnn.decoder.cell); }, .models = types::s2s},
    {.key = "encoder_type",
     .member = [](C& c) { return member(c.rnn.encoder.type); },
     .option = "enc-type",
     .value = "NAME",
     .group = recurrent,
     .help =
         "encoder layers: recurrent, reading in both directions or in one, or gated convolutions (Gehring et al. 2017)",
     .models = types::s2s},
    {.key = "encoder_kernel",
     .member = [](C& c) { return member(c.rnn.encoder.kernel); },
     .option = "enc-conv-width",
     .value = "N",
     .group = recurrent,
     .help = "--enc-type conv: tokens that a layer sees together",
     .bounds = {1, 1000},
     .models = types::s2s,
     .needs = {"enc-type", "conv"}},
    {.key = "rnn_attention",
     .member = [](C& c) { return member(c.rnn.decoder.attention); },
     .option = "rnn-attention",
     .value = "NAME",
     .group = recurrent,
     .help = "when the decoder attends: before each step, with its previous state (Bahdanau et al. 2015); after the "
             "step, with its new state, fed to the next step (Luong et al. 2015); or never",
     .models = types::s2s},
    {.key = "encoder_pooling",
     .member = [](C& c) { return member(c.rnn.encoder.pooling); },
     .option = "encoder-pooling",
     .value = "NAME",
     .group = recurrent,
     .help = "initial state of the decoder, from the states of the encoder: the last of each direction; their sum; "
             "their mean (default, but last with --rnn-attention none); their average by attention to a learned query; "
             "or hierarchical, for lines of many sentences: by attention over the words of each sentence and then over "
             "sentences (Yang et al. 2016)",
     .models = types::s2s},
    {.key = "sentence_ends", .member = [](C& c) { return member(c.rnn.encoder.sentence_ends); }, .models = types::s2s},
    {.key = "reverse_source",
     .member = [](C& c) { return member(c.rnn.encoder.reverse); },
     .option = "reverse-source",
     .group = recurrent,
     .help = "read the source from the last token to the first (Sutskever et al. 2014), with --enc-type unidirectional",
     .models = types::s2s},
    {.key = "rnn_norm",
     .member = [](C& c) { return member(c.rnn.norm); },
     .option = "layer-normalization",
     .group = recurrent,
     .help = "layer normalisation of the products of each cell",
     .models = types::s2s},
    {.key = "dropout_rnn",
     .member = [](C& c) { return member(c.dropout.rnn); },
     .option = "dropout-rnn",
     .value = "P",
     .group = recurrent,
     .help = "dropout of embeddings, between layers, and of the input of the output layer",
     .bounds = {0, 0.99},
     .models = types::s2s,
     .training_only = true},
    {.key = "copies",
     .member = [](C& c) { return member(c.copies); },
     .option = "copy",
     .group = model,
     .help = "let the decoder copy source tokens as well as generate (a pointer-generator, See et al. 2017): for "
             "names, numbers and code; needs a joint vocabulary",
     .models = types::with_encoder},
    {.key = "learns_source",
     .member = [](C& c) { return member(c.learns_source); },
     .option = "learn-source",
     .group = model,
     .help = "decoder-only: train on the source tokens too, as a language model of both sides",
     .models = types::decoder_only,
     .training_only = true},
    {.key = "tied_embeddings_all",
     .member = [](C& c) { return member(c.embeddings.tied_all); },
     .option = "tied-embeddings-all",
     .group = model,
     .help = "one matrix for source embedding, target embedding and output layer; false unless the vocabulary is "
             "joint, or if one of the next two is given"},
    {.key = "tied_embeddings",
     .member = [](C& c) { return member(c.embeddings.tied_output); },
     .option = "tied-embeddings",
     .group = model,
     .help = "one matrix for target embedding and output layer"},
    {.key = "tied_embeddings_src",
     .member = [](C& c) { return member(c.embeddings.tied_source); },
     .option = "tied-embeddings-src",
     .group = model,
     .help = "one matrix for source and target embedding",
     .models = types::with_encoder},
    {.key = "initialisation", .member = [](C& c) { return member(c.initialisation); }},
    {.key = "dropout",
     .member = [](C& c) { return member(c.dropout.sublayer); },
     .option = "transformer-dropout",
     .value = "P",
     .group = regularisation,
     .help = "dropout of each sublayer's output, and of embeddings",
     .bounds = {0, 0.99},
     .models = types::transformers,
     .training_only = true},
    {.key = "dropout_attention",
     .member = [](C& c) { return member(c.dropout.attention); },
     .option = "transformer-dropout-attention",
     .value = "P",
     .group = regularisation,
     .help = "dropout of attention weights",
     .bounds = {0, 0.99},
     .training_only = true},
    {.key = "dropout_activation",
     .member = [](C& c) { return member(c.dropout.activation); },
     .option = "transformer-dropout-ffn",
     .value = "P",
     .group = regularisation,
     .help = "dropout inside feed-forward layers",
     .bounds = {0, 0.99},
     .models = types::transformers,
     .training_only = true},
    {.key = "dropout_embedding",
     .member = [](C& c) { return member(c.dropout.embedding); },
     .option = "transformer-dropout-embedding",
     .value = "P",
     .group = regularisation,
     .help = "dropout of embeddings if it is to differ; -1: as --transformer-dropout",
     .bounds = {-1, 0.99},
     .training_only = true},
    {.key = "source_vocabulary", .member = [](C& c) { return member(c.source_vocabulary); }},
    {.key = "target_vocabulary", .member = [](C& c) { return member(c.target_vocabulary); }},
};

// The value of a field of a configuration that is only read.
std::string text_of(const ModelConfig& config, const ConfigField& field) {
  return to_text(field.member(const_cast<ModelConfig&>(config)));  // NOLINT: nothing is written
}

}  // namespace

std::string to_text(const ConfigMember& member) {
  struct Visitor {
    std::string operator()(const bool* v) const { return *v ? "true" : "false"; }
    std::string operator()(const int* v) const { return fmt::to_string(*v); }
    std::string operator()(const double* v) const { return fmt::format("{}", *v); }
    std::string operator()(const std::vector<int>* v) const { return fmt::format("{}", fmt::join(*v, ", ")); }
    std::string operator()(const EnumMember& v) const { return std::string(v.name(v.value)); }
  };
  return std::visit(Visitor{}, member);
}

void assign(const ConfigMember& to, const ConfigMember& from) {
  invariant(to.index() == from.index(), "values of one field");
  const auto copy = [&]<class T>(T* value) { *value = *std::get<T*>(from); };
  const auto copy_enum = [&](const EnumMember& e) { e.set(e.value, to_text(from)); };
  std::visit(
      [&]<class T>(const T& member) {
        if constexpr (std::is_same_v<T, EnumMember>)
          copy_enum(member);
        else
          copy(member);
      },
      to);
}

unsigned set_of(ModelType type) {
  switch (type) {
    case ModelType::transformer:
      return types::transformer;
    case ModelType::decoder_only:
      return types::decoder_only;
    case ModelType::s2s:
      return types::s2s;
  }
  return 0;
}

ModelType first_of(unsigned models) {
  for (const ModelType type : {ModelType::transformer, ModelType::decoder_only, ModelType::s2s})
    if (models & set_of(type)) return type;
  return ModelType::transformer;
}

std::span<const ConfigField> model_config_fields() { return fields; }

const ConfigField& field_of_option(std::string_view option) {
  const auto found = std::ranges::find(fields, option, &ConfigField::option);
  invariant(found != std::end(fields), "an option of no field");
  return *found;
}

bool attends(const ModelConfig& config) {
  return config.type != ModelType::s2s || config.rnn.decoder.attention != RnnAttention::none;
}

bool has_field(const ModelConfig& config, const ConfigField& field) {
  if ((field.models & set_of(config.type)) == 0 || (field.of_attention && !attends(config))) return false;
  if (field.needs.option.empty()) return true;
  const std::string found = text_of(config, field_of_option(field.needs.option));
  return field.needs.value.empty() ? found != "0" : found == field.needs.value;
}

}  // namespace dragoman
