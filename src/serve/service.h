#pragma once
#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "dragoman/engine.h"
#include "serve/access_log.h"
#include "serve/api_keys.h"
#include "serve/http_server.h"
#include "serve/metrics.h"
#include "serve/options.h"
#include "serve/served_models.h"
#include "text/language_detector.h"

namespace dragoman {

/// Thrown by a handler to answer with an error.
struct Refusal {
  HttpResponse response;
};
/// The same with a formatted message.
template <class... A>
[[noreturn]] void refuse(int status, fmt::format_string<A...> format, A&&... args) {
  throw Refusal{error_response(status, fmt::format(format, std::forward<A>(args)...))};
}

/// The characters of texts as the limit counts them: at least one for each text, as each costs time.
int64_t characters_of(std::span<const std::string> texts);

/// A model, and the languages that a request names: RequestOptions::languages.
struct ModelChoice {
  size_t model = 0;
  Languages languages;
};

class Service;

/// What answers requests of a method for a path. `counted`: it computes, so the number that runs at once is limited.
struct Route {
  std::string_view method, path;
  void (*handle)(Service& service, const std::shared_ptr<Exchange>& exchange);
  bool counted = false;
};

/// Answers requests: finds their route, enforces the limits, counts and logs. Used on the server's thread only, except
/// post().
class Service {
 public:
  /// Loads the models. `post` calls a function on the server's thread; `connections` is for /metrics. The engine and
  /// what these two refer to must outlive the service.
  Service(Engine& engine, const ServeOptions& options, Post post, std::function<int()> connections);
  Service(const Service&) = delete;

  void handle(std::shared_ptr<Exchange> exchange);
  void count_refused(int status, const std::string& peer);  // input that never became a request
  /// Opens the access log anew, loads keys, then models again; `done` is called on the server's thread with the error,
  /// or nothing. If the keys fail, keys and models stay; if a model fails, the old models stay. The models may have to
  /// wait, as in ServedModels::reload().
  void reload(std::function<void(std::string error)> done);

  const ServeOptions& options() const { return options_; }
  const ApiKeys& keys() const { return *keys_; }
  ServedModels& models() { return models_; }
  const ServedModels& models() const { return models_; }
  Metrics& metrics() { return metrics_; }
  int connections() const { return connections_(); }
  void post(std::function<void()> f) const { post_(std::move(f)); }

  /// The language of texts: the named one; if that is "auto", the most likely one of those that a model translates into
  /// the target. Without --detect-model there must be exactly one such language. Empty if models have no languages.
  DetectedLanguage source_of(std::span<const std::string> texts, const std::string& named,
                             const std::string& target) const;
  /// All languages, the most likely first: those of --detect-model, else the only one that a model translates from.
  std::vector<DetectedLanguage> detect(std::span<const std::string> texts) const;
  /// The model for these languages. Refusal if there is none. Whether a model of several languages knows them is
  /// decided when it gets the job, as a reload may come before.
  ModelChoice model_for(const std::string& source, const std::string& target) const;
  /// Refusal unless the key (of the parameters, or a bearer token) is one of those that may translate.
  void require_key(const HttpRequest& request, std::string_view key) const;
  /// Counts the characters of all that a request has computed. Refusal if they are too many.
  void take_characters(int64_t characters);
  /// How the GPU failed in the last job that used it; empty: it worked. The first failure is logged.
  void note_device(const std::string& failure);
  const std::string& device_failure() const { return device_failure_; }

 private:
  class Recorded;
  const Route* find(const HttpRequest& request) const;
  void count_in(const std::string& client);
  void count_out(const std::string& client);

  const ServeOptions options_;
  const Post post_;
  const std::function<int()> connections_;
  std::unique_ptr<const ApiKeys> keys_;
  const std::optional<LanguageDetector> detector_;
  AccessLog log_;
  Metrics metrics_;
  ServedModels models_;
  std::map<std::string, int> in_flight_;  // by client
  int all_in_flight_ = 0;
  std::string device_failure_;
};

}  // namespace dragoman
