#pragma once
#include <cstdint>
#include <vector>

#include "decode/options.h"
#include "model/frame.h"

namespace dragoman {

/// What a search knows of the models: ids, what stands around sentences, and how their own program searches.
struct Conventions {
  SpecialIds special = {};
  SentenceFrames frames;
  std::vector<int32_t> suppressed = {};
  SearchRule rule = SearchRule::marian;
};

Conventions conventions_of(const ModelConfig& config = {});

/// How hypotheses compete and end (docs/search.md). With `keeps_positions`, one that has ended narrows the beam, and
/// all continuations of a step are equal. Otherwise the beam stays as wide as it is: a step compares twice as many
/// continuations as the beam has hypotheses, and only those of the first half may end.
struct EndingRule {
  SearchRule rule;
  bool keeps_positions = false;
  bool forces_end = false;   // </s> is the last token that the limit allows
  bool end_is_free = false;  // … and costs nothing then
  bool keeps_first = false;  // when as many have ended as the beam is wide, no better one replaces them

  /// What a search knows after a step; `worst` is the score of the last of the best hypotheses that have ended, as many
  /// as the beam is wide.
  struct Standing {
    size_t ended, beam;
    double worst;
    double best_live;  // log-probability of the most probable hypothesis that goes on
    int length;        // tokens so far
    bool best_ended;   // in some step the best continuation was an end
  };
  /// Whether the search is over. Not asked with `keeps_positions`.
  bool over(const Standing& standing, const SearchOptions& options) const;
};

/// The rule of these options, or of the models. Greedy search and sampling are the same by any rule: Marian's.
EndingRule ending_rule(const SearchOptions& options, const Conventions& conventions);

}  // namespace dragoman
