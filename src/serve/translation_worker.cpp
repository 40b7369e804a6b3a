#include "serve/translation_worker.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/memory_size.h"
#include "base/new_thread.h"
#include "model/model.h"
#include "score/pair_scorer.h"

namespace dragoman {
namespace {

constexpr size_t sentences_of_one_job = 16;  // in one search
constexpr size_t pairs_scored_at_once = 16;  // between two steps of the search
constexpr size_t short_job = 1000;           // bytes at most
constexpr size_t heavy_job = 64 << 10;       // bytes, and 64 a sentence, times beam size: its memory goes back
constexpr double short_to_long = 3;          // shares of the time

size_t bytes_of(const std::vector<std::string>& texts) {
  size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  return bytes;
}

}  // namespace

TranslationWorker::TranslationWorker(Engine& engine, const EnsembleOptions& model, const TranslateOptions& options,
                                     Metrics& metrics, Post post)
    : engine_(engine),
      options_(options),
      metrics_(metrics),
      post_(std::move(post)),
      ensemble_(model, engine.backend()),
      aligns_(ensemble_.models()[0].model->config().has_cross_attention()),
      languages_(ensemble_.models()[0].model->config(), ensemble_.vocabularies()) {
  require_memory_for_a_line();
  thread_ = new_thread([this] { return std::thread([this] { work(); }); });
}

// Otherwise every request would fail.
void TranslationWorker::require_memory_for_a_line() const {
  if (engine_.backend().is_device() || options_.search_memory >= machine_memory()) return;  // no limit of its own
  const Engine::Scope scope(engine_);
  const std::string line = "a";
  try {
    Translator(ensemble_.models(), ensemble_.vocabularies(), options_, {.beam_size = 1, .max_length_add = 1},
               ensemble_.word_constraints())
        .translate({&line, 1});
  } catch (const OutOfMemory&) {
    throw Error(fmt::format("--search-memory {} is too little to translate even a single word",
                            to_string(MemorySize{options_.search_memory})),
                "give more: 64M is enough for most models");
  }
}

// Null: those of the model.
std::shared_ptr<const SentenceFrames> TranslationWorker::frames_of(const Languages& chosen) {
  if (chosen.source.empty() && chosen.target.empty()) return nullptr;
  auto& frames = frames_[{chosen.source, chosen.target}];
  if (!frames)
    frames = std::make_shared<const SentenceFrames>(
        dragoman::frames_of(ensemble_.models()[0].model->config(), ensemble_.vocabularies(), chosen, "the model"));
  return frames;
}

TranslationWorker::~TranslationWorker() { finish(); }

void TranslationWorker::finish() {
  if (!thread_.joinable()) return;
  send([this] { ending_ = true; });
  thread_.join();
}

void TranslationWorker::send(std::function<void()> message) {
  {
    const std::lock_guard lock(mutex_);
    inbox_.push_back(std::move(message));
  }
  arrived_.notify_one();
}

TranslationWorker::Ticket TranslationWorker::submit(TranslationJob job) {
  validate(job.search);
  require(!job.alignment || aligns_, "alignment: the model has no cross-attention to take the alignment from");
  job.languages = languages_.chosen(job.languages, job.tags);
  return send_job(std::move(job));
}

TranslationWorker::Ticket TranslationWorker::submit(ScoringJob job) {
  job.languages = languages_.chosen(job.languages, job.sources);
  return send_job(std::move(job));
}

// If a job cannot begin, as without memory, it fails.
template <class Job>
TranslationWorker::Ticket TranslationWorker::send_job(Job job) {
  const auto shared = std::make_shared<Job>(std::move(job));
  Ticket ticket;
  {
    const std::lock_guard lock(mutex_);
    ticket = ++last_ticket_;
    inbox_.push_back([this, ticket, shared] {
      try {
        begin(ticket, *shared);
      } catch (const std::exception&) {
        drop(ticket);
        answers_.push_back([shared, error = std::current_exception()] { shared->failed(error); });
      }
    });
  }
  arrived_.notify_one();
  return ticket;
}

void TranslationWorker::cancel(Ticket ticket) {
  send([this, ticket] {
    drop(ticket);
    scoring_.erase(ticket);
  });
}

void TranslationWorker::work() {
  const Engine::Scope scope(engine_);
  for (bool running = true; running;) {
    running = take_messages();
    for (Lane& lane : lanes_) admit(lane);
    step();
    score_some();
    post_answers();
    release_memory();
  }
}

// The other thread runs first if both share a core, as its clients send the next sentences: batches stay full.
void TranslationWorker::post_answers() {
  if (answers_.empty()) return;
  post_([answers = std::exchange(answers_, {})] {
    for (const auto& answer : answers) {
      try {
        answer();
      } catch (const std::exception& error) {
        log_warning("A request was not answered: {}", error.what());
      }
    }
  });
  std::this_thread::yield();
}

// After large jobs: the memory of their search, and on the other thread what the allocator keeps of their answers.
void TranslationWorker::release_memory() {
  for (Lane& lane : lanes_) {
    if (!lane.heavy || lane.busy() || !lane.turns.empty() || !scoring_.empty()) continue;
    lane.heavy = false;
    lane.translator.reset();
    ensemble_.models()[0].cx->arena.reset_peak();
    post_([] { malloc_trim(0); });
  }
}

// Waits if there is nothing to do. False at the end.
bool TranslationWorker::take_messages() {
  std::vector<std::function<void()>> messages;
  {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return !inbox_.empty() || !idle() || ending_; });
    messages.swap(inbox_);
  }
  for (const auto& message : messages) message();
  return !(ending_ && idle());
}

