#include "dragoman/scorer.h"

#include "base/error.h"
#include "base/grouped.h"
#include "dragoman/engine.h"
#include "score/pair_scorer.h"

namespace dragoman {

struct Scorer::State {
  State(Engine& used, const ScorerOptions& o)
      : engine(used),
        scorer(o.model,
               {.mini_batch_words = o.mini_batch_words,
                .max_length = o.max_length,
                .vocabs = o.vocabs,
                .source_lang = o.source_lang,
                .target_lang = o.target_lang},
               engine.backend()) {}

  Engine& engine;
  PairScorer scorer;
};

Scorer::Scorer(Engine& engine, ScorerOptions options)
    : state_([&] {
        require(options.mini_batch_words >= 1, "mini_batch_words is {}, expected 1 or more", options.mini_batch_words);
        require(options.max_length >= 1, "max_length is {}, expected 1 or more", options.max_length);
        const Engine::Scope scope(engine);
        return std::make_unique<State>(engine, options);
      }()) {}

Scorer::~Scorer() = default;

std::vector<ScoredPair> Scorer::score(const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                                      int64_t pairs_before) {
  require(sources.size() == targets.size(), "there are {} and {}, expected the same number",
          counted(sources.size(), "source"), counted(targets.size(), "target"));
  const Engine::Scope scope(state_->engine);
  std::vector<ScoredPair> scored;
  for (PairScore& pair : state_->scorer.score({sources, targets}, {.lines_before = pairs_before}).all())
    scored.push_back({pair.log_prob(), std::move(pair.log_probs)});
  return scored;
}

}  // namespace dragoman
