#include "serve/service.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/utf8.h"
#include "base/words.h"
#include "serve/libretranslate.h"
#include "serve/own_api.h"

namespace dragoman {
namespace {

std::vector<Route> all_routes() {
  std::vector<Route> all;
  for (const auto routes : {libretranslate_routes(), own_routes()}) all.insert(all.end(), routes.begin(), routes.end());
  return all;
}

const std::vector<Route>& routes() {
  static const std::vector<Route> all = all_routes();
  return all;
}

std::optional<LanguageDetector> detector_of(const ServeOptions& options) {
  if (options.detect_model.empty()) return {};
  return LanguageDetector::load(options.detect_model);
}

// "Bearer KEY" → "KEY" (RFC 9110, section 11.4); empty if it is no such thing.
std::string_view bearer_token(std::string_view authorization) {
  constexpr std::string_view scheme = "bearer ";
  if (lower_ascii(authorization.substr(0, scheme.size())) != scheme) return "";
  return authorization.substr(std::min(authorization.find_first_not_of(' ', scheme.size()), authorization.size()));
}

std::string joined(std::span<const std::string> texts) {
  std::string all;
  for (const std::string& text : texts) all += text + '\n';
  return all;
}

}  // namespace

int64_t characters_of(std::span<const std::string> texts) {
  int64_t characters = 0;
  for (const std::string& text : texts) characters += std::max<int64_t>(1, count_characters(text));
  return characters;
}

/// Counts and logs the request when it has ended, in whatever way.
class Service::Recorded : public Exchange {
 public:
  Recorded(Service& service, std::shared_ptr<Exchange> inner, const Route* route)
      : service_(service), inner_(std::move(inner)), route_(route), client_(inner_->peer()) {
    service_.metrics_.add_in_flight(1);
  }
  ~Recorded() override { end(499); }

  /// From now on the client's limits include this request.
  void count() {
    service_.count_in(client_);
    counted_ = true;
  }
  /// Must be called once: while the inner exchange lives, it reports when the request is abandoned.
  void observe(const std::shared_ptr<Recorded>& self) {
    inner_->when_abandoned([self](int status) {
      if (const auto abandoned = std::exchange(self->abandoned_, {})) abandoned(status);
      self->end(status);
    });
  }

  const HttpRequest& request() const override { return inner_->request(); }
  std::string peer() const override { return inner_->peer(); }

  void respond(HttpResponse response) override {
    if (ended_) return;
    const int status = response.status;
    inner_->respond(std::move(response));
    end(status);
  }
  void begin_events(Headers headers) override {
    if (ended_) return;
    inner_->begin_events(std::move(headers));
  }
  void send_event(std::string_view name, std::string_view data) override { inner_->send_event(name, data); }
  bool events_begun() const override { return inner_->events_begun(); }
  void end_events(int status) override {
    inner_->end_events(status);
    end(status);
  }
  void when_abandoned(std::function<void(int)> abandoned) override { abandoned_ = std::move(abandoned); }

 private:
  void end(int status) {
    if (std::exchange(ended_, true)) return;
    abandoned_ = {};
    if (counted_) service_.count_out(client_);
    service_.metrics_.add_in_flight(-1);
    service_.metrics_.count_request(route_ ? std::string(route_->path) : "other", status, clock_.seconds());
    service_.log_.write({peer(), request().method, request().path, status, clock_.seconds(), request().body.size()});
  }

