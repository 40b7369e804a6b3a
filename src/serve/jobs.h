#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "decode/translation.h"

namespace dragoman {

/// Names a job that a TranslationWorker has, to cancel it.
using JobTicket = uint64_t;

/// Has another thread call a function, soon, and in the order of calls. Any thread may call it.
using Post = std::function<void(std::function<void()>)>;

/// Sentences to translate, with options of their own. A TranslationWorker posts calls of the functions: one of `done`
/// and `failed`, once; none after cancel(), but for what it has posted before.
struct TranslationJob {
  std::vector<std::string> sentences;  // one line each
  SearchOptions search;
  std::string prefix;  // of the first sentence's translation
  Wanted wanted = Wanted::log_probs;
  bool alignment = false;  // an Error where the model has no cross-attention
  bool links = false;      // likewise, but left out there
  // Told what a sentence's best translation begins with, as it grows, and at last its whole text. null: not requested
  std::function<void(size_t sentence, const std::string& text, bool whole)> begun;
  std::function<void(std::vector<std::vector<Translation>> best)> done;  // n best of each sentence
  std::function<void(std::exception_ptr error)> failed;
};

/// Pairs of lines to score.
struct ScoringJob {
  std::vector<std::string> sources, targets;                            // as many
  std::function<void(std::vector<std::vector<float>> log_probs)> done;  // of each target token, </s> included
  std::function<void(std::exception_ptr error)> failed;
};

}  // namespace dragoman
