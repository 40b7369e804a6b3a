#pragma once
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dragoman/text_translator.h"

namespace dragoman {

/// How a request ended: with translations, with an error, or cancelled.
struct TranslationAnswer {
  std::vector<TranslatedText> best;    // n_best of them, best first; empty if the request failed or was cancelled
  std::exception_ptr error = nullptr;  // why the request failed; null if it did not
  bool cancelled = false;
};

/// A TextTranslator with a thread of its own, for programs that submit from several threads or have no loop that could
/// call step(). Texts of all threads are translated together; threads with many queued texts take turns. Thread-safe.
class [[gnu::visibility("default")]] BackgroundTranslator {
 public:
  using Ticket = TextTranslator::Ticket;
  using Answered = std::function<void(TranslationAnswer answer)>;

  /// Loads the models as TextTranslator does, and keeps the engine.
  BackgroundTranslator(std::shared_ptr<Engine> engine, TextTranslatorOptions options);
  /// Cancels unfinished requests and waits until all are answered; does not wait if called by a function `answered`.
  ~BackgroundTranslator();
  BackgroundTranslator(const BackgroundTranslator&) = delete;

  /// The options that the translator was made with.
  const SearchOptions& search() const;

  /// TextTranslator::glossary().
  std::shared_ptr<const Glossary> glossary(const std::map<std::string, std::string>& terms) const;

  /// TextTranslator::forbidden_phrases().
  std::shared_ptr<const ForbiddenPhrases> forbidden_phrases(const std::vector<std::string>& phrases) const;

  /// Queues a text. `answered` is called exactly once, in the translator's thread, and delays the other texts while it
  /// runs. It may submit and cancel; its exceptions are logged. The same holds for `request.partial`, which may be
  /// called several times before `answered`. Error for invalid options, for a translator that is being destroyed, and
  /// in a child of fork(): then neither is called.
  Ticket submit(TranslationRequest request, Answered answered);

  /// Cancels a text. True: it will be answered as cancelled. False: it has been answered, or is about to be.
  bool cancel(Ticket ticket);

  /// The n_best translations of each line: submits all, numbered from 0, and waits. Errors as in submit(); also an
  /// Error if called by a function `answered`, where it would wait for itself. The error of a line is thrown once all
  /// are answered.
  std::vector<std::vector<TranslatedText>> translate(const std::vector<std::string>& lines,
                                                     const SearchOptions& search);

 private:
  class Worker;
  std::shared_ptr<Worker> worker_;  // shared with its thread
};

}  // namespace dragoman
