#pragma once
#include "decode/beam_search.h"

namespace dragoman {

/// As beam_search(), with alignments.
inline std::vector<std::vector<Hypothesis>> aligned_search(Context& cx, Model& model, const SearchOptions& options,
                                                           int64_t tokens,
                                                           const std::vector<std::vector<int32_t>>& sources) {
  std::vector<Ensemble::Member> alone;
  alone.push_back({model.decode(cx)});
  Search search(Ensemble(cx, std::move(alone), conventions_of(model.config())), tokens);
  std::vector<std::vector<Hypothesis>> found(sources.size());
  for (size_t i = 0; i < sources.size(); ++i)
    search.add({.source = sources[i], .line = i, .align = true}, std::make_shared<const SearchOptions>(options),
               Wanted::log_probs, [&found, i](std::vector<Hypothesis> best) { found[i] = std::move(best); });
  while (!search.idle()) search.step();
  return found;
}

}  // namespace dragoman
