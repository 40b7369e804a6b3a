#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "decode/translation.h"
#include "interop/languages.h"

namespace dragoman {

/// Identifies a job of a TranslationWorker, to cancel it.
using JobTicket = uint64_t;

/// Calls a function on another thread, soon, and in the order of calls. Any thread may call it.
using Post = std::function<void(std::function<void()>)>;

/// How a request wants its texts to be translated.
struct RequestOptions {
  SearchOptions search;
  std::string prefix;                           // of the first text's translation
  std::map<std::string, std::string> glossary;  // terms and their translations; they take precedence over --glossary
  std::vector<std::string> avoid;               // phrases that must not occur, besides those of --avoid
  bool alignment = false;                       // an Error if the model has no cross-attention
  Languages languages;                          // that it names: "" or "und" (undetermined): none
};

/// Sentences to translate. A TranslationWorker posts calls of the functions: one of `done`
/// and `failed`, once; none after cancel(), except those posted before.
struct TranslationJob : RequestOptions {
  std::vector<std::string> sentences;  // one line each
  std::vector<std::string> tags;       // TextRequest::tags of each; empty: none
  Wanted wanted = Wanted::log_probs;
  bool links = false;  // as `alignment`, but left out if the model has no cross-attention
  // Called with the beginning of a sentence's best translation as it grows, and at last with the whole text; or null.
  std::function<void(size_t sentence, const std::string& text, bool whole)> partial;
  std::function<void(std::vector<std::vector<Translation>> best)> done;  // n best of each sentence
  std::function<void(std::exception_ptr error)> failed;
};

/// Pairs of lines to score.
struct ScoringJob {
  std::vector<std::string> sources, targets;                            // of equal length
  Languages languages;                                                  // as of RequestOptions
  std::function<void(std::vector<std::vector<float>> log_probs)> done;  // of each target token, </s> included
  std::function<void(std::exception_ptr error)> failed;
};

}  // namespace dragoman
