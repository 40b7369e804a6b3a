#include "capi/engine.h"
#include "capi/error.h"
#include "capi/options.h"
#include "dragoman/background_translator.h"

struct dragoman_translator {
  dragoman::BackgroundTranslator background;
};

struct dragoman_glossary {
  std::shared_ptr<const dragoman::Glossary> glossary;
};

struct dragoman_forbidden_phrases {
  std::shared_ptr<const dragoman::ForbiddenPhrases> forbidden;
};

struct dragoman_translations {
  std::vector<std::vector<dragoman::TranslatedText>> texts;
};

namespace dragoman {
namespace {

// Null: there is none.
const TranslatedText* find(const dragoman_translations* translations, size_t text, size_t rank) {
  return rank < dragoman_translations_count(translations, text) ? &translations->texts[text][rank] : nullptr;
}

struct Outcome {
  dragoman_status status = DRAGOMAN_OK;
  dragoman_translations translations;
  dragoman_error error;
};

// Running out of memory here is reported as an outcome, too.
Outcome outcome_of(TranslationAnswer given) noexcept {
  Outcome outcome;
  try {
    if (given.cancelled) return {DRAGOMAN_CANCELLED, {}, {"the request was cancelled", ""}};
    if (given.error) {
      Failure failure = failure_of(given.error);
      return {failure.status, {}, std::move(failure.error)};
    }
    outcome.translations.texts.push_back(std::move(given.best));
  } catch (...) {
    outcome = {DRAGOMAN_OUT_OF_MEMORY, {}, {"out of memory", ""}};
  }
  return outcome;
}

void answer(const dragoman_request& request, TranslationAnswer given) {
  const Outcome outcome = outcome_of(std::move(given));
  const bool ok = outcome.status == DRAGOMAN_OK;
  request.answer(request.context, outcome.status, ok ? &outcome.translations : nullptr, ok ? nullptr : &outcome.error);
}

std::function<void(const std::string&)> partial_of(const dragoman_request& request) {
  if (!request.partial) return {};
  return [request](const std::string& text) { request.partial(request.context, text.c_str()); };
}

}  // namespace
}  // namespace dragoman

using dragoman::guarded, dragoman::require_given, dragoman::find;

dragoman_status dragoman_translator_new(dragoman_engine* engine, const dragoman_translator_options* options,
                                        dragoman_translator** translator, dragoman_error** error) {
  return guarded(error, [&] {
    require_given(engine, "engine");
    require_given(translator, "translator");
    *translator = new dragoman_translator{{engine->engine, dragoman::read(options)}};
  });
}

void dragoman_translator_free(dragoman_translator* translator) { delete translator; }

dragoman_status dragoman_translate(dragoman_translator* translator, const char* const* texts, size_t count,
                                   const dragoman_search_options* search, dragoman_translations** translations,
                                   dragoman_error** error) {
  return guarded(error, [&] {
    require_given(translator, "translator");
    require_given(translations, "translations");
    auto& background = translator->background;
    *translations = new dragoman_translations{
        background.translate(dragoman::texts_of(texts, count, "texts"), dragoman::read(search, background.search()))};
  });
}

dragoman_status dragoman_glossary_new(dragoman_translator* translator, const char* const* terms,
                                      const char* const* translations, size_t count, dragoman_glossary** glossary,
                                      dragoman_error** error) {
  return guarded(error, [&] {
    require_given(translator, "translator");
    require_given(glossary, "glossary");
    const auto sources = dragoman::texts_of(terms, count, "terms");
    const auto targets = dragoman::texts_of(translations, count, "translations");
    std::map<std::string, std::string> all;
    for (size_t i = 0; i < count; ++i) {
      const std::string& kept = all.emplace(sources[i], targets[i]).first->second;
      dragoman::require(kept == targets[i], "glossary: '{}' has another translation", sources[i]);
    }
    *glossary = new dragoman_glossary{translator->background.glossary(all)};
  });
}

