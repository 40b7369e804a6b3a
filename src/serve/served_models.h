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

/// "en-fr=FILE": a model and its languages. "pt-BR:en=FILE" is one whose languages have hyphens. FILE alone: it takes
/// whatever languages a request names.
struct ModelWord {
  std::string source, target, file;
};
ModelWord parse_model_word(const std::string& word);
/// The models of the options. Error where a pair of languages comes twice, or a model without languages is not alone.
std::vector<ModelWord> model_words(const ServeOptions& options);

/// The models that a server has, each with its worker.
class ServedModels {
 public:
  /// Loads all. Error as of TranslationWorker.
  ServedModels(Engine& engine, const ServeOptions& options, Metrics& metrics, Post post);
  ~ServedModels();
  ServedModels(const ServedModels&) = delete;

  size_t size() const { return words_.size(); }
  const ModelWord& operator[](size_t model) const { return words_[model]; }

  /// A job that can be given up.
  struct Submitted {
    std::weak_ptr<TranslationWorker> worker;
    JobTicket ticket;
    void cancel() const;
  };
  Submitted submit(size_t model, TranslationJob job);
  Submitted submit(size_t model, ScoringJob job);

  /// Loads all anew in a thread of its own, then answers what comes with these; what is in flight, the old ones answer.
  /// `done` is called in that thread, with what went wrong (then the old ones stay) or nothing. False if a reload is
  /// under way.
  bool reload(std::function<void(std::string error)> done);

 private:
  std::shared_ptr<TranslationWorker> load(const ModelWord& word) const;

  Engine& engine_;
  const ServeOptions options_;
  Metrics& metrics_;
  const Post post_;
  const std::vector<ModelWord> words_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<TranslationWorker>> workers_;
  bool reloading_ = false;
  std::thread reloader_;
};

}  // namespace dragoman
