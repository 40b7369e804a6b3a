#pragma once
#include <array>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "decode/loaded_ensemble.h"
#include "decode/translator.h"
#include "dragoman/engine.h"
#include "serve/job_languages.h"
#include "serve/jobs.h"
#include "serve/metrics.h"

namespace dragoman {

/// A model with the thread that computes with it. It takes a sentence of each job in turn, and limits how many of one
/// job it has at a time. Short and long jobs have a search each, and while both have work, short ones get most of the
/// time, so that a page does not delay a sentence. All members may be called from any thread.
class TranslationWorker {
 public:
  using Ticket = JobTicket;

  /// Loads the model. Errors are those of LoadedEnsemble. Engine and metrics must outlive the worker. The answers of a
  /// step of the search are posted together, so that the other thread wakes once.
  TranslationWorker(Engine& engine, const EnsembleOptions& model, const TranslateOptions& options, Metrics& metrics,
                    Post post);
  ~TranslationWorker();
  TranslationWorker(const TranslationWorker&) = delete;

  /// Whether the model can give alignments.
  bool aligns() const { return aligns_; }
  /// The languages that jobs choose.
  const JobLanguages& languages() const { return languages_; }

  /// Error if it wants an alignment that the model cannot give, or if the model lets it choose a language that it does
  /// not name, or names wrongly. Languages that the model does not let it choose have no effect.
  Ticket submit(TranslationJob job);
  Ticket submit(ScoringJob job);
  void cancel(Ticket ticket);
  /// Returns when all jobs are answered. No more jobs may be submitted.
  void finish();

 private:
  /// Jobs that share a search.
  struct Lane {
    std::optional<Translator> translator;  // none before the first job, and after one has failed
    std::list<Ticket> turns;               // of jobs with sentences still to begin
    size_t sentences_in_search = 0;
    double seconds = 0;  // of steps while the other lane had work too
    bool heavy = false;  // a large job used its memory
    bool busy() const { return translator && !translator->idle(); }
  };
  struct Running {
    TranslationJob job;
    TextRequest request;  // without a sentence: what the requests of all sentences share
    Lane* lane = nullptr;
    size_t next = 0;                                 // the next sentence to begin with
    std::map<size_t, Translator::Ticket> in_search;  // by sentence
    std::vector<std::vector<Translation>> best;
  };
  struct Scoring {
    ScoringJob job;
    std::vector<std::vector<float>> log_probs;
  };

  void require_memory_for_a_line() const;
  std::shared_ptr<const SentenceFrames> frames_of(const Languages& chosen);
  void work();
  bool take_messages();
  void send(std::function<void()> message);
  template <class Job>
  Ticket send_job(Job job);
  void begin(Ticket ticket, TranslationJob& job);
  void begin(Ticket ticket, ScoringJob& job);
  bool ready(Lane& lane);
  void admit(Lane& lane);
  void begin_sentence(Ticket ticket, Running& running);
  void finish_sentence(Ticket ticket, size_t sentence, std::vector<Translation> best);
  void fail(Ticket ticket, std::exception_ptr error);
  void drop(Ticket ticket);
  Lane* next_lane();
  void step();
  void score_some();
  void post_answers();
  void release_memory();
  void score_next(Scoring& scoring);
  bool idle() const { return running_.empty() && scoring_.empty(); }

  Engine& engine_;
  const TranslateOptions options_;
  Metrics& metrics_;
  const Post post_;
  const LoadedEnsemble ensemble_;
  const bool aligns_;  // the model has cross-attention
  const JobLanguages languages_;

  // Used by the worker's thread only.
  std::array<Lane, 2> lanes_;  // of short and of long jobs
  std::map<Ticket, Running> running_;
  std::map<Ticket, Scoring> scoring_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const SentenceFrames>> frames_;  // by languages
  std::vector<std::function<void()>> answers_;                                                   // to be posted

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<std::function<void()>> inbox_;
  Ticket last_ticket_ = 0;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace dragoman
