#include "dragoman/text_translator.h"

#include <deque>
#include <optional>

#include "backend/registry.h"
#include "base/error.h"
#include "decode/translator.h"
#include "dragoman/engine.h"
#include "io/model_file.h"

namespace dragoman {

struct TextTranslator::State {
  State(Engine& used, const TextTranslatorOptions& options)
      : engine(used),
        arena(arena_of(engine.backend())),
        translating{.max_length = options.max_length},
        search{.beam_size = options.beam_size, .normalize = options.normalize} {
    for (const std::string& path : options.models) load(path, options);
  }

  void load(const std::string& path, const TextTranslatorOptions& options) {
    const ModelFile file(path);
    LoadedModel& m = loaded.emplace_back(load_model(file, engine.backend(), arena, file.stored_type()));
    const Vocabularies &first = loaded[0].vocabularies, &own = m.vocabularies;
    require(own.source.bytes() == first.source.bytes() && own.target.bytes() == first.target.bytes(),
            "{} and {} cannot translate together: their vocabularies differ", options.models[0], path);
    Context& cx = contexts.emplace_back(Context{.backend = engine.backend(), .arena = arena, .packed = &m.packed});
    models.push_back({&cx, m.model.get(), 1 / double(options.models.size()), m.trained.source});
  }

  Engine& engine;
  Arena arena;
  std::deque<LoadedModel> loaded;
  std::deque<Context> contexts;
  std::vector<TranslatingModel> models;
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
    s.translator.emplace(s.models, s.loaded[0].vocabularies, s.translating, s.search, nullptr,
                         searches_on(s.engine.backend()));
  try {
    return s.translator->translate(lines);
  } catch (...) {
    s.translator.reset();  // what it was at is lost; the next call begins anew
    throw;
  }
}

}  // namespace dragoman
