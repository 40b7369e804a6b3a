#include "interop/huggingface_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "interop/huggingface_activations.h"

namespace dragoman {
namespace {

using nlohmann::ordered_json;

const char* name_of_theirs(Activation activation) {
  for (const auto& [name, known] : huggingface_activations)
    if (known == activation) return name;
  fail("this activation has no name in transformers");
}

int pad_of(const ModelConfig& c) { return adds_pad(c) ? c.target_vocabulary : c.special.pad; }

// A decoder that begins with a zero vector begins with <pad> here, whose embedding is zero.
int start_of(const ModelConfig& c) { return c.decoder_start == DecoderStart::zero ? pad_of(c) : c.first_token(); }

ordered_json configuration_of(const ModelConfig& c) {
  const ModelConfig decoder = c.decoder_side();
  const EmbeddingsConfig& e = c.embeddings;
  const int added = adds_pad(c) ? 1 : 0;
  return {{"architectures", {"MarianMTModel"}},
          {"model_type", "marian"},
          {"vocab_size", c.source_vocabulary + added},
          {"decoder_vocab_size", c.target_vocabulary + added},
          {"d_model", c.dim},
          {"encoder_layers", c.encoder_layers},
          {"decoder_layers", c.decoder_layers},
          {"num_hidden_layers", c.encoder_layers},
          {"encoder_attention_heads", c.heads},
          {"decoder_attention_heads", decoder.heads},
          {"encoder_ffn_dim", c.feed_forward},
          {"decoder_ffn_dim", decoder.feed_forward},
          {"activation_function", name_of_theirs(c.activation)},
          {"scale_embedding", e.scale == 0},
          {"share_encoder_decoder_embeddings", e.ties_source()},
          {"tie_word_embeddings", e.ties_output()},
          {"max_position_embeddings", 1024},
          {"static_position_embeddings", sinusoids_added(c.positions)},
          {"normalize_before", c.norm == NormPlacement::pre},
          {"normalize_embedding", c.embedding_norm},
          {"is_encoder_decoder", true},
          {"pad_token_id", pad_of(c)},
          {"bos_token_id", c.special.bos < 0 ? c.special.eos : c.special.bos},
          {"eos_token_id", c.special.eos},
          {"forced_eos_token_id", c.special.eos},
          {"decoder_start_token_id", start_of(c)},
          {"dropout", c.dropout.sublayer},
          {"torch_dtype", "float32"}};
}

ordered_json generation_of(const ModelConfig& c) {
  const int pad = pad_of(c);
  std::vector<std::vector<int>> bad = {{pad}, {c.special.unk}};
  if (c.special.bos >= 0) bad.push_back({c.special.bos});
  if (adds_pad(c) && c.special.pad >= 0) bad.push_back({c.special.pad});
  for (const int id : c.generation.suppressed)
    if (std::ranges::count(bad, std::vector{id}) == 0) bad.push_back({id});
  ordered_json generation = {{"bad_words_ids", bad},
                             {"decoder_start_token_id", start_of(c)},
                             {"eos_token_id", c.special.eos},
                             {"forced_eos_token_id", c.special.eos},
                             {"pad_token_id", pad},
                             {"max_length", 512},
                             {"num_beams", 5}};
  if (c.generation.target_language == TargetLanguage::target && c.generation.target_language_id >= 0)
    generation["forced_bos_token_id"] = c.generation.target_language_id;
  return generation;
}

// A vocabulary may have a <pad> of its own.
const char* name_of_added_pad(const ModelConfig& c) { return c.special.pad < 0 ? "<pad>" : "<zero>"; }

std::string list_of(std::vector<std::string> pieces, const ModelConfig& c) {
  if (adds_pad(c)) pieces.emplace_back(name_of_added_pad(c));
  ordered_json::object_t ids;  // ids[piece] would look through all pieces before it
  for (size_t id = 0; id < pieces.size(); ++id) ids.emplace_back(pieces[id], id);
  return ordered_json(std::move(ids)).dump();
}

}  // namespace

// The embedding of a <pad> that the model has is not zero.
bool adds_pad(const ModelConfig& config) {
  return config.special.pad < 0 || config.decoder_start == DecoderStart::zero;
}

void write_huggingface_files(const OutputFolder& folder, const ModelFile& model) {
  const ModelConfig& c = model.config();
  const auto& [source, target] = model.vocabularies();
  const std::vector<std::string> sources = pieces_of(source, "source"), targets = pieces_of(target, "target");
  folder.write("config.json", configuration_of(c).dump(2) + "\n");
  folder.write("generation_config.json", generation_of(c).dump(2) + "\n");
  write_splitting(folder, source, "source"), write_splitting(folder, target, "target");
  folder.write("vocab.json", list_of(sources, c));
  const bool separate = sources != targets;
  if (separate) folder.write("target_vocab.json", list_of(targets, c));
  folder.write("tokenizer_config.json",
               ordered_json{{"tokenizer_class", "MarianTokenizer"},
                            {"separate_vocabs", separate},
                            {"unk_token", target.piece(c.special.unk)},
                            {"eos_token", target.piece(c.special.eos)},
                            {"pad_token", adds_pad(c) ? name_of_added_pad(c) : target.piece(pad_of(c))}}
                       .dump(2) +
                   "\n");
}

}  // namespace dragoman