  Service& service_;
  const std::shared_ptr<Exchange> inner_;
  const Route* const route_;  // null: there is none
  const std::string client_;
  const Clock clock_;
  bool counted_ = false, ended_ = false;
  std::function<void(int)> abandoned_;
};

Service::Service(Engine& engine, const ServeOptions& options, Post post, std::function<int()> connections)
    : options_(options),
      post_(std::move(post)),
      connections_(std::move(connections)),
      keys_(std::make_unique<ApiKeys>(options.api_keys)),
      detector_(detector_of(options)),
      log_(options.access_log),
      models_(engine, options, metrics_, post_) {}

const Route* Service::find(const HttpRequest& request) const {
  const std::string_view method = request.method == "HEAD" ? "GET" : std::string_view(request.method);
  std::string allowed;
  for (const Route& route : routes()) {
    if (route.path != request.path) continue;
    if (route.method == method) return &route;
    allowed.append(allowed.empty() ? "" : ", ").append(route.method);
  }
  if (allowed.empty()) refuse(404, "there is no {}; /spec lists all routes", request.path);
  if (method == "OPTIONS") throw Refusal{{.status = 204, .type = "", .headers = {{"Allow", allowed}}}};
  throw Refusal{error_response(405, request.path + " is for " + allowed, {{"Allow", allowed}})};
}

void Service::handle(std::shared_ptr<Exchange> exchange) {
  const Route* route = nullptr;
  std::optional<Refusal> refused;
  try {
    route = find(exchange->request());
  } catch (const Refusal& refusal) {
    refused = refusal;
  }
  const auto recorded = std::make_shared<Recorded>(*this, std::move(exchange), route);
  recorded->observe(recorded);
  if (refused) return recorded->respond(refused->response);
  try {
    if (route->counted) recorded->count();
    route->handle(*this, recorded);
  } catch (const Refusal& refusal) {
    recorded->respond(refusal.response);
  } catch (const Error& error) {
    recorded->respond(error_response(400, error.what()));
  } catch (const std::bad_alloc&) {
    recorded->respond(no_memory_response());
  } catch (const std::exception& error) {
    log_warning("A request failed: {}", error.what());
    recorded->respond(error_response(500, "the server failed to answer this request"));
  }
}

void Service::count_refused(int status, const std::string& peer) {
  metrics_.count_request("other", status, 0);
  log_.write({.peer = peer, .method = "", .path = "", .status = status});
}

void Service::count_in(const std::string& client) {
  if (all_in_flight_ >= options_.max_requests)
    throw Refusal{busy_response(503, fmt::format("the server is already answering {} requests", all_in_flight_))};
  int& of_client = in_flight_[client];
  if (of_client >= options_.max_requests_per_client)
    throw Refusal{busy_response(429, fmt::format("you have {} requests in progress, wait for one of them", of_client))};
  ++of_client, ++all_in_flight_;
}

void Service::count_out(const std::string& client) {
  --all_in_flight_;
  if (--in_flight_[client] == 0) in_flight_.erase(client);
}

void Service::note_device(const std::string& failure) {
  if (!failure.empty() && device_failure_.empty())
    log_warning("The GPU has failed, and /health says so: {}; start the server again", failure);
  device_failure_ = failure;
}

void Service::reload(std::function<void(std::string)> done) {
  log_.reopen();
  try {
    keys_ = std::make_unique<ApiKeys>(options_.api_keys);
  } catch (const Error& error) {
    log_warning("Reloading failed, the old models and keys stay in use: {}", error.what());
    return done(error.what());
  }
  models_.reload(
      [this, done = std::move(done)](std::string error) { post([done, error = std::move(error)] { done(error); }); });
}

DetectedLanguage Service::source_of(std::span<const std::string> texts, const std::string& named,
                                    const std::string& target) const {
  if (named != "auto") return {named, 1};
  std::set<std::string> sources;
  for (size_t i = 0; i < models_.size(); ++i) {
    if (models_[i].source.empty()) {
      const LanguageChoice choice = models_.languages(i);
      if (choice.sources.empty()) return {"", 1};
      sources.insert(choice.sources.begin(), choice.sources.end());
      sources.erase(target);
    }
    if (models_[i].target == target) sources.insert(models_[i].source);
  }
  if (sources.empty()) refuse(400, "{} is not supported", target);
  if (!detector_ && sources.size() > 1)
    refuse(400, "several languages can be translated into {}: name the source ({})", target, fmt::join(sources, ", "));
  if (!detector_) return {*sources.begin(), 1};
  for (const DetectedLanguage& found : detector_->detect(joined(texts)))
    if (sources.contains(found.language)) return found;
  refuse(400, "--detect-model knows none of the languages that can be translated into {} ({})", target,
         fmt::join(sources, ", "));
}

std::vector<DetectedLanguage> Service::detect(std::span<const std::string> texts) const {
  if (detector_) return detector_->detect(joined(texts));
  std::set<std::string> sources;
  for (size_t i = 0; i < models_.size(); ++i) sources.insert(models_[i].source);
  if (sources.size() != 1 || sources.begin()->empty())
    refuse(400,
           "this server cannot detect languages: it has no --detect-model, and its models do not have one source "
           "language");
  return {{*sources.begin(), 1}};
}

ModelChoice Service::model_for(const std::string& source, const std::string& target) const {
  bool has_source = false, has_target = false;
  for (size_t i = 0; i < models_.size(); ++i) {
    if (models_[i].source.empty()) return {i, {source, target}};
    has_source |= models_[i].source == source;
    has_target |= models_[i].target == target;
    if (models_[i].source == source && models_[i].target == target) return {i, {source, target}};
  }
  if (!has_source) refuse(400, "{} is not supported", source);
  if (!has_target) refuse(400, "{} is not supported", target);
  refuse(400, "{} is not available as a target language from {}", target, source);
}

void Service::require_key(const HttpRequest& request, std::string_view key) const {
  if (!keys_->needed()) return;
  if (key.empty()) key = bearer_token(request.header("authorization"));
  if (key.empty()) refuse(403, "Please contact the server operator to get an API key");
  if (!keys_->contain(key)) refuse(403, "Invalid API key");
}

void Service::take_characters(int64_t characters) {
  if (characters > options_.max_characters)
    refuse(400, "Invalid request: request ({}) exceeds text limit ({})", characters, options_.max_characters);
  metrics_.count_characters(characters);
}

}  // namespace dragoman
