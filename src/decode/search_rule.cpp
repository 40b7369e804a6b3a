#include "decode/search_rule.h"

#include "decode/scoring.h"

namespace dragoman {

Conventions conventions_of(const ModelConfig& config) {
  const bool known = knows_languages(config);
  return {config.special, known ? frames_of(config) : SentenceFrames(), config.generation.suppressed,
          config.generation.search_rule, config.alignment};
}

bool EndingRule::over(const SearchState& s, const SearchOptions& options) const {
  switch (rule) {
    case SearchRule::huggingface:
      return s.ended >= s.beam && score(options, s.best_live, s.length) <= s.worst;
    case SearchRule::ctranslate2:
      if (options.normalize == 0 && options.length_penalty == 0)
        return s.best_ended && s.ended >= size_t(std::max(1, options.n_best));
      return s.ended >= s.beam;
    case SearchRule::huggingface_early:
    case SearchRule::fairseq:
    case SearchRule::automatic:
    case SearchRule::marian:
      break;
  }
  return s.ended >= s.beam;
}

EndingRule ending_rule(const SearchOptions& options, const Conventions& conventions) {
  const SearchRule chosen = options.rule == SearchRule::automatic ? conventions.rule : options.rule;
  const bool one_by_one = options.beam_size == 1 || options.sampling != Sampling::none;
  switch (one_by_one ? SearchRule::marian : chosen) {
    case SearchRule::huggingface:
    case SearchRule::huggingface_early:
      return {.rule = chosen, .forces_end = true, .end_is_free = true};
    case SearchRule::fairseq:
      return {.rule = chosen, .forces_end = true, .keeps_first = true};
    case SearchRule::ctranslate2:
      return {.rule = chosen};
    case SearchRule::automatic:
    case SearchRule::marian:
      break;
  }
  return {.rule = SearchRule::marian, .keeps_positions = true};
}

}  // namespace dragoman
