#pragma once
#include <cstdint>
#include <vector>

#include "dragoman/search_options.h"
#include "model/frame.h"

namespace dragoman {

/// What a search needs to know about the models: ids, the special pieces around sentences, how their own program
/// searches, and the attention that alignments are taken from.
struct Conventions {
  SpecialIds special = {};
  SentenceFrames frames;  // of sentences without frames of their own; empty if the models need languages
  std::vector<int32_t> suppressed = {};
  SearchRule rule = SearchRule::marian;
  AlignmentConfig alignment = {};
};

Conventions conventions_of(const ModelConfig& config = {});

/// How hypotheses compete and end (docs/search.md). With `keeps_positions`, a finished hypothesis keeps its position in
/// the beam, so the beam narrows, and all continuations of a step may end. Otherwise the beam keeps its width: a step
/// compares twice as many continuations as the beam has hypotheses, and only those of the first half may end.
struct EndingRule {
  SearchRule rule;
  bool keeps_positions = false;
  bool forces_end = false;   // at the length limit, the last token is always </s>
  bool end_is_free = false;  // … and its log-probability does not count
  bool keeps_first = false;  // once as many hypotheses have ended as the beam is wide, better ones do not replace them

  /// The state of a search after a step. `worst` is the lowest score among the best finished hypotheses, as many as the
  /// beam is wide.
  struct SearchState {
    size_t ended, beam;
    double worst;
    double best_live;  // log-probability of the most probable live hypothesis
    int length;        // tokens so far
    bool best_ended;   // in some step, the best continuation was </s>
  };
  /// Whether the search is over. Not used with `keeps_positions`.
  bool over(const SearchState& state, const SearchOptions& options) const;
};

/// The rule of these options, or else of the models. Greedy search and sampling do not depend on the rule and use
/// Marian's.
EndingRule ending_rule(const SearchOptions& options, const Conventions& conventions);

}  // namespace dragoman
