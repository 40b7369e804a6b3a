#include "engine/text_explainer.h"

#include <algorithm>
#include <array>
#include <span>

#include "backend/registry.h"
#include "base/grouped.h"
#include "base/log.h"
#include "decode/beam_search.h"
#include "interop/open_model.h"
#include "score/scorer.h"

namespace dragoman {
namespace {

// Passes without a tape use packed weights, as in translate; those with a tape need the original weights.
LoadedModel load(const ExplainOptions& o, const Backend& cpu, Arena& arena) {
  const ModelFile file = open_model(o.model, {.vocabs = o.vocabs, .languages = {o.source_lang, o.target_lang}});
  ModelConfig config = file.config();
  config.learns_source = false;  // so that gradients are those of the target's log-probabilities
  LoadedModel loaded{make_model(config, cpu, arena, DType::f32, false), file.vocabularies(), {}};
  file.load_weights(loaded.model->parameters());
  loaded.packed = loaded.model->parameters().pack();
  return loaded;
}

// Without special ids. A translation that reached its length limit has none at its end.
int64_t count_pieces(const std::vector<int32_t>& ids, const SentenceFrame& frame) {
  const size_t after = std::min(ids.size(), frame.after.size());
  const bool ended = std::ranges::equal(std::span(ids).last(after), frame.after);
  return int64_t(ids.size() - frame.before.size() - (ended ? after : 0));
}

}  // namespace

TextExplainer::TextExplainer(const ExplainOptions& options, const Backend& device)
    : options_(options),
      arena_(arena_of(device)),
      loaded_(load(options, device, arena_)),
      cx_{.backend = device, .arena = arena_, .packed = &loaded_.packed},
      frames_(frames_of(loaded_.model->config())),
      explainer_(cx_, *loaded_.model, loaded_.vocabularies, options) {
  if (options.train_sets.empty())
    input_.emplace(options.input);
  else
    files_.emplace(TextPair{.paths = {options.train_sets[0], options.train_sets[1]}});
}

std::optional<Explanation> TextExplainer::next() {
  if (options_.max_lines > 0 && lines_ == options_.max_lines) {
    if (has_more())
      log_warning("Only the first {} explained; --max-lines 0 explains all",
                  lines_ == 1 ? "line is" : grouped(lines_) + " lines are");
    return std::nullopt;
  }
  IdPair pair;
  if (!read(pair)) return std::nullopt;
  Explanation explanation = explanation_of(pair);
  explanation.line = ++lines_;
  return explanation;
}

// As far as can be seen without waiting for input.
bool TextExplainer::has_more() { return ready() && (input_ ? !input_->ended() : !files_->next(1).source.empty()); }

bool TextExplainer::read(IdPair& pair) {
  if (input_) return read_translated(pair);
  const LinePairs lines = files_->next(1);
  if (lines.source.empty()) return false;
  const auto& [source, target] = loaded_.vocabularies;
  pair = encode_pairs(source, target, frames_, lines, options_.no_spm_encode)[0];
  return true;
}

bool TextExplainer::read_translated(IdPair& pair) {
  std::string line;
  if (!input_->next(line)) return false;
  const Vocabulary& source = loaded_.vocabularies.source;
  const std::vector<int32_t> ids = options_.no_spm_encode ? source.encode_given_pieces(line) : source.encode(line);
  pair = {frames_.source.around(ids), translation_of(ids)};
  return true;
}

// Just </s> for a line that is empty or too long to explain.
std::vector<int32_t> TextExplainer::translation_of(const std::vector<int32_t>& ids) {
  if (ids.empty() || int64_t(ids.size()) > options_.max_length) return frames_.target.around({});
  const SearchOptions search{.beam_size = options_.beam_size};
  const Hypothesis best =
      beam_search(cx_, *loaded_.model, search, TranslateOptions{}.tokens_in_flight(cx_.backend), {&ids, 1})[0][0];
  return target_of(best, frames_.target);
}

Explanation TextExplainer::explanation_of(const IdPair& pair) const {
  const int64_t of_source = count_pieces(pair.source, frames_.source),
                of_target = count_pieces(pair.target, frames_.target);
  const bool source = of_source >= of_target;  // whether the source is longer
  const int64_t pieces = source ? of_source : of_target;
  if (pieces <= options_.max_length) return explainer_.explain(pair);
  Explanation left_out{.method = options_.method};
  left_out.missing = fmt::format("{} {} pieces, more than --max-length {}", grouped(pieces),
                                 source ? "source" : "target", options_.max_length);
  return left_out;
}

}  // namespace dragoman
