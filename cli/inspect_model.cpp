#include "cli/inspect_model.h"

#include <fmt/format.h>

#include "base/grouped.h"
#include "interop/export.h"
#include "io/config_json.h"
#include "io/parameter_counts.h"
#include "vocab/model_facts.h"

namespace dragoman {
namespace {

std::string embeddings_in_words(const ModelConfig& c) {
  if (c.embeddings.ties_source() && c.embeddings.ties_output()) return "one matrix for source, target and output";
  if (c.embeddings.ties_source()) return "one matrix for source and target, one for output";
  if (c.embeddings.ties_output()) return "one matrix for source, one for target and output";
  return "one matrix each for source, target and output";
}

std::string heads_in_words(const ModelConfig& c) {
  if (c.head_keys() == c.head_values()) return fmt::format("{} of dim {}", c.heads, c.head_keys());
  return fmt::format("{} of dim {} for keys, {} for values", c.heads, c.head_keys(), c.head_values());
}

std::string experts_in_words(const ModelConfig& c) {
  const int some = c.layers_with_experts(), all = c.layers();
  const std::string layers = some == all ? "each layer" : fmt::format("{} of {} layers", some, all);
  return fmt::format("{} of {} per token in {} (Shazeer et al. 2017)", c.experts.top_k, c.experts.count, layers);
}

std::string attention_in_words(const ModelConfig& c) {
  std::string text = fmt::format("{}, projections {}", name_of(c.attention.score), name_of(c.attention.projections));
  if (c.attention.score == AttentionScore::reduced_rank) text += fmt::format(", rank {}", c.attention.rank);
  if (c.attention.norm != HeadNorm::none) text += fmt::format(", {} norm of each head", name_of(c.attention.norm));
  if (c.attention.window > 0) text += fmt::format(", window ±{}", c.attention.window);
  if (c.attention.memory == AttentionMemory::local_compressed)
    text += fmt::format(", alternating between blocks of {} and keys compressed {} to 1 (Liu et al. 2018)",
                        c.attention.block, c.attention.stride);
  if (c.attention.local > 0) text += fmt::format(", local ±{}", c.attention.local);
  if (c.attention.choice == AttentionKind::hard) text += ", hard";
  if (c.attention.local_center == LocalCenter::predictive) text += " around a predicted position";
  return text;
}

std::string alignments_in_words(const AlignmentConfig& a, int decoder_layers) {
  const std::string heads = a.heads == 0   ? "all heads"
                            : a.heads == 1 ? "the first head"
                                           : fmt::format("the first {} heads", a.heads);
  return fmt::format("of {} of decoder layer {}", heads, a.layer_of(decoder_layers) + 1);
}

std::string_view norm_kind_in_words(NormKind kind) {
  switch (kind) {
    case NormKind::layer:
      return "";
    case NormKind::rms:
      return ", RMS (Zhang & Sennrich 2019)";
    case NormKind::batch:
      return ", per feature over batches (Ioffe & Szegedy 2015)";
  }
  return "";
}

std::string autoregression_in_words(const ModelConfig& c) {
  switch (c.autoregression) {
    case Autoregression::self_attention:
      return "self-attention";
    case Autoregression::average_attention:
      return fmt::format("average attention (Zhang et al. 2018), dim {} ({}), {}", grouped(c.average.feed_forward),
                         name_of(c.average.activation), c.average.gates ? "gated" : "without gates");
    case Autoregression::rnn:
      return "a recurrent unit, SSRU (Kim et al. 2019)";
  }
  return "";
}

std::string positions_in_words(const ModelConfig& c) {
  if (c.positions == Positions::learned) return fmt::format("learned, up to {}", grouped(c.max_positions));
  if (c.positions == Positions::relative_bias)
    return fmt::format("relative-bias, {} ranges of distances up to {} (Raffel et al. 2020)", c.relative_buckets,
                       grouped(c.relative_max_distance));
  return std::string(name_of(c.positions));
}

void add_transformer(FactPage& page, const ModelConfig& c) {
  const bool alone = c.type == ModelType::decoder_only;
  page.fact("type", alone ? "decoder-only (Liu et al. 2018)" : "Transformer (Vaswani et al. 2017)");
  page.fact("layers", alone ? fmt::to_string(c.decoder_layers)
                            : fmt::format("{} encoder, {} decoder", c.encoder_layers, c.decoder_layers));
  page.fact("dim", fmt::format("{}, in feed-forward layers {} ({}{})", c.dim, grouped(c.feed_forward),
                               name_of(c.activation), c.gated_feed_forward ? ", gated" : ""));
  if (c.experts.count > 0) page.fact("experts", experts_in_words(c));
  page.fact("heads", heads_in_words(c));
  page.fact("norm", fmt::format("{} each sublayer ({}-norm){}", c.norm == NormPlacement::post ? "after" : "before",
                                name_of(c.norm), norm_kind_in_words(c.norm_kind)));
  page.fact("positions", positions_in_words(c));
  page.fact("attention", attention_in_words(c));
  if (c.alignment.layer > 0 || c.alignment.heads > 0)
    page.fact("alignments", alignments_in_words(c.alignment, c.decoder_layers));
  page.fact("decoder layers", autoregression_in_words(c));
  if (!c.tied_decoder_layers.empty())
    page.fact("tied layers",
              fmt::format("decoder layers have the weights of layers {}", fmt::join(c.tied_decoder_layers, " ")));
  page.fact("embeddings", embeddings_in_words(c));
  page.fact("dropout", fmt::format("{}; attention {}, activation {}, embedding {}", c.dropout.sublayer,
                                   c.dropout.attention, c.dropout.activation, c.dropout.of_embeddings()));
}

std::string rnn_attention_in_words(const ModelConfig& c) {
  switch (c.rnn.decoder.attention) {
    case RnnAttention::bahdanau:
      return "before each step (Bahdanau et al. 2015), " + attention_in_words(c);
    case RnnAttention::luong:
      return "after each step (Luong et al. 2015), " + attention_in_words(c);
    case RnnAttention::none:
      return "none (Sutskever et al. 2014)";
  }
  return "";
}

std::string pooling_in_words(const ModelConfig& c) {
  if (c.rnn.encoder.pooling != EncoderPooling::hierarchical)
    return fmt::format("the encoder's {}", name_of(c.rnn.encoder.pooling));
  return fmt::format("words to sentences to one vector (Yang et al. 2016); {} pieces end a sentence",
                     grouped(int64_t(c.rnn.encoder.sentence_ends.size())));
}

void add_rnn(FactPage& page, const ModelConfig& c) {
  const auto layers = [](int count, std::string_view kind) {
    return fmt::format("{} layer{} of {}", count, count == 1 ? "" : "s", kind);
  };
  page.fact("type", "recurrent");
  if (c.rnn.encoder.type == EncoderType::convolutional)
    page.fact("encoder", fmt::format("{}, {} words wide (Gehring et al. 2017)",
                                     layers(c.encoder_layers, "gated convolutions"), c.rnn.encoder.kernel));
  else
    page.fact("encoder", fmt::format("{}, {}{}", layers(c.encoder_layers, name_of(c.rnn.encoder.cell)),
                                     name_of(c.rnn.encoder.type), c.rnn.encoder.reverse ? ", source reversed" : ""));
  page.fact("decoder", layers(c.decoder_layers, name_of(c.rnn.decoder.cell)));
  page.fact("dim", fmt::format("{} of states, {} of embeddings", c.rnn.dim, c.dim));
  page.fact("norm", c.rnn.norm ? "on the products of the cells" : "none");
  page.fact("attention", rnn_attention_in_words(c));
  if (c.rnn.decoder.attention != RnnAttention::none) page.fact("heads", heads_in_words(c));
  page.fact("initial state", pooling_in_words(c));
  page.fact("embeddings", embeddings_in_words(c));
  page.fact("dropout", fmt::format("{}; attention {}", c.dropout.rnn, c.dropout.attention));
}

void add_architecture(FactPage& page, const ModelConfig& c) {
  page.heading("Architecture");
  c.type == ModelType::s2s ? add_rnn(page, c) : add_transformer(page, c);
  if (c.copies) page.fact("copies", "pieces of the source (See et al. 2017)");
  if (c.dropout.source_words > 0 || c.dropout.target_words > 0)
    page.fact("word dropout", fmt::format("source {}, target {}", c.dropout.source_words, c.dropout.target_words));
}

std::string language_in_words(const Vocabulary& v, int id) { return id < 0 ? "given to each run" : v.piece(id); }

// Of models of other programs.
void add_generation(FactPage& page, const ModelConfig& c, const Vocabularies& v) {
  const GenerationConfig& g = c.generation;
  if (g.source_language != SourceLanguage::none)
    page.fact("from language", language_in_words(v.source, g.source_language_id));
  const bool in_source = g.target_language == TargetLanguage::source;
  if (g.target_language != TargetLanguage::none)
    page.fact("into language", in_source && g.target_language_id < 0
                                   ? "at the beginning of a line, >>fra<<"
                                   : language_in_words(in_source ? v.source : v.target, g.target_language_id));
  if (g.search_rule != SearchRule::marian) page.fact("search", fmt::format("as {}", name_of(g.search_rule)));
}

void add_vocabularies(Description& d, const Vocabularies& v) {
  const bool joint = v.source.bytes() == v.target.bytes();
  d.page.heading("Vocabularies");
  d.page.fact("source", vocabulary_in_words(v.source));
  d.page.fact("target", joint ? "the same" : vocabulary_in_words(v.target));
  d.json["vocabularies"] = {
      {"source", vocabulary_json(v.source)}, {"target", vocabulary_json(v.target)}, {"joint", joint}};
}

void add_lengths(Description& d, const TrainedLengths& trained) {
  d.json["trained"] = {{"longest_source", trained.source}, {"longest_target", trained.target}};
  if (trained.source == 0) return;  // older files lack the lengths
  d.page.heading("Trained on sentences of up to");
  d.page.fact("source", fmt::format("{} pieces", grouped(trained.source)));
  d.page.fact("target", fmt::format("{} pieces", grouped(trained.target)));
}

void add_parameters(Description& d, const SafetensorsFile& file) {
  const ParameterCounts counts = count_parameters(file);
  const std::string types = fmt::format("{}", fmt::join(counts.types, ", "));
  Json groups = Json::object();
  d.page.heading("Parameters");
  for (const ParameterGroup& g : counts.groups) {
    const double share = 100 * double(g.parameters) / double(std::max<int64_t>(1, counts.parameters));
    d.page.fact(g.name, fmt::format("{:>15}  {:5.1f} %", grouped(g.parameters), share));
    groups[g.name] = g.parameters;
  }
  d.page.fact("total",
              fmt::format("{:>15}  in {} tensors of {}", grouped(counts.parameters), grouped(counts.tensors), types));
  const std::vector<std::string> broken = tensors_not_finite(file);
  if (!broken.empty())
    d.page.fact("not finite", fmt::format("NaN or infinity in {}, the first is {}: the model is broken",
                                          counted(broken.size(), "tensor"), broken.front()));
  d.json["not_finite"] = broken;
  d.json["parameters"] = {{"total", counts.parameters}, {"groups", groups}, {"dtype", types}};
}

}  // namespace

void add_model(Description& description, const ModelFile& model) {
  add_architecture(description.page, model.config());
  description.json["config"] = Json::parse(to_json(model.config()));
  add_vocabularies(description, model.vocabularies());
  add_generation(description.page, model.config(), model.vocabularies());
  add_lengths(description, model.trained());
  add_parameters(description, model.tensors());
}

std::string vocabulary_in_words(const Vocabulary& vocabulary) {
  return fmt::format("{} pieces, {}, {} byte fallback", grouped(vocabulary.size()), facts_of(vocabulary.bytes()).type,
                     vocabulary.has_byte_fallback() ? "with" : "without");
}

Json vocabulary_json(const Vocabulary& vocabulary) {
  return {{"pieces", vocabulary.size()},
          {"type", facts_of(vocabulary.bytes()).type},
          {"byte_fallback", vocabulary.has_byte_fallback()}};
}

}  // namespace dragoman