void dragoman_glossary_free(dragoman_glossary* glossary) { delete glossary; }

dragoman_status dragoman_forbidden_phrases_new(dragoman_translator* translator, const char* const* phrases,
                                               size_t count, dragoman_forbidden_phrases** forbidden,
                                               dragoman_error** error) {
  return guarded(error, [&] {
    require_given(translator, "translator");
    require_given(forbidden, "forbidden");
    *forbidden = new dragoman_forbidden_phrases{
        translator->background.forbidden_phrases(dragoman::texts_of(phrases, count, "phrases"))};
  });
}

void dragoman_forbidden_phrases_free(dragoman_forbidden_phrases* forbidden) { delete forbidden; }

dragoman_status dragoman_submit(dragoman_translator* translator, const dragoman_request* request, uint64_t* ticket,
                                dragoman_error** error) {
  return guarded(error, [&] {
    require_given(translator, "translator");
    require_given(request, "request");
    auto& background = translator->background;
    const dragoman_request full_request = dragoman::read(request);
    const auto submitted = background.submit(
        {.text = full_request.text,
         .search = dragoman::read(full_request.search, background.search()),
         .prefix = dragoman::text_of(full_request.prefix),
         .glossary = full_request.glossary ? full_request.glossary->glossary : nullptr,
         .avoid = full_request.avoid ? full_request.avoid->forbidden : nullptr,
         .alignment = full_request.alignment != 0,
         .line = full_request.line,
         .partial = dragoman::partial_of(full_request)},
        [full_request](dragoman::TranslationAnswer given) { dragoman::answer(full_request, std::move(given)); });
    if (ticket) *ticket = submitted;
  });
}

int dragoman_cancel(dragoman_translator* translator, uint64_t ticket) {
  bool cancelled = false;
  const auto status = guarded(nullptr, [&] { cancelled = translator && translator->background.cancel(ticket); });
  return status == DRAGOMAN_OK && cancelled;
}

size_t dragoman_translations_texts(const dragoman_translations* translations) {
  return translations ? translations->texts.size() : 0;
}

size_t dragoman_translations_count(const dragoman_translations* translations, size_t text) {
  return text < dragoman_translations_texts(translations) ? translations->texts[text].size() : 0;
}

const char* dragoman_translations_text(const dragoman_translations* translations, size_t text, size_t rank) {
  const auto* found = find(translations, text, rank);
  return found ? found->text.c_str() : nullptr;
}

double dragoman_translations_score(const dragoman_translations* translations, size_t text, size_t rank) {
  const auto* found = find(translations, text, rank);
  return found ? found->score : 0;
}

double dragoman_translations_log_prob(const dragoman_translations* translations, size_t text, size_t rank) {
  const auto* found = find(translations, text, rank);
  return found ? found->log_prob : 0;
}

const float* dragoman_translations_token_log_probs(const dragoman_translations* translations, size_t text, size_t rank,
                                                   size_t* count) {
  const auto* found = find(translations, text, rank);
  if (count) *count = found ? found->token_log_probs.size() : 0;
  return found ? found->token_log_probs.data() : nullptr;
}

const char* dragoman_translations_piece(const dragoman_translations* translations, size_t text, size_t rank,
                                        size_t token) {
  const auto* found = find(translations, text, rank);
  return found && token < found->pieces.size() ? found->pieces[token].c_str() : nullptr;
}

size_t dragoman_translations_links(const dragoman_translations* translations, size_t text, size_t rank) {
  const auto* found = find(translations, text, rank);
  return found ? found->words.size() : 0;
}

dragoman_linked_words dragoman_translations_link(const dragoman_translations* translations, size_t text, size_t rank,
                                                 size_t link) {
  if (link >= dragoman_translations_links(translations, text, rank)) return {};
  const auto& words = find(translations, text, rank)->words[link];
  return {words.source_begin, words.source_end, words.target_begin, words.target_end};
}

void dragoman_translations_free(dragoman_translations* translations) { delete translations; }
