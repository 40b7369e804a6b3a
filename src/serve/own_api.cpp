#include "serve/own_api.h"

#include "base/error.h"
#include "base/json_text.h"
#include "base/utf8.h"
#include "decode/linked_words.h"
#include "score/scorer.h"
#include "serve/fields.h"
#include "serve/own_request.h"
#include "serve/page.h"

namespace dragoman {
namespace {

using nlohmann::ordered_json;

// Pairs [source token, target token]: for each target token, the source token with the largest weight.
ordered_json links_of(const LineAlignment& alignment) {
  ordered_json links = ordered_json::array();
  for (const auto& [source, target] : alignment.links) links.push_back({source, target});
  return links;
}

// Words of the translation with the source words that they attend to: [begin, end, begin, end] in characters, source
// first.
ordered_json words_in_characters(const std::string& sentence, const Translation& t) {
  const auto in_source = characters_before(sentence), in_target = characters_before(t.text);
  ordered_json all = ordered_json::array();
  for (const LinkedWords& words : linked_words(sentence, t))
    all.push_back({in_source[words.source_begin], in_source[words.source_end], in_target[words.target_begin],
                   in_target[words.target_end]});
  return all;
}

ordered_json hypothesis_of(const std::string& sentence, const Translation& t, const TranslateRequest& request) {
  ordered_json hypothesis = {{"text", t.text}, {"log_prob", t.log_prob}, {"score", t.score}};
  if (request.scores) hypothesis["token_log_probs"] = t.piece_log_probs;
  if (request.job.alignment) {
    hypothesis["alignment"] = links_of(t.alignment);
    hypothesis["words"] = words_in_characters(sentence, t);
  }
  return hypothesis;
}

ordered_json translation_of(const TextResult& result, const TranslateRequest& request) {
  ordered_json translation = {{"text", result.best[0]}};
  if (request.job.search.n_best > 0)
    translation["alternatives"] = std::vector<std::string>(result.best.begin() + 1, result.best.end());
  if (!request.job.scores) return translation;
  ordered_json sentences = ordered_json::array();
  for (size_t i = 0; i < result.sentences.size(); ++i) {
    ordered_json hypotheses = ordered_json::array();
    for (const Translation& t : result.of_sentences[i])
      hypotheses.push_back(hypothesis_of(result.sentences[i], t, request));
    sentences.push_back({{"source", result.sentences[i]}, {"hypotheses", hypotheses}});
  }
  translation["sentences"] = sentences;
  return translation;
}

// Made text by text, as a whole answer in json takes many times its size.
std::string answer_of(const std::vector<TextResult>& results, const TranslateRequest& request) {
  std::string all;
  for (const TextResult& result : results)
    all.append(all.empty() ? "" : ",").append(json_text(translation_of(result, request)));
  return R"({"translations":[)" + all + "]}";
}

// The stream begins with its first event: a request that fails before it has the status of its failure.
void stream(Service& service, const std::shared_ptr<Exchange>& exchange, const TranslateRequest& request) {
  const auto send = [exchange](std::string_view name, const std::string& data) {
    if (!exchange->events_begun()) exchange->begin_events({});
    exchange->send_event(name, data);
  };
  const auto partial = [send](const std::string& more) { send("partial", json_text(ordered_json{{"delta", more}})); };
  const auto done = [exchange, send, request](const std::vector<TextResult>& results) {
    send("done", answer_of(results, request));
    exchange->end_events(200);
  };
  translate_texts(service, exchange, request.job, partial, done);
}

// The model for the languages that a request names: with a single model it need not name both, or any.
ModelChoice model_of(const Service& service, std::span<const std::string> texts, const std::string& source,
                     const std::string& target) {
  const ServedModels& models = service.models();
  const bool single = models.size() == 1;
  if (single && target.empty() && (source.empty() || source == "auto"))
    return service.model_for(models[0].source, models[0].target);
  require(single || !target.empty(), "target is missing: the language to translate into");
  const std::string& into = target.empty() ? models[0].target : target;
  const auto found = service.source_of(texts, source.empty() ? "auto" : source, into);
  return service.model_for(found.language, into);
}

void translate(Service& service, const std::shared_ptr<Exchange>& exchange) {
  TranslateRequest request = read_translate_request(fields_of(exchange->request()), service.options());
  service.require_key(exchange->request(), request.api_key);
  request.job.choose(model_of(service, request.job.texts, request.source, request.target));
  if (request.stream) return stream(service, exchange, request);
  translate_texts(service, exchange, request.job, nullptr, [exchange, request](const std::vector<TextResult>& r) {
    exchange->respond({.body = answer_of(r, request)});
  });
}

// Languages as in /languages.
void list_models(Service& service, const std::shared_ptr<Exchange>& exchange) {
  const ServedModels& models = service.models();
  ordered_json all = ordered_json::array();
  for (size_t i = 0; i < models.size(); ++i) {
    const auto& [source, target, file] = models[i];
    all.push_back({{"source", source.empty() ? "und" : source},
                   {"target", target.empty() ? "und" : target},
                   {"alignment", models.aligns(i)}});
  }
  respond(*exchange, {{"models", all}});
}

ordered_json scores_of(const std::vector<std::vector<float>>& log_probs) {
  ordered_json scores = ordered_json::array();
  for (const auto& tokens : log_probs)
    scores.push_back({{"log_prob", log_prob_of(tokens)}, {"token_log_probs", tokens}});
  return {{"scores", scores}};
}

void score(Service& service, const std::shared_ptr<Exchange>& exchange) {
  ScoreRequest request = read_score_request(fields_of(exchange->request()));
  service.require_key(exchange->request(), request.api_key);
  ScoringJob job{.sources = std::move(request.sources), .targets = std::move(request.targets)};
  service.take_characters(characters_of(job.sources) + characters_of(job.targets));
  ModelChoice choice = model_of(service, job.sources, request.source, request.target);
  job.languages = std::move(choice.languages);
  job.done = [&service, exchange](const std::vector<std::vector<float>>& log_probs) {
    if (!log_probs.empty()) service.note_device("");  // it was used
    try {
      respond(*exchange, scores_of(log_probs));
    } catch (const std::exception&) {  // no memory for it
      answer_failure(service, *exchange, std::current_exception());
    }
  };
  job.failed = [&service, exchange](const std::exception_ptr& error) { answer_failure(service, *exchange, error); };
  const auto submitted = service.models().submit(choice.model, std::move(job));
  exchange->when_abandoned([submitted](int) { submitted.cancel(); });
}

// A page of another site may make a browser send this request, but cannot hide its origin.
void reload(Service& service, const std::shared_ptr<Exchange>& exchange) {
  service.require_key(exchange->request(), read_reload_request(fields_of(exchange->request())));
  if (!exchange->request().header("origin").empty()) refuse(403, "a web page may not reload the models");
  service.reload([exchange](const std::string& error) {
    error.empty() ? respond(*exchange, {{"status", "reloaded"}}) : exchange->respond(error_response(500, error));
  });
}

void metrics(Service& service, const std::shared_ptr<Exchange>& exchange) {
  exchange->respond({.type = "text/plain; version=0.0.4", .body = service.metrics().to_text(service.connections())});
}

void page(Service&, const std::shared_ptr<Exchange>& exchange) {
  exchange->respond({.type = "text/html; charset=utf-8", .body = page_html, .headers = page_headers()});
}

void page_style(Service&, const std::shared_ptr<Exchange>& exchange) {
  exchange->respond({.type = "text/css; charset=utf-8", .body = page_css, .headers = page_headers()});
}

void page_script(Service&, const std::shared_ptr<Exchange>& exchange) {
  exchange->respond({.type = "text/javascript; charset=utf-8", .body = page_js, .headers = page_headers()});
}

}  // namespace

std::span<const Route> own_routes() {
  static const Route routes[] = {{"POST", "/v1/translate", translate, true},
                                 {"POST", "/v1/score", score, true},
                                 {"GET", "/v1/models", list_models},
                                 {"POST", "/v1/reload", reload},
                                 {"GET", "/metrics", metrics},
                                 {"GET", "/", page},
                                 {"GET", "/page.css", page_style},
                                 {"GET", "/page.js", page_script}};
  return routes;
}

}  // namespace dragoman
