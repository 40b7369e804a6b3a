#pragma once
#include <memory>
#include <string>
#include <vector>

namespace dragoman {

class Engine;

struct TextTranslatorOptions {
  std::vector<std::string> models;  // files; several translate together and have the same vocabularies
  int beam_size = 5;                // hypotheses a sentence; 1 is greedy search
  double normalize = 1;             // divide log-probabilities by length^normalize
  int max_length = 1000;            // pieces; longer lines are translated in parts
};

/// Translates lines of text as `dragoman translate` does with these options. Several translators may be in use at once,
/// on one engine or on several; each of them is used by one thread at a time.
class [[gnu::visibility("default")]] TextTranslator {
 public:
  /// Loads the models. Error for files that are no models, models that cannot translate together and options out of
  /// bounds. The engine outlives the translator.
  TextTranslator(Engine & engine, TextTranslatorOptions options);
  ~TextTranslator();
  TextTranslator(const TextTranslator&) = delete;

  /// The best translation of each line. Lines are translated independently; many at once are faster than one by one.
  std::vector<std::string> translate(const std::vector<std::string>& lines);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace dragoman
