#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dragoman/linked_words.h"
#include "dragoman/search_options.h"

namespace dragoman {

class Engine;
class ForbiddenPhrases;  // made by a translator
class Glossary;          // likewise

struct TextTranslatorOptions {
  std::vector<std::string> models = {};  // files; several translate together and have the same vocabularies
  std::vector<double> weights = {};      // of several models; empty: they count equally
  EnsembleMean ensemble_mean = EnsembleMean::automatic;
  Precision precision = Precision::automatic;
  std::string glossary = {};   // file of terms whose translations must occur: `translate --glossary`; empty: none
  std::string avoid = {};      // file of phrases that must not occur: `translate --avoid`; empty: none
  std::string shortlist = {};  // file of `dragoman align` or of Marian; empty: all pieces are allowed
  std::vector<std::string> vocabs = {};  // for models of other programs, if no file beside them names them
  std::string source_lang = {};          // for multilingual models; empty: as stored in the model
  std::string target_lang = {};
  SearchOptions search = {};  // of translate()
  int max_length = 1000;      // pieces; longer lines are translated in segments
};

/// One of the translations of a line.
struct TranslatedText {
  std::string text;
  double log_prob = 0;  // of the tokens, summed
  /// Orders the translations of a line: log_prob, normalised as SearchOptions say. For a line in segments, the sum of
  /// their scores.
  double score = 0;
  std::vector<float> token_log_probs;  // of each token, ends of sentences included
  std::vector<std::string> pieces;     // the same tokens as text, such as "▁house" and "</s>"
  std::vector<LinkedWords> words;      // if requested (TranslationRequest::alignment), in the order of the translation
};

/// A text to translate with options of its own.
struct TranslationRequest {
  std::string text = {};  // one line: a line break in it is read as a blank
  SearchOptions search = {};
  std::string prefix = {};                        // forced prefix of the translation
  std::vector<std::string> phrases = {};          // that it must contain, if the search finds a way; not with sampling
  std::shared_ptr<const Glossary> glossary = {};  // TextTranslator::glossary(); not with sampling; null: none
  std::shared_ptr<const ForbiddenPhrases> avoid = {};  // TextTranslator::forbidden_phrases(); null: none
  bool scores = true;  // compute log-probabilities and scores, and give the pieces; without, there are no pieces, the
                       // numbers are undefined, and greedy search is faster
  bool alignment = false;  // link words of the translation to those of the text, by the attention between them; an
                           // Error for a model without cross-attention
  uint64_t line = 0;  // number that sampling draws by, together with the seed: the index of this text among several
  /// Receives the beginning of the best translation each time more of it is decided; see docs/embedding.md. Must not
  /// throw. null: not requested.
  std::function<void(const std::string& text)> partial = {};
};

/// Translates lines of text as `dragoman translate` does with these options. Several translators may be in use at once,
/// on one engine or on several; each of them is used by one thread at a time.
class [[gnu::visibility("default")]] TextTranslator {
 public:
  /// Loads the models. Error for files that are not models, for models that cannot translate together, and for options
  /// out of bounds, which messages name as on the command line. The engine must outlive the translator.
  TextTranslator(Engine & engine, TextTranslatorOptions options);
  ~TextTranslator();
  TextTranslator(const TextTranslator&) = delete;

  /// The best translation of each line; a line break within one is read as a blank. Lines are translated independently;
  /// many at once are faster than one by one.
  std::vector<std::string> translate(const std::vector<std::string>& lines);

  /// Terms and the translations that must occur where they do, as of a file TextTranslatorOptions::glossary, whose
  /// terms count too unless they are among these. For requests to translators with the same vocabulary. Error for a
  /// term or a translation without text, and for characters that the model's vocabulary lacks. Any thread may call it.
  std::shared_ptr<const Glossary> glossary(const std::map<std::string, std::string>& terms) const;

  /// Phrases that must not occur, as of a file TextTranslatorOptions::avoid, whose phrases must not either. For
  /// requests to translators with the same vocabulary. Error for a phrase without text, and for one that is not UTF-8.
  /// Any thread may call it.
  std::shared_ptr<const ForbiddenPhrases> forbidden_phrases(const std::vector<std::string>& phrases) const;

  using Ticket = uint64_t;
  using Done = std::function<void(std::vector<TranslatedText> best)>;  // n_best of them, best first; at least one
  using Failed = std::function<void(std::exception_ptr error)>;

  /// Queues a text; step() translates all queued texts. One of the functions is called in the thread that calls step():
  /// `done`, or `failed` if there is no memory for this text, which does not affect the others. Both may submit and
  /// cancel. `request.partial` is called during a step(), possibly in one of the engine's threads; for several
  /// requests, calls may be concurrent. The translation depends on the request alone. Error for invalid options.
  Ticket submit(TranslationRequest request, Done done, Failed failed);

  /// Cancels a text: none of its functions is called any more. False if it is done.
  bool cancel(Ticket ticket);

  /// Extends all translations by one or more tokens and answers those that are done. False if nothing was left to do.
  /// An exception from step() or translate() ends all requests without calling their functions.
  bool step();

 private:
  friend class BackgroundTranslator;
  // Whether so few texts wait that more of them would improve throughput.
  bool wants_more() const;
  // Error for options that submit() refuses. Any thread may call it.
  void require_valid(const TranslationRequest& request) const;

  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace dragoman
