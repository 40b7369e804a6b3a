#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "serve/jobs.h"
#include "serve/service.h"
#include "text/document.h"

namespace dragoman {

/// Texts of a request, translated with the same options.
struct TextJob : RequestOptions {
  size_t model = 0;
  std::vector<std::string> texts;
  DocumentFormat format = DocumentFormat::text;
  bool scores = false;  // log-probabilities, too

  void choose(ModelChoice choice) { model = choice.model, languages = std::move(choice.languages); }
};

/// A translated text.
struct TextResult {
  std::vector<std::string> best;                       // the whole text, once for each of the n best
  std::vector<std::string> sentences;                  // of the source
  std::vector<std::vector<Translation>> of_sentences;  // n best of each
};

/// Translates for an exchange, stops if it is abandoned, and answers with an error if translating fails. Both
/// functions are called on the server's thread: `partial`, unless null, with what the translation of the first text, if
/// it is plain, has in addition to what it was called with before; `done` once.
void translate_texts(Service& service, const std::shared_ptr<Exchange>& exchange, TextJob job,
                     std::function<void(const std::string& more)> partial,
                     std::function<void(std::vector<TextResult> results)> done);

/// Answers with the error; in a stream that has begun, as an event "error".
void answer_failure(Service& service, Exchange& exchange, const std::exception_ptr& error);

}  // namespace dragoman