// If it throws, the job is as it was, and drop() undoes the rest.
void TranslationWorker::begin(Ticket ticket, TranslationJob& job) {
  const size_t sentences = job.sentences.size();
  if (sentences == 0) return answers_.push_back([done = std::move(job.done)] { done({}); });
  const size_t bytes = bytes_of(job.sentences);
  Lane& lane = lanes_[bytes <= short_job ? 0 : 1];
  TextRequest request{.search = job.search, .wanted = job.wanted, .alignment = job.alignment || (job.links && aligns_)};
  request.frames = frames_of(job.languages);
  if (!job.glossary.empty())
    request.glossary = std::make_shared<const Glossary>(job.glossary, ensemble_.vocabularies().target);
  if (!job.avoid.empty()) request.avoid = std::make_shared<const ForbiddenPhrases>(job.avoid, ensemble_.piece_texts());
  std::vector<std::vector<Translation>> best(sentences);
  Running& running = running_[ticket];
  running.lane = &lane;
  running.best = std::move(best);
  running.request = std::move(request);
  metrics_.add_waiting(int64_t(sentences));
  lane.turns.push_back(ticket);
  running.job = std::move(job);
  const bool has_terms = running.request.glossary || ensemble_.word_constraints().glossary;
  const int beam = running.job.search.beam_size + (has_terms ? most_groups : 0);
  lane.heavy |= (bytes + 64 * sentences) * size_t(beam) > heavy_job;
}

void TranslationWorker::begin(Ticket ticket, ScoringJob& job) {
  lanes_[1].heavy |= bytes_of(job.sources) + bytes_of(job.targets) > heavy_job;
  scoring_[ticket].job = std::move(job);
}

// Whether there is a search; makes one if needed. If there is no memory for it, all jobs of the lane fail.
bool TranslationWorker::ready(Lane& lane) {
  if (lane.translator) return true;
  try {
    lane.translator.emplace(ensemble_.models(), ensemble_.vocabularies(), options_, SearchOptions(),
                            ensemble_.word_constraints(), searches_on(engine_.backend()));
    return true;
  } catch (const std::exception&) {
    while (!lane.turns.empty()) fail(lane.turns.front(), std::current_exception());
    return false;
  }
}

// Admits one sentence of each job in turn, until the search is full or every job has as many in it as allowed.
void TranslationWorker::admit(Lane& lane) {
  if (lane.turns.empty() || !ready(lane)) return;
  const size_t most = sentences_of_one_job * size_t(searches_on(engine_.backend()));
  for (size_t passed = 0; passed < lane.turns.size() && lane.translator->has_room();) {
    const auto turn = lane.turns.begin();
    const Ticket ticket = *turn;
    Running& running = running_.at(ticket);
    const bool may_begin = running.in_search.size() < most;
    passed = may_begin ? 0 : passed + 1;
    const bool again = !may_begin || running.next + 1 < running.job.sentences.size();
    again ? lane.turns.splice(lane.turns.end(), lane.turns, turn) : lane.turns.pop_front();
    if (may_begin) begin_sentence(ticket, running);
  }
}

void TranslationWorker::begin_sentence(Ticket ticket, Running& running) {
  const size_t sentence = running.next++;
  metrics_.add_waiting(-1);
  Lane& lane = *running.lane;
  try {
    TextRequest request = running.request;
    request.text = std::move(running.job.sentences[sentence]);
    if (sentence == 0) request.prefix = running.job.prefix;
    if (!running.job.tags.empty()) request.tags = running.job.tags[sentence];
    request.line = sentence;
    if (running.job.partial)
      request.partial = [this, partial = running.job.partial, sentence](const std::string& text) {
        post_([partial, sentence, text] { partial(sentence, text, false); });
      };
    running.in_search[sentence] = lane.translator->submit(
        std::move(request),
        [this, ticket, sentence](std::vector<Translation> best) { finish_sentence(ticket, sentence, std::move(best)); },
        [this, ticket](std::exception_ptr error) { fail(ticket, std::move(error)); });
    ++lane.sentences_in_search;
  } catch (const std::exception&) {
    fail(ticket, std::current_exception());
  }
}

