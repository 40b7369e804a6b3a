#pragma once
#include "decode/beam_search.h"

namespace dragoman {

/// What beam_search() finds for a sentence, with an alignment of each hypothesis.
struct AlignedSentence {
  std::vector<Hypothesis> best;
  std::vector<Alignment> alignments;
};

inline std::vector<AlignedSentence> aligned_search(Context& cx, Model& model, const SearchOptions& options,
                                                   int64_t tokens, const std::vector<std::vector<int32_t>>& sources) {
  std::vector<Ensemble::Member> alone;
  alone.push_back({model.decode(cx)});
  Search search(Ensemble(cx, std::move(alone), conventions_of(model.config())), tokens);
  std::vector<AlignedSentence> all(sources.size());
  for (size_t i = 0; i < sources.size(); ++i)
    search.add(
        {.source = sources[i], .line = i}, std::make_shared<const SearchOptions>(options), Wanted::log_probs,
        [&all, i](std::vector<Hypothesis> best) { all[i].best = std::move(best); }, {}, {},
        [&all, i](const Hypothesis&, Alignment alignment) { all[i].alignments.push_back(std::move(alignment)); });
  while (!search.idle()) search.step();
  return all;
}

}  // namespace dragoman
