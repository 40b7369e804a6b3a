#include "dragoman/text_translator.h"

#include <optional>

#include "align/model_alignment.h"
#include "base/error.h"
#include "base/utf8.h"
#include "decode/linked_words.h"
#include "decode/loaded_ensemble.h"
#include "decode/translator.h"
#include "dragoman/engine.h"

namespace dragoman {
namespace {

EnsembleOptions ensemble_of(const TextTranslatorOptions& o) {
  return {.models = o.models,
          .weights = o.weights,
          .mean = o.ensemble_mean,
          .precision = o.precision,
          .glossary = o.glossary,
          .avoid = o.avoid,
          .shortlist = o.shortlist,
          .vocabs = o.vocabs,
          .source_lang = o.source_lang,
          .target_lang = o.target_lang};
}

void check(const TextTranslatorOptions& options) {
  require(!options.models.empty(), "no model to translate with");
  require(options.max_length >= 1, "max_length is {}, expected 1 or more", options.max_length);
  require(options.glossary.empty() || options.search.sampling == Sampling::none,
          "a glossary is for a search: sampling cannot make translations contain its terms");
  validate(ensemble_of(options));
  validate(resolved(options.search));
}

// `source`: of translations whose words are to be linked; else empty.
std::vector<TranslatedText> texts_of(std::vector<Translation> translations, const Vocabulary& target, bool scores,
                                     const std::string& source) {
  std::vector<TranslatedText> texts;
  for (Translation& t : translations) {
    auto words = source.empty() ? std::vector<LinkedWords>() : linked_words(source, t);
    texts.push_back({std::move(t.text), t.log_prob, t.score, std::move(t.piece_log_probs), {}, std::move(words)});
    if (!scores) continue;
    for (const int32_t id : t.ids) texts.back().pieces.push_back(target.piece(id));
  }
  return texts;
}

}  // namespace

struct TextTranslator::State {
  State(Engine& used, const TextTranslatorOptions& options)
      : engine(used),
        ensemble(ensemble_of(options), engine.backend()),
        translating{.max_length = options.max_length},
        search(resolved(options.search)) {}

  /// Runs f(translator) on the engine. If f throws, pending requests are lost, and the next call starts with a new
  /// translator; not if it is called by a callback, during a step of the translator.
  template <class F>
  auto run(const F& f) {
    const Engine::Scope scope(engine);
    if (!translator)
      translator.emplace(ensemble.models(), ensemble.vocabularies(), translating, search, ensemble.word_constraints(),
                         searches_on(engine.backend()));
    struct Calls {
      explicit Calls(int& running) : running(running) { ++running; }
      ~Calls() { --running; }
      int& running;
    } const call(calls);
    try {
      return f(*translator);
    } catch (...) {
      if (calls == 1) translator.reset();
      throw;
    }
  }

  Engine& engine;
  const LoadedEnsemble ensemble;
  const TranslateOptions translating;
  const SearchOptions search;
  std::optional<Translator> translator;
  int calls = 0;  // of run() that are under way
};

TextTranslator::TextTranslator(Engine& engine, TextTranslatorOptions options)
    : state_([&] {
        check(options);
        const Engine::Scope scope(engine);
        return std::make_unique<State>(engine, options);
      }()) {}

TextTranslator::~TextTranslator() = default;

std::vector<std::string> TextTranslator::translate(const std::vector<std::string>& lines) {
  return state_->run([&](Translator& translator) { return translator.translate(lines); });
}

std::shared_ptr<const Glossary> TextTranslator::glossary(const std::map<std::string, std::string>& terms) const {
  return std::make_shared<const Glossary>(terms, state_->ensemble.vocabularies().target);
}

std::shared_ptr<const ForbiddenPhrases> TextTranslator::forbidden_phrases(
    const std::vector<std::string>& phrases) const {
  return std::make_shared<const ForbiddenPhrases>(phrases, state_->ensemble.piece_texts());
}

// Before run(), where an exception ends all requests.
void TextTranslator::require_valid(const TranslationRequest& request) const {
  validate(resolved(request.search));
  const LoadedEnsemble& ensemble = state_->ensemble;
  if (!request.phrases.empty() || request.glossary || ensemble.word_constraints().glossary)
    require_search(request.search);
  require(!request.glossary || request.glossary->is_for(ensemble.vocabularies().target),
          "the glossary was made for a model with another vocabulary");
  require(!request.avoid || request.avoid->is_for(ensemble.vocabularies().target),
          "the phrases to avoid were made for a model with another vocabulary");
  if (request.alignment) require_cross_attention(ensemble.models()[0].model->config());
}

TextTranslator::Ticket TextTranslator::submit(TranslationRequest request, Done done, Failed failed) {
  require_valid(request);
  const SearchOptions search = resolved(request.search);
  require(done && failed, "a function that receives the answer is empty");
  std::string source = request.alignment ? request.text : "";
  clean_utf8(source);
  return state_->run([&](Translator& translator) {
    return translator.submit(
        {.text = std::move(request.text),
         .search = search,
         .prefix = std::move(request.prefix),
         .phrases = std::move(request.phrases),
         .glossary = std::move(request.glossary),
         .avoid = std::move(request.avoid),
         .wanted = request.scores ? Wanted::log_probs : Wanted::pieces,
         .alignment = request.alignment,
         .line = request.line,
         .partial = std::move(request.partial)},
        [done = std::move(done), &target = state_->ensemble.vocabularies().target, scores = request.scores,
         source = std::move(source)](std::vector<Translation> best) {
          done(texts_of(std::move(best), target, scores, source));
        },
        std::move(failed));
  });
}

bool TextTranslator::cancel(Ticket ticket) {
  return state_->run([&](Translator& translator) { return translator.cancel(ticket); });
}

bool TextTranslator::wants_more() const { return !state_->translator || state_->translator->wants_more(); }

bool TextTranslator::step() {
  return state_->run([&](Translator& translator) { return !translator.idle() && (translator.step(), true); });
}

}  // namespace dragoman