void TranslationWorker::finish_sentence(Ticket ticket, size_t sentence, std::vector<Translation> best) {
  const auto found = running_.find(ticket);
  if (found == running_.end()) return;
  Running& running = found->second;
  running.in_search.erase(sentence);
  --running.lane->sentences_in_search;
  metrics_.count_sentence(best[0].length);
  if (running.job.partial)
    answers_.push_back(
        [partial = running.job.partial, sentence, text = best[0].text] { partial(sentence, text, true); });
  running.best[sentence] = std::move(best);
  if (running.next < running.best.size() || !running.in_search.empty()) return;
  const auto node = running_.extract(found);
  Running& ended = node.mapped();
  answers_.push_back(
      [done = std::move(ended.job.done), best = std::move(ended.best)]() mutable { done(std::move(best)); });
}

void TranslationWorker::fail(Ticket ticket, std::exception_ptr error) {
  const auto found = running_.find(ticket);
  if (found == running_.end()) return;
  auto failed = std::move(found->second.job.failed);
  drop(ticket);
  answers_.push_back([failed = std::move(failed), error = std::move(error)] { failed(error); });
}

void TranslationWorker::drop(Ticket ticket) {
  const auto found = running_.find(ticket);
  if (found == running_.end()) return;
  const Running& running = found->second;
  Lane& lane = *running.lane;
  for (const auto& [sentence, in_search] : running.in_search) lane.translator->cancel(in_search);
  lane.sentences_in_search -= running.in_search.size();
  metrics_.add_waiting(int64_t(running.next) - int64_t(running.best.size()));
  running_.erase(found);
  std::erase(lane.turns, ticket);
}

// The lane whose turn it is; none if there is nothing to do. Times are reset whenever one lane has no work, except that
// of the step that the other is in then: a short job that arrives meanwhile is compensated for it.
TranslationWorker::Lane* TranslationWorker::next_lane() {
  auto& [of_short, of_long] = lanes_;
  if (of_short.busy() && of_long.busy())
    return of_short.seconds <= short_to_long * of_long.seconds ? &of_short : &of_long;
  of_short.seconds = of_long.seconds = 0;
  return of_short.busy() ? &of_short : of_long.busy() ? &of_long : nullptr;
}

// If a step throws, its search is unusable: all jobs in it fail, and the next ones get a new one.
void TranslationWorker::step() {
  Lane* const lane = next_lane();
  if (!lane) return;
  metrics_.observe_batch(lane->sentences_in_search);
  const Clock clock;
  try {
    const bool of_long = lane == &lanes_[1];
    of_long ? lane->translator->step(1) : lane->translator->step();
  } catch (const std::exception& error) {
    log_warning("The requests that were being translated failed: {}", error.what());
    std::vector<Ticket> lost;
    for (auto& [ticket, running] : running_) {
      if (running.lane != lane || running.in_search.empty()) continue;
      running.in_search.clear();
      lost.push_back(ticket);
    }
    lane->sentences_in_search = 0;
    lane->translator.reset();
    for (const Ticket ticket : lost) fail(ticket, std::current_exception());
  }
  lane->seconds += clock.seconds();
}

void TranslationWorker::score_some() {
  if (scoring_.empty()) return;
  const auto next = scoring_.begin();
  Scoring& s = next->second;
  try {
    score_next(s);
    if (s.log_probs.size() < s.job.sources.size()) return;
    answers_.push_back(
        [done = std::move(s.job.done), log_probs = std::move(s.log_probs)]() mutable { done(std::move(log_probs)); });
  } catch (const std::exception&) {
    answers_.push_back([failed = std::move(s.job.failed), error = std::current_exception()] { failed(error); });
  }
  scoring_.erase(next);
}

void TranslationWorker::score_next(Scoring& s) {
  const size_t from = s.log_probs.size(), most = std::min(from + pairs_scored_at_once, s.job.sources.size());
  const bool named = from < most && languages_.are_named_in(s.job.sources[from]);
  size_t to = from;  // those that name their language have other frames
  while (to < most && languages_.are_named_in(s.job.sources[to]) == named) ++to;
  const auto part = [&](const std::vector<std::string>& all) {
    return std::vector(all.begin() + ptrdiff_t(from), all.begin() + ptrdiff_t(to));
  };
  const TranslatingModel& first = ensemble_.models()[0];
  const ScoringContext context{first.cx->backend, first.cx->arena, *first.cx->packed, first.cx->rounded,
                               named ? nullptr : frames_of(s.job.languages)};
  auto scores =
      score_lines(context, *first.model, ensemble_.vocabularies(), {part(s.job.sources), part(s.job.targets)},
                  {.mini_batch_words = options_.tokens_in_flight(first.cx->backend), .max_length = options_.max_length},
                  {.lines_before = int64_t(from)});
  for (PairScore& pair : std::move(scores).all()) s.log_probs.push_back(std::move(pair.log_probs));
}

}  // namespace dragoman
