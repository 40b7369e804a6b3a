#include "serve/libretranslate.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/number.h"
#include "serve/api_description.h"
#include "serve/fields.h"
#include "serve/language_names.h"
#include "serve/text_job.h"

namespace dragoman {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string text_field(const json& fields, const char* name) {
  const auto found = fields.find(name);
  if (found == fields.end()) refuse(400, "Invalid request: missing {} parameter", name);
  if (!found->is_string()) refuse(400, "Invalid request: {} parameter is not text", name);
  return found->get<std::string>();
}

std::string key_in(const json& fields) { return fields.contains("api_key") ? text_field(fields, "api_key") : ""; }

std::vector<std::string> texts_in(const json& fields) {
  const auto q = fields.find("q");
  if (q == fields.end()) refuse(400, "Invalid request: missing q parameter");
  if (!q->is_array()) return {text_field(fields, "q")};
  std::vector<std::string> texts;
  for (const json& text : *q) {
    if (!text.is_string()) refuse(400, "Invalid request: q has an entry that is not text");
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

// Forms have numbers as text.
int alternatives_in(const json& fields, int most) {
  const auto found = fields.find("alternatives");
  if (found == fields.end() || *found == json("")) return 0;
  int number = -1;
  if (found->is_number_integer()) {
    number = int(std::clamp<int64_t>(found->get<int64_t>(), -1, most + 1));
  } else if (found->is_string()) {
    number = parse_number<int>(found->get_ref<const std::string&>()).value_or(-1);
  }
  if (number < 0) refuse(400, "Invalid request: alternatives parameter must be a number");
  if (number > most) refuse(400, "Invalid request: alternatives parameter must be <= {}", most);
  return number;
}

DocumentFormat format_in(const json& fields) {
  const std::string format = fields.contains("format") ? text_field(fields, "format") : "";
  if (format.empty()) return DocumentFormat::text;
  const auto known = from_name<DocumentFormat>(format);
  if (!known) refuse(400, "{} format is not supported", format);
  return *known;
}

ordered_json without_best(const std::vector<std::string>& best) {
  return std::vector<std::string>(best.begin() + 1, best.end());
}

ordered_json detected(const DetectedLanguage& found) {
  return {{"confidence", std::lround(100 * found.confidence)}, {"language", found.language}};
}

// The answer to a single text is a text, to an array an array.
ordered_json answer_of(const std::vector<TextResult>& results, bool several, bool alternatives) {
  ordered_json translations = ordered_json::array(), others = ordered_json::array();
  for (const TextResult& result : results) {
    translations.push_back(result.best[0]);
    others.push_back(without_best(result.best));
  }
  ordered_json answer = {{"translatedText", several ? translations : translations[0]}};
  if (alternatives) answer["alternatives"] = several ? others : others[0];
  return answer;
}

void translate_request(Service& service, const std::shared_ptr<Exchange>& exchange) {
  const json fields = fields_of(exchange->request());
  service.require_key(exchange->request(), key_in(fields));
  TextJob job;
  job.texts = texts_in(fields);
  job.search = service.options();
  const std::string source = text_field(fields, "source"), target = text_field(fields, "target");
  const DetectedLanguage language = service.source_of(job.texts, source, target);
  job.choose(service.model_for(language.language, target));
  job.format = format_in(fields);
  const int alternatives = alternatives_in(fields, service.options().max_alternatives);
  if (alternatives > 0) {
    job.search.n_best = alternatives + 1;
    job.search.beam_size = std::max(job.search.beam_size, alternatives + 1);
  }
  const bool several = fields["q"].is_array();
  const bool adds_detected_language = source == "auto" && !language.language.empty();
  translate_texts(
      service, exchange, std::move(job), nullptr,
      [exchange, several, alternatives, adds_detected_language, language](const std::vector<TextResult>& results) {
        ordered_json answer = answer_of(results, several, alternatives > 0);
        if (adds_detected_language) {
          const std::vector<ordered_json> each(results.size(), detected(language));
          answer["detectedLanguage"] = several ? ordered_json(each) : each[0];
        }
        respond(*exchange, answer);
      });
}

ordered_json language(const std::string& code) { return {{"code", code}, {"name", language_name(code)}}; }

/// The languages of a model as /languages names them: und (undetermined) stands for whatever a request names.
struct ListedLanguages {
  std::vector<std::string> sources, targets;
};

ListedLanguages listed_languages(const ServedModels& models, size_t model) {
  if (!models[model].source.empty()) return {{models[model].source}, {models[model].target}};
  LanguageChoice choice = models.languages(model);
  for (auto* languages : {&choice.sources, &choice.targets})
    if (languages->empty()) languages->push_back("und");
  return {std::move(choice.sources), std::move(choice.targets)};
}

void list_languages(Service& service, const std::shared_ptr<Exchange>& exchange) {
  std::map<std::string, std::set<std::string>> targets;
  for (size_t i = 0; i < service.models().size(); ++i) {
    const ListedLanguages model = listed_languages(service.models(), i);
    for (const std::string& target : model.targets) targets[target];
    for (const std::string& source : model.sources)
      for (const std::string& target : model.targets)
        if (source != target || model.sources.size() == 1) targets[source].insert(target);
  }
  ordered_json all = ordered_json::array();
  for (const auto& [code, into] : targets) {
    ordered_json entry = language(code);
    entry["targets"] = into;
    all.push_back(entry);
  }
  respond(*exchange, all);
}

void detect(Service& service, const std::shared_ptr<Exchange>& exchange) {
  const json fields = fields_of(exchange->request());
  service.require_key(exchange->request(), key_in(fields));
  const auto texts = texts_in(fields);
  service.take_characters(characters_of(texts));
  ordered_json languages = ordered_json::array();
  for (const DetectedLanguage& found : service.detect(texts))
    if (languages.empty() || std::lround(100 * found.confidence) > 0) languages.push_back(detected(found));
  respond(*exchange, languages);
}

void frontend_settings(Service& service, const std::shared_ptr<Exchange>& exchange) {
  const ListedLanguages first = listed_languages(service.models(), 0);
  const bool keys = service.keys().needed();
  respond(*exchange,
          {{"apiKeys", keys},
           {"charLimit", service.options().max_characters},
           {"filesTranslation", false},
           {"frontendTimeout", 500},
           {"keyRequired", keys},
           {"language",
            {{"source", language(first.sources[0])},
             {"target", language(first.targets[first.targets[0] == first.sources[0] && first.targets.size() > 1])}}},
           {"suggestions", false},
           {"supportedFilesFormat", ordered_json::array()}});
}

// A process that has lost its GPU cannot use it again: whoever watches /health should start another.
void health(Service& service, const std::shared_ptr<Exchange>& exchange) {
  if (!service.device_failure().empty()) refuse(503, "{}", service.device_failure());
  respond(*exchange, {{"status", "ok"}});
}

void spec(Service&, const std::shared_ptr<Exchange>& exchange) { exchange->respond({.body = api_description()}); }

}  // namespace

std::span<const Route> libretranslate_routes() {
  static const Route routes[] = {{"POST", "/translate", translate_request, true},
                                 {"POST", "/detect", detect, true},
                                 {"GET", "/languages", list_languages},
                                 {"GET", "/frontend/settings", frontend_settings},
                                 {"GET", "/health", health},
                                 {"GET", "/spec", spec}};
  return routes;
}

}  // namespace dragoman
