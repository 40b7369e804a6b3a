#include "dragoman/text_translator.h"

#include <optional>

#include "base/error.h"
#include "decode/loaded_ensemble.h"
#include "decode/translator.h"
#include "dragoman/engine.h"

namespace dragoman {

struct TextTranslator::State {
  State(Engine& used, const TextTranslatorOptions& options)
      : engine(used),
        ensemble({.models = options.models}, engine.backend()),
        translating{.max_length = options.max_length},
        search{.beam_size = options.beam_size, .normalize = options.normalize} {}

  Engine& engine;
  const LoadedEnsemble ensemble;
  const TranslateOptions translating;
  const SearchOptions search;
  std::optional<Translator> translator;
};

namespace {

void check(const TextTranslatorOptions& options) {
  require(!options.models.empty(), "no model to translate with");
  require(options.beam_size >= 1 && options.beam_size <= 1024, "a beam of {}, expected 1 to 1024", options.beam_size);
  require(options.normalize >= 0 && options.normalize <= 10, "normalize is {}, expected 0 to 10", options.normalize);
  require(options.max_length >= 1, "max_length is {}, expected 1 or more", options.max_length);
}

}  // namespace

TextTranslator::TextTranslator(Engine& engine, TextTranslatorOptions options)
    : state_([&] {
        check(options);
        const Engine::Scope scope(engine);
        return std::make_unique<State>(engine, options);
      }()) {}

TextTranslator::~TextTranslator() = default;

std::vector<std::string> TextTranslator::translate(const std::vector<std::string>& lines) {
  State& s = *state_;
  const Engine::Scope scope(s.engine);
  if (!s.translator)
    s.translator.emplace(s.ensemble.models(), s.ensemble.vocabularies(), s.translating, s.search,
                         s.ensemble.shortlist(), searches_on(s.engine.backend()));
  try {
    return s.translator->translate(lines);
  } catch (...) {
    s.translator.reset();  // what it was at is lost; the next call begins anew
    throw;
  }
}

}  // namespace dragoman
