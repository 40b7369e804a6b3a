#include "serve/own_request.h"

#include <algorithm>
#include <span>

#include "base/error.h"
#include "base/json_text.h"
#include "base/nearest.h"
#include "decode/search_fields.h"
#include "model/config.h"
#include "serve/fields.h"

namespace dragoman {
namespace {

using nlohmann::json;

template <class T>
void read_number(T& value, const json& field, std::string_view name, Bounds bounds) {
  const bool whole = std::is_integral_v<T>;
  require(whole ? field.is_number_integer() : field.is_number(), "{} is {}, expected a {}number", name,
          json_text(field), whole ? "whole " : "");
  const double number = field.get<double>();
  require(bounds.contain(number), "{} is {}, expected {} to {}", name, number, bounds.low, bounds.high);
  value = field.get<T>();
}

void read_text(std::string& value, const json& field, std::string_view name) {
  require(field.is_string(), "{} is {}, expected text", name, field.type_name());
  value = field.get<std::string>();
}

void read_truth(bool& value, const json& field, std::string_view name) {
  require(field.is_boolean(), "{} is {}, expected true or false", name, field.type_name());
  value = field.get<bool>();
}

template <class E>
void read_choice(E& value, const json& field, std::string_view name) {
  std::string word;
  read_text(word, field, name);
  const auto found = from_name<E>(word);
  require(found.has_value(), "{} is '{}', expected one of {}", name, word, all_names<E>());
  value = *found;
}

void read_texts(std::vector<std::string>& texts, const json& field, std::string_view name) {
  for (const json& text : field.is_array() ? field : json::array({field})) read_text(texts.emplace_back(), text, name);
}

// A sentence takes memory for each occurrence of a term, as much as its translation is long.
void read_terms(std::map<std::string, std::string>& terms, const json& field) {
  constexpr size_t most_terms = 1000, longest = 1000;  // bytes
  require(field.is_object(), "glossary is {}, expected an object of terms and their translations", field.type_name());
  require(field.size() <= most_terms, "glossary has {} terms, expected at most {}", field.size(), most_terms);
  for (const auto& [term, translation] : field.items()) {
    const std::string name = fmt::format("glossary: the translation of '{}'", term);
    read_text(terms[term], translation, name);
    require(terms[term].size() <= longest, "{} has {} bytes, expected at most {}", name, terms[term].size(), longest);
  }
}

// The search compares a sentence with all of them, and a list of pieces to leave out grows with each.
void read_phrases(std::vector<std::string>& phrases, const json& field) {
  constexpr size_t most_phrases = 1000, longest = 1000;  // bytes
  require(field.is_array(), "avoid is {}, expected an array of phrases", field.type_name());
  require(field.size() <= most_phrases, "avoid has {} phrases, expected at most {}", field.size(), most_phrases);
  for (const json& phrase : field) {
    read_text(phrases.emplace_back(), phrase, "a phrase in avoid");
    require(phrases.back().size() <= longest, "a phrase in avoid has {} bytes, expected at most {}",
            phrases.back().size(), longest);
  }
}

void read_option(SearchOptions& search, const SearchField& option, const json& field) {
  std::visit(
      [&]<class T>(T SearchOptions::*member) {
        if constexpr (std::is_enum_v<T>)
          read_choice(search.*member, field, option.name);
        else if constexpr (std::is_same_v<T, bool>)
          read_truth(search.*member, field, option.name);
        else
          read_number(search.*member, field, option.name, option.of_requests.value_or(option.bounds));
      },
      option.member);
}

/// One parameter a row.
template <class Request>
struct Parameter {
  std::string_view name;
  void (*read)(Request&, const json&);
};

using R = TranslateRequest;
using S = ScoreRequest;

// Besides the options of the search.
constexpr Parameter<R> translate_parameters[] = {
    {"text", [](R& r, const json& f) { read_texts(r.job.texts, f, "text"); }},
    {"source", [](R& r, const json& f) { read_text(r.source, f, "source"); }},
    {"target", [](R& r, const json& f) { read_text(r.target, f, "target"); }},
    {"api_key", [](R& r, const json& f) { read_text(r.api_key, f, "api_key"); }},
    {"format", [](R& r, const json& f) { read_choice(r.job.format, f, "format"); }},
    {"prefix", [](R& r, const json& f) { read_text(r.job.prefix, f, "prefix"); }},
    {"glossary", [](R& r, const json& f) { read_terms(r.job.glossary, f); }},
    {"avoid", [](R& r, const json& f) { read_phrases(r.job.avoid, f); }},
    {"alignment", [](R& r, const json& f) { read_truth(r.job.alignment, f, "alignment"); }},
    {"scores", [](R& r, const json& f) { read_truth(r.scores, f, "scores"); }},
    {"stream", [](R& r, const json& f) { read_truth(r.stream, f, "stream"); }},
};

constexpr Parameter<S> score_parameters[] = {
    {"text", [](S& s, const json& f) { read_texts(s.sources, f, "text"); }},
    {"translation", [](S& s, const json& f) { read_texts(s.targets, f, "translation"); }},
    {"source", [](S& s, const json& f) { read_text(s.source, f, "source"); }},
    {"target", [](S& s, const json& f) { read_text(s.target, f, "target"); }},
    {"api_key", [](S& s, const json& f) { read_text(s.api_key, f, "api_key"); }},
};

constexpr Parameter<std::string> reload_parameters[] = {
    {"api_key", [](std::string& key, const json& f) { read_text(key, f, "api_key"); }},
};

// `names`: of the parameters that are read elsewhere.
template <class Request>
void read_parameter(Request& request, std::span<const Parameter<Request>> parameters, const std::string& name,
                    const json& value, std::vector<std::string> names = {}) {
  for (const auto& p : parameters) {
    if (p.name == name) return p.read(request, value);
    names.emplace_back(p.name);
  }
  const std::string near = nearest(name, names);
  fail("there is no parameter '{}'{}", name, near.empty() ? "" : ", did you mean " + near + "?");
}

std::vector<std::string> option_names() {
  std::vector<std::string> names;
  for (const SearchField& option : search_fields()) names.emplace_back(option.name);
  return names;
}

// A parameter of the request takes the place of the server's other way to say the same.
void override_alternatives(SearchOptions& search, const json& fields) {
  const auto alone = [&](const char* name, const char* other) {
    return fields.contains(name) && !fields.contains(other);
  };
  if (alone("normalize", "length_penalty")) search.length_penalty = 0;
  if (alone("max_length_add", "max_length_factor")) search.max_length_factor = 0;
}

// As the command line does, where a parameter has no effect or contradicts another one.
void check_effects(const SearchOptions& search, const json& fields) {
  require_effective(
      search, [&](std::string_view name) { return fields.contains(name); }, as_name);
  try {
    require_consistent(search, as_name);
  } catch (const Error& error) {  // an answer has no line for the hint
    fail("{}{}{}", error.what(), error.hint().empty() ? "" : ": ", error.hint());
  }
}

// Sampling draws as many translations as requested; a search keeps at least as many hypotheses.
void resolve(TranslateRequest& r, bool beam_given) {
  SearchOptions& search = r.job.search;
  const int wanted = std::max(1, search.n_best);
  require(search.sampling == Sampling::none || r.job.glossary.empty(),
          "glossary contradicts sampling: only a search makes translations contain terms");
  if (search.sampling != Sampling::none) {
    require(!beam_given || search.beam_size == wanted,
            "beam_size contradicts sampling, which draws n_best translations");
    search = resolved(search);
  } else {
    require(!beam_given || search.beam_size >= wanted, "n_best is {}, which is more than beam_size {}", wanted,
            search.beam_size);
    search.beam_size = std::max(search.beam_size, wanted);
  }
  if (search.length_penalty > 0) search.normalize = 0;
  require(r.job.prefix.empty() || r.job.texts.size() == 1, "prefix is for one text, found {}", r.job.texts.size());
  r.job.scores = r.scores || r.job.alignment || search.n_best > 0;
  require(!r.stream || r.job.texts.size() == 1, "stream is for one text, found {}", r.job.texts.size());
}

}  // namespace

TranslateRequest read_translate_request(const json& fields, const SearchOptions& standard) {
  TranslateRequest request;
  request.job.search = standard;
  require(fields.contains("text"), "text is missing: what to translate");
  for (const auto& [name, value] : fields.items()) {
    const auto option = std::ranges::find(search_fields(), name, &SearchField::name);
    if (option != search_fields().end())
      read_option(request.job.search, *option, value);
    else
      read_parameter<TranslateRequest>(request, translate_parameters, name, value, option_names());
  }
  override_alternatives(request.job.search, fields);
  check_effects(request.job.search, fields);
  resolve(request, fields.contains("beam_size"));
  validate(request.job.search);
  return request;
}

std::vector<std::string> translate_parameter_names() {
  std::vector<std::string> names = option_names();
  for (const auto& parameter : translate_parameters) names.emplace_back(parameter.name);
  return names;
}

ScoreRequest read_score_request(const json& fields) {
  ScoreRequest request;
  for (const char* name : {"text", "translation"}) require(fields.contains(name), "{} is missing", name);
  for (const auto& [name, value] : fields.items()) read_parameter<ScoreRequest>(request, score_parameters, name, value);
  require(request.sources.size() == request.targets.size(),
          "there are {} texts and {} translations, expected equal numbers", request.sources.size(),
          request.targets.size());
  return request;
}

std::string read_reload_request(const json& fields) {
  std::string api_key;
  for (const auto& [name, value] : fields.items()) read_parameter<std::string>(api_key, reload_parameters, name, value);
  return api_key;
}

}  // namespace dragoman
