#pragma once
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "serve/jobs.h"
#include "serve/metrics.h"
#include "serve/options.h"

namespace dragoman {

class Engine;
class TranslationWorker;

/// "en-fr=FILE": a model and its languages. In "pt-BR:en=FILE" a language has a hyphen. FILE alone: requests
/// name the languages, any or those that the model knows.
struct ModelSpec {
  std::string source, target, file;
};
ModelSpec parse_model_spec(const std::string& spec);
/// The models of the options. Error if a pair of languages occurs twice, a model without languages is not alone, or
/// what is before the = is not two languages and no file has the whole name.
std::vector<ModelSpec> model_specs(const ServeOptions& options);

/// The models of a server, each with its worker. Pairs of languages that name the same file share a model.
class ServedModels {
 public:
  /// Loads all. Errors are those of TranslationWorker; also if a model that lets requests choose languages does not
  /// know those of its pair. Warns of pairs into several languages of which the model lets nobody choose.
  ServedModels(Engine& engine, const ServeOptions& options, Metrics& metrics, Post post);
  ~ServedModels();
  ServedModels(const ServedModels&) = delete;

  size_t size() const { return specs_.size(); }
  const ModelSpec& operator[](size_t model) const { return specs_[model]; }
  bool aligns(size_t model) const;               // whether it can give alignments; a reload may change it
  LanguageChoice languages(size_t model) const;  // that requests choose; likewise

  /// A job that can be cancelled.
  struct Submitted {
    std::weak_ptr<TranslationWorker> worker;
    JobTicket ticket;
    void cancel() const;
  };
  Submitted submit(size_t model, TranslationJob job);
  Submitted submit(size_t model, ScoringJob job);

  /// Loads all models again in a thread of its own, then uses them for new requests; the old ones finish what is in
  /// flight. `done` is called in that thread with the error, after which the old models stay, or with nothing. While a
  /// reload is in progress or old models still have requests, the next one waits, as there is memory for two of each
  /// model only; those that wait become one.
  using Done = std::function<void(std::string error)>;
  void reload(Done done);

 private:
  std::vector<std::shared_ptr<TranslationWorker>> load() const;
  std::shared_ptr<TranslationWorker> load(const std::string& file) const;
  const std::shared_ptr<TranslationWorker>& worker(size_t model) const;  // with the lock
  std::vector<Done> take_waiting();
  void load_again(const std::vector<Done>& waiting);

  Engine& engine_;
  const ServeOptions options_;
  Metrics& metrics_;
  const Post post_;
  const std::vector<ModelSpec> specs_;
  const std::vector<std::string> files_;  // each once
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<TranslationWorker>> workers_;  // of files_
  std::vector<Done> waiting_;                                // reloads that have not begun
  bool reloading_ = false;                                   // the thread will look at waiting_
  std::thread reloader_;
};

}  // namespace dragoman
