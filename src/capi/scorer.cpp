#include "dragoman/scorer.h"

#include <mutex>

#include "base/own_process.h"
#include "capi/engine.h"
#include "capi/error.h"
#include "capi/options.h"

struct dragoman_scorer {
  const std::shared_ptr<dragoman::Engine> engine;
  dragoman::Scorer scorer;
  std::mutex turn = {};
  const dragoman::OwnProcess process = {};
};

struct dragoman_scores {
  std::vector<dragoman::ScoredPair> pairs;
};

using dragoman::guarded, dragoman::require_given, dragoman::texts_of;

dragoman_status dragoman_scorer_new(dragoman_engine* engine, const dragoman_scorer_options* options,
                                    dragoman_scorer** scorer, dragoman_error** error) {
  return guarded(error, [&] {
    require_given(engine, "engine");
    require_given(scorer, "scorer");
    *scorer = new dragoman_scorer{engine->engine, {*engine->engine, dragoman::read(options)}};
  });
}

void dragoman_scorer_free(dragoman_scorer* scorer) { delete scorer; }

dragoman_status dragoman_score(dragoman_scorer* scorer, const char* const* sources, const char* const* targets,
                               size_t count, dragoman_scores** scores, dragoman_error** error) {
  return guarded(error, [&] {
    require_given(scorer, "scorer");
    require_given(scores, "scores");
    const auto source_texts = texts_of(sources, count, "sources"), target_texts = texts_of(targets, count, "targets");
    scorer->process.require_not_forked("scorer");
    const std::lock_guard turn(scorer->turn);
    *scores = new dragoman_scores{scorer->scorer.score(source_texts, target_texts)};
  });
}

size_t dragoman_scores_count(const dragoman_scores* scores) { return scores ? scores->pairs.size() : 0; }

double dragoman_scores_log_prob(const dragoman_scores* scores, size_t pair) {
  return pair < dragoman_scores_count(scores) ? scores->pairs[pair].log_prob : 0;
}

const float* dragoman_scores_token_log_probs(const dragoman_scores* scores, size_t pair, size_t* count) {
  const bool found = pair < dragoman_scores_count(scores);
  if (count) *count = found ? scores->pairs[pair].token_log_probs.size() : 0;
  return found ? scores->pairs[pair].token_log_probs.data() : nullptr;
}

void dragoman_scores_free(dragoman_scores* scores) { delete scores; }
