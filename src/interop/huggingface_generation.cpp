#include "interop/huggingface_generation.h"

#include <algorithm>

#include "base/log.h"
#include "base/symbolic_links.h"
#include "interop/suppressed_bias.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool stops_early(const JsonObject& c) {
  if (!c.has("early_stopping")) return false;
  if (c.root()["early_stopping"] == "never")
    throw Error(fmt::format("{}: early_stopping is \"never\", expected true or false", c.path()),
                "dragoman has no such search: write false, the default of transformers, which may end a search sooner");
  return c.get("early_stopping", false);
}

// No known translation model forbids a sequence of several pieces.
std::vector<int> suppressed_pieces(const JsonObject& c) {
  std::vector<int> ids;
  const auto list = [&](const char* key) {
    if (!c.has(key)) return json();
    require(c.root()[key].is_array(), "{}: {} is {}, expected a list", c.path(), key,
            beginning_of(c.root()[key].dump()));
    return c.root()[key];
  };
  for (const json& words : list("bad_words_ids")) {
    if (!words.is_array() || words.size() != 1)
      throw Error(
          fmt::format("{}: bad_words_ids has {}, expected lists of one id each", c.path(), beginning_of(words.dump())),
          "remove it from the file; dragoman translate --avoid forbids phrases by their text");
    ids.push_back(int_of(words[0], c.path() + ": an id in bad_words_ids"));
  }
  for (const json& id : list("suppress_tokens")) ids.push_back(int_of(id, c.path() + ": an id in suppress_tokens"));
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  return ids;
}

/// A setting that changes what generate() finds, but not what dragoman finds.
struct Ignored {
  const char *key, *option;  // dragoman's option that has the same effect; empty: none
  json neutral;              // has no effect
};

void warn_of_ignored(const JsonObject& c) {
  const Ignored all[] = {{"no_repeat_ngram_size", "--no-repeat-ngram", 0},
                         {"min_length", "--min-length", 0},
                         {"min_new_tokens", "--min-length", 0},
                         {"do_sample", "--output-sampling", false},
                         {"length_penalty", "--normalize", 1},
                         {"penalty_alpha", "", 0},
                         {"guidance_scale", "", 1},
                         {"force_words_ids", "", json::array()},
                         {"constraints", "", json::array()},
                         {"repetition_penalty", "", 1},
                         {"encoder_repetition_penalty", "", 1},
                         {"encoder_no_repeat_ngram_size", "", 0},
                         {"num_beam_groups", "", 1},
                         {"begin_suppress_tokens", "", json::array()},
                         {"sequence_bias", "", json::object()},
                         {"exponential_decay_length_penalty", "", json::array()}};
  std::string found;
  for (const auto& [key, option, neutral] : all) {
    if (!c.has(key) || c.root()[key] == neutral) continue;
    found += fmt::format("{}{} {}", found.empty() ? "" : ", ", key, beginning_of(c.root()[key].dump()));
    if (*option) found += fmt::format(" (give {})", option);
  }
  if (!found.empty()) log_warning("{}: these settings are ignored: {}", c.path(), found);
}

}  // namespace

JsonObject huggingface_generation(const fs::path& folder, const JsonObject& config) {
  const fs::path own = folder / "generation_config.json";
  return is_there(own) ? JsonObject(own) : config;
}

void set_generation(ModelConfig& m, const JsonObject& c) {
  m.generation.search_rule = stops_early(c) ? SearchRule::huggingface_early : SearchRule::huggingface;
  m.generation.suppressed = suppressed_pieces(c);
  warn_of_ignored(c);
}

void renormalize(ModelConfig& m, std::vector<TensorEntry>& weights, const JsonObject& c) {
  if (!c.get("renormalize_logits", false) || m.generation.suppressed.empty()) return;
  const auto found = std::ranges::find(weights, "output.bias", &TensorEntry::name);
  const bool has_bias = found != weights.end();
  TensorEntry bias = suppressed_bias(has_bias ? &*found : nullptr, m.target_vocabulary, m.generation.suppressed);
  if (has_bias)
    *found = std::move(bias);
  else
    weights.push_back(std::move(bias));
  m.embeddings.output_bias = true;
}

}  // namespace dragoman
