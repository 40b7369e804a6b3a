#include "model/validate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/grouped.h"
#include "model/config_fields.h"
#include "model/frame.h"
#include "model/presets.h"
#include "nn/scores/score_kind.h"

namespace dragoman {
namespace {

void check_dropout(const ModelConfig& c) {
  require(c.dropout.embedding == -1 || c.dropout.embedding >= 0,
          "--transformer-dropout-embedding {} is no probability, expected from 0 to 0.99, or -1", c.dropout.embedding);
}

void check_bounds(const ModelConfig& config) {
  ModelConfig c = config;
  for (const ConfigField& field : model_config_fields()) {
    const ConfigMember member = field.member(c);
    const auto* whole = std::get_if<int*>(&member);
    const auto* real = std::get_if<double*>(&member);
    if (!whole && !real) continue;
    require(field.bounds.contain(whole ? double(**whole) : **real), "{}{}: {} is out of range, expected {}",
            field.option.empty() ? "" : "--", field.option.empty() ? field.key : field.option, to_text(member),
            to_text(field.bounds));
  }
}

void check_sizes(const ModelConfig& c) {
  const bool recurrent = c.type == ModelType::s2s;
  require(!c.has_encoder() || c.encoder_layers > 0,
          "--enc-depth 0 leaves --type {} without an encoder, expected at least 1", name_of(c.type));
  if (c.key_size == 0 && c.width() % c.heads != 0)
    throw Error(fmt::format("--dim-{} {} cannot be divided among --transformer-heads {}", recurrent ? "rnn" : "emb",
                            c.width(), c.heads),
                "or give the size of a head with --transformer-dim-key");
  require(recurrent || !sinusoids_added(c.positions) || c.dim % 2 == 0,
          "--dim-emb {} is odd, but sines and cosines of --transformer-positions {} come in pairs", c.dim,
          name_of(c.positions));
}

// Fields of the decoder: its own sizes, and layers that share weights.
void check_decoder(const ModelConfig& c) {
  const auto given = int(c.tied_decoder_layers.size());
  require(given == 0 || given == c.decoder_layers,
          "--transformer-tied-layers has {} numbers, expected one for each of the {} decoder layers", given,
          c.decoder_layers);
  for (int l = 0; l < given; ++l) {
    const int owner = c.weights_of_decoder_layer(l);
    require(
        owner >= 0 && owner <= l && c.weights_of_decoder_layer(owner) == owner,
        "--transformer-tied-layers ties decoder layer {} to layer {}, expected itself, or a layer below with weights "
        "of its own, from 1",
        l + 1, owner + 1);
  }
  require(c.decoder_heads == 0 || c.key_size > 0 || c.dim % c.decoder_heads == 0,
          "--dim-emb {} cannot be divided among --transformer-decoder-heads {}", c.dim, c.decoder_heads);
  const bool other_heads = c.decoder_heads > 0 && c.decoder_heads != c.heads;
  require(
      !other_heads || (c.positions != Positions::rotary && c.positions != Positions::alibi),
      "--transformer-decoder-heads {} differs from --transformer-heads {}, but --transformer-positions {} needs the "
      "same heads everywhere",
      c.decoder_heads, c.heads, name_of(c.positions));
}

void check_vocabularies(const ModelConfig& c) {
  if (c.source_vocabulary == c.target_vocabulary) return;
  require(!c.embeddings.ties_source(),
          "tied source and target embeddings need vocabularies of the same size, but they have {} and {} pieces",
          c.source_vocabulary, c.target_vocabulary);
  require(c.type != ModelType::decoder_only,
          "a decoder-only model reads both sides with one vocabulary, but they have {} and {} pieces",
          c.source_vocabulary, c.target_vocabulary);
}

void check_relative_bias(const ModelConfig& c) {
  if (c.positions != Positions::relative_bias) return;
  require(c.relative_buckets % 2 == 0, "--transformer-relative-buckets {} is odd, expected an even number",
          c.relative_buckets);
  require(
      c.relative_max_distance > c.relative_buckets / 2,
      "--transformer-relative-max-distance {} is too small for --transformer-relative-buckets {}, expected more than "
      "{}: half of the buckets are single distances",
      c.relative_max_distance, c.relative_buckets, c.relative_buckets / 2);
}

void check_position_numbers(const ModelConfig& c) {
  check_relative_bias(c);
  require(!c.relative_values || c.positions == Positions::relative,
          "vectors of distances for values (relative_values) are for --transformer-positions relative, not for {}",
          name_of(c.positions));
  if (sinusoids_added(c.positions)) return;
  require(c.position_spacing == PositionSpacing::paper && c.first_position == 0,
          "--transformer-position-spacing and --transformer-first-position are for sinusoids, not for "
          "--transformer-positions {}",
          name_of(c.positions));
}

// The special ids around a source take positions too. A language may still be unknown: it gets any id.
void check_learned_positions(const ModelConfig& c) {
  if (c.positions != Positions::learned) return;
  ModelConfig known = c;
  for (int* id : {&known.generation.source_language_id, &known.generation.target_language_id}) *id = std::max(*id, 0);
  const size_t special = source_frame(known).size();
  require(size_t(c.max_positions) > special,
          "--transformer-max-positions {} leaves no room for a sentence, expected at least {}: special tokens around a "
          "source take {}",
          c.max_positions, special + 1, special);
}

// A score with matrices of its own, projections and norms of queries and keys.
void check_score(const ModelConfig& c) {
  const AttentionConfig& a = c.attention;
  const ScoreKind& score = score_kind(a.score);
  // With projections x·W_q and z·W_k, a bilinear score has no more power than a dot product, where W = W_q W_kᵀ.
  if (score.excludes_projections && a.projections != Projections::none)
    throw Error(fmt::format("--attention-score {} has matrices of its own, so --attention-projections {} would only "
                            "rename them",
                            name_of(a.score), name_of(a.projections)),
                "give --attention-projections none, or --attention-score dot");
  if (!score.needs_norms && a.norm != HeadNorm::none)
    throw Error(fmt::format("--attention-norm {} keeps dot products of queries and keys small, which --attention-score "
                            "{} does not need",
                            name_of(a.norm), name_of(a.score)),
                "leave it out, or give --attention-score scaled-dot");
}

void check_head_sizes(const ModelConfig& c) {
  if (!attends(c)) return;
  const AttentionConfig& a = c.attention;
  const ScoreKind& score = score_kind(a.score);
  if (a.projections == Projections::none) {
    const bool whole = c.width() % c.heads == 0;
    const int size = c.width() / c.heads;
    require(whole && c.head_values() == size && (score.has_key_matrix || c.head_keys() == size),
            "--attention-projections none uses the vectors of a head unchanged, of size --dim-{} {} / "
            "--transformer-heads {}: keys and values cannot have other sizes",
            c.type == ModelType::s2s ? "rnn" : "emb", c.width(), c.heads);
  }
  require(
      a.projects_result || c.type == ModelType::s2s || c.heads * c.head_values() == c.dim,
      "without a projection of attention's result (attention_projects_result), its {} heads of {} values would have "
      "to be as wide as --dim-emb {}",
      c.heads, c.head_values(), c.dim);
  require(a.projections != Projections::key_value || c.head_keys() == c.head_values(),
          "--attention-projections key-value uses one vector as key and value, but --transformer-dim-key {} and "
          "--transformer-dim-value {} differ",
          c.head_keys(), c.head_values());
  if (c.positions != Positions::rotary) return;
  require(c.head_keys() % 2 == 0,
          "--transformer-positions rotary rotates pairs of numbers, but the keys of a head have size {}: use an even "
          "--transformer-dim-key",
          c.head_keys());
  require(score.kernel != Score::additive,
          "--transformer-positions rotary rotates queries and keys, which represents distances in dot products only: "
          "not with --attention-score {}",
          name_of(a.score));
}

// Scores by distance would need the positions of the keys inside a compressed key.
void check_compressed_keys(const ModelConfig& c) {
  if (c.attention.memory != AttentionMemory::local_compressed) return;
  if (c.type != ModelType::decoder_only)
    throw Error(
        fmt::format("--attention-memory local-compressed is for --type decoder-only, not for {}", name_of(c.type)),
        "for other Transformers, --attention-window limits the cost of long texts");
  if (c.positions == Positions::relative || c.positions == Positions::rotary ||
      c.positions == Positions::relative_bias || c.positions == Positions::alibi)
    throw Error(fmt::format("--transformer-positions {} needs one key per position, but --attention-memory "
                            "local-compressed compresses several into one",
                            name_of(c.positions)),
                "use positions that are added to embeddings: sinusoidal, interleaved or learned");
  require(!score_kind(c.attention.score).keys_from_positions,
          "--attention-score {} has no keys that --attention-memory local-compressed could compress",
          name_of(c.attention.score));
  require(c.attention.window == 0,
          "--attention-window {} contradicts --attention-memory local-compressed, whose local layers have blocks: give "
          "--attention-block",
          c.attention.window);
  require(c.decoder_layers >= 2,
          "--attention-memory local-compressed alternates local and compressed layers, but --dec-depth is {}, expected "
          "at least 2",
          c.decoder_layers);
}

void check_autoregression(const ModelConfig& c) {
  if (c.type == ModelType::decoder_only && c.autoregression != Autoregression::self_attention)
    throw Error(fmt::format("--type decoder-only reads the source by self-attention, which "
                            "--transformer-decoder-autoreg {} replaces",
                            name_of(c.autoregression)),
                "leave --transformer-decoder-autoreg out, or use --type transformer");
  require(!c.rnn.norm || c.type == ModelType::s2s || c.autoregression == Autoregression::rnn,
          "ssru_norm is for decoders with an SSRU, found --transformer-decoder-autoreg {}", name_of(c.autoregression));
}

void check_experts(const ModelConfig& c) {
  if (c.experts.count == 0) return;
  if (c.experts.count == 1)
    throw Error("--moe-experts 1 leaves the router nothing to choose", "give 2 or more, or leave it out");
  require(c.experts.top_k <= c.experts.count, "--moe-top-k {} exceeds --moe-experts {}", c.experts.top_k,
          c.experts.count);
  if (c.layers_with_experts() > 0) return;
  const int deepest = std::max(c.layers() - c.decoder_layers, c.decoder_layers);
  require(c.experts.frequency <= deepest, "--moe-frequency {} gives no layer experts: the model has only {}",
          c.experts.frequency, counted(deepest, "layer"));
  fail("--moe-frequency {} gives no layer experts: --transformer-tied-layers replaces those that would have some",
       c.experts.frequency);
}

void check_rnn_encoder(const ModelConfig& c) {
  const RnnEncoderConfig& e = c.rnn.encoder;
  const bool conv = e.type == EncoderType::convolutional, both = e.type == EncoderType::bidirectional;
  require(!conv || !e.reverse, "--reverse-source is for --enc-type unidirectional; conv reads all tokens at once");
  require(!both || c.rnn.dim % 2 == 0,
          "--dim-rnn {} is odd, but --enc-type bidirectional has half of the state in each direction", c.rnn.dim);
  if (both && e.reverse)
    throw Error("--reverse-source has no effect: --enc-type bidirectional reads in both directions",
                "leave it out, or give --enc-type unidirectional");
  if (e.pooling != EncoderPooling::hierarchical) return;
  require(!conv, "--encoder-pooling hierarchical needs recurrent layers; --enc-type conv has none");
  require(!e.reverse,
          "--reverse-source contradicts --encoder-pooling hierarchical, which does not keep the order of the words");
}

void check_hard_attention(const ModelConfig& c) {
  if (c.attention.choice == AttentionKind::soft) return;
  require(c.heads == 1,
          "--attention-choice hard attends to one source token, so --transformer-heads must be 1, found {}", c.heads);
  require(c.attention.local == 0,
          "--attention-choice hard samples from the whole source; --attention-local {} is for soft", c.attention.local);
  require(c.dropout.attention == 0,
          "--attention-choice hard takes no weighted mean, so --transformer-dropout-attention {} has nothing to drop",
          c.dropout.attention);
}

void check_predicted_window(const ModelConfig& c) {
  if (c.attention.local_center != LocalCenter::predictive) return;
  if (c.attention.local == 0)
    throw Error("--attention-local-center predictive is the centre of a window, but --attention-local is 0",
                "give the number of source tokens on each side, such as --attention-local 10 as in the paper");
  require(
      c.heads == 1,
      "--attention-local-center predictive predicts one position per token, so --transformer-heads must be 1, found "
      "{}",
      c.heads);
}

void check_recurrent(const ModelConfig& c) {
  if (c.type != ModelType::s2s) return;
  check_rnn_encoder(c);
  if (c.rnn.decoder.attention == RnnAttention::none) return;
  check_hard_attention(c);
  check_predicted_window(c);
}

void check_alignment(const ModelConfig& c) {
  require(c.alignment.layer <= c.decoder_layers,
          "--transformer-guided-alignment-layer {} is beyond the decoder, which has {} layers (--dec-depth)",
          c.alignment.layer, c.decoder_layers);
  const int heads = c.decoder_side().heads;
  require(c.alignment.heads <= heads, "alignment_heads is {}, but a decoder layer has {} heads", c.alignment.heads,
          heads);
}

void check_special_ids(const ModelConfig& c) {
  require(c.decoder_start == DecoderStart::zero || c.first_token() >= 0,
          "--decoder-start {} is a piece that the vocabulary does not have", name_of(c.decoder_start));
  if (c.source_vocabulary == 0) return;  // unknown so far
  const int pieces = std::min(c.source_vocabulary, c.target_vocabulary);
  const GenerationConfig& g = c.generation;
  std::vector<std::pair<const char*, int>> ids = {{"unk_id", c.special.unk},
                                                  {"bos_id", c.special.bos},
                                                  {"eos_id", c.special.eos},
                                                  {"pad_id", c.special.pad},
                                                  {"source_language_id", g.source_language_id},
                                                  {"target_language_id", g.target_language_id},
                                                  {"target_language_blank_id", g.target_language_blank_id}};
  for (const int id : g.suppressed) ids.emplace_back("suppressed_ids", id);
  for (const auto& [name, id] : ids)
    require(id < pieces, "{} is {}, but the vocabulary has {} pieces", name, id, pieces);
}

void check_generation(const ModelConfig& c) {
  const GenerationConfig& g = c.generation;
  require(!g.source_bos || c.special.bos >= 0, "source_bos is true, but the vocabulary has no bos");
  require(g.search_rule != SearchRule::automatic, "search_rule is auto, expected the rule of a program");
  for (const int id : g.suppressed)
    require(id >= 0 && id != c.special.eos, "suppressed_ids has {}, which cannot be left out", id);
  require(c.type != ModelType::decoder_only ||
              (!g.source_bos && g.source_eos && g.source_language == SourceLanguage::none &&
               g.target_language == TargetLanguage::none),
          "a decoder-only model has nothing but </s> around its sentences");
}

[[noreturn]] void refuse(const ModelConfig& config, const ConfigField& field) {
  if ((field.models & set_of(config.type)) == 0) {
    if (field.models == types::with_encoder)
      fail("--{} is for models with an encoder; --type decoder-only has none", field.option);
    fail("--{} is for --type {}, not for {}", field.option, name_of(first_of(field.models)), name_of(config.type));
  }
  if (field.of_attention && !attends(config))
    fail("--{} is for models with attention; --rnn-attention none has none", field.option);
  if (field.needs.value.empty()) fail("--{} is for --{}, which is not given", field.option, field.needs.option);
  if (field.needs.but) fail("--{} is for any --{} but {}", field.option, field.needs.option, field.needs.value);
  ModelConfig copy = config;
  fail("--{} is for --{} {}, not for {}", field.option, field.needs.option, field.needs.value,
       to_text(field_of_option(field.needs.option).member(copy)));
}

}  // namespace

void validate(const ModelConfig& config) {
  check_bounds(config);
  check_dropout(config);
  check_sizes(config);
  check_decoder(config);
  check_vocabularies(config);
  check_position_numbers(config);
  check_learned_positions(config);
  check_score(config);
  check_head_sizes(config);
  check_head_sizes(config.decoder_side());
  check_compressed_keys(config);
  check_autoregression(config);
  check_experts(config);
  check_recurrent(config);
  check_alignment(config);
  check_special_ids(config);
  check_generation(config);
}

void validate(const ModelConfig& config, const std::string& where) {
  try {
    validate(config);
  } catch (const Error& e) {
    throw Error(fmt::format("{}: its model configuration is impossible: {}", where, e.what()));
  }
}

void refuse_unused(const ModelConfig& config, const std::function<bool(std::string_view option)>& given) {
  ModelConfig c = config, standard = defaults_of(config);
  for (const ConfigField& field : model_config_fields()) {
    if (field.option.empty() || has_field(c, field) || !given(field.option)) continue;
    if (to_text(field.member(c)) != to_text(field.member(standard))) refuse(c, field);
  }
  const ScoreKind& score = score_kind(c.attention.score);
  require(!given("transformer-max-positions") || c.max_positions == standard.max_positions ||
              c.positions == Positions::learned || score.keys_from_positions,
          "--transformer-max-positions is for --transformer-positions learned and --attention-score location; other "
          "positions have no maximum");
  require(!given("transformer-dim-key") || c.key_size == 0 || c.attention.score != AttentionScore::reduced_rank,
          "--transformer-dim-key is not for --attention-score reduced-rank, whose queries and keys have the size "
          "--attention-rank");
}

}  // namespace dragoman
