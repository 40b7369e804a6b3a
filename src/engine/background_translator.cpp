#include "dragoman/background_translator.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/new_thread.h"
#include "base/own_process.h"
#include "base/thread_signals.h"
#include "dragoman/engine.h"

namespace dragoman {

// A request is in `open_` from submit() until its outcome is decided, by the translator's result or by cancel().
// Whoever removes it decides, so that there is exactly one answer. The thread delivers all answers. The translator
// receives no more requests than keep it busy; the others wait as text, and the threads that submitted them take turns,
// so that a line of one thread does not wait for all lines of another.
class BackgroundTranslator::Worker {
 public:
  Worker(std::shared_ptr<Engine> used, const TextTranslatorOptions& options)
      : engine_(std::move(used)), search_(options.search), translator_(*engine_, options) {}

  const SearchOptions& search() const { return search_; }
  const TextTranslator& translator() const { return translator_; }
  const OwnProcess& process() const { return process_; }
  bool in_its_thread() const { return std::this_thread::get_id() == thread_.get_id(); }

  static void start(const std::shared_ptr<Worker>& worker) {
    worker->thread_ = new_thread([&] { return std::thread([worker] { worker->work(); }); });
  }

  void end() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    wake_.notify_one();
    in_its_thread() ? thread_.detach() : thread_.join();
  }

  // Keeps this object alive until the process ends.
  void leave(const std::shared_ptr<Worker>& self) { itself_ = self; }

  Ticket submit(TranslationRequest request, Answered answered) {
    Ticket ticket = 0;
    {
      const std::lock_guard lock(mutex_);
      require(!ending_, "the translator is being destroyed");
      ticket = ++last_ticket_;
      enqueue(ticket);  // first, since tickets without a request are skipped
      auto partial = std::exchange(request.partial, {});
      open_.emplace(ticket, Request{std::move(request), std::move(answered),
                                    partial ? std::make_shared<const Partial>(std::move(partial)) : nullptr});
    }
    wake_.notify_one();
    return ticket;
  }

  bool cancel(Ticket ticket) {
    {
      const std::lock_guard lock(mutex_);
      auto request = open_.extract(ticket);
      if (!request) return false;
      cancelled_.insert(std::move(request));
    }
    wake_.notify_one();
    return true;
  }

 private:
  using Partial = std::function<void(const std::string& text)>;
  struct Request {
    TranslationRequest request;
    Answered answered;
    std::shared_ptr<const Partial> partial;  // null: not requested. Shared, as copying the function may need memory
    TranslationAnswer answer = {};
  };
  // What one thread has submitted, in its order.
  struct Queue {
    std::thread::id thread;
    std::deque<Ticket> tickets;  // not empty; some may be cancelled
  };
  using Requests = std::map<Ticket, Request>;  // moving a node between maps needs no memory, so it cannot fail

  void work() {
    leave_signals_to_the_program();
    while (take_work()) {
      try {
        translator_.step();
      } catch (...) {
        fail_all_in_flight();
      }
      give_partials();
      for (auto& [ticket, request] : std::exchange(finished_, {})) call(request.answered, std::move(request.answer));
    }
  }

  // The last partial translation of each request in this step; not delivered for finished and cancelled requests.
  void give_partials() {
    for (const auto& [ticket, text] : std::exchange(partials_, {}))
      if (const auto partial = partial_of(ticket)) call(*partial, text);
  }

  std::shared_ptr<const Partial> partial_of(Ticket ticket) {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(ticket);
    return found == open_.end() ? nullptr : found->second.partial;
  }

  // Waits for something to do. False: the translator is ending, and all requests are answered.
  bool take_work() {
    Requests cancelled;
    bool ending = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return ending_ || !cancelled_.empty() || !queues_.empty() || !in_flight_.empty(); });
      ending = ending_;
      if (ending) cancelled_.merge(open_);
      cancelled = std::exchange(cancelled_, {});
    }
    for (auto& [ticket, request] : cancelled) {
      if (const auto found = in_flight_.extract(ticket)) stop_translating(found.mapped());
      call(request.answered, TranslationAnswer{.cancelled = true});
    }
    TranslationRequest request;
    while (translator_.wants_more())
      if (const Ticket ticket = next_queued(request))
        begin(ticket, std::move(request));
      else
        break;
    return !ending;
  }

  void enqueue(Ticket ticket) {
    const auto thread = std::this_thread::get_id();
    const auto found = std::ranges::find(queues_, thread, &Queue::thread);
    found != queues_.end() ? found->tickets.push_back(ticket) : queues_.push_back({thread, {ticket}});
  }

  Ticket take_turn() {
    const auto turn = queues_.begin();
    const Ticket ticket = turn->tickets.front();
    turn->tickets.pop_front();
    turn->tickets.empty() ? queues_.pop_front() : queues_.splice(queues_.end(), queues_, turn);
    return ticket;
  }

  // 0: none.
  Ticket next_queued(TranslationRequest& request) {
    const std::lock_guard lock(mutex_);
    while (!queues_.empty()) {
      const auto found = open_.find(take_turn());
      if (found == open_.end()) continue;  // it was cancelled
      request = std::move(found->second.request);
      if (found->second.partial) request.partial = keeping_partials(found->first);
      return found->first;
    }
    return 0;
  }

  // Called by the search, possibly from several threads at once.
  Partial keeping_partials(Ticket ticket) {
    return [this, ticket](const std::string& text) {
      const std::lock_guard lock(partials_mutex_);
      partials_[ticket] = text;
    };
  }

  void begin(Ticket ticket, TranslationRequest request) {
    try {
      in_flight_[ticket] = 0;
      in_flight_[ticket] = translator_.submit(
          std::move(request), [this, ticket](std::vector<TranslatedText> best) { finish(ticket, {std::move(best)}); },
          [this, ticket](std::exception_ptr error) { finish(ticket, {.error = std::move(error)}); });
    } catch (...) {
      finish(ticket, {.error = std::current_exception()});
      fail_all_in_flight();
    }
  }

  void stop_translating(TextTranslator::Ticket ticket) {
    try {
      translator_.cancel(ticket);
    } catch (...) {
      fail_all_in_flight();
    }
  }

  // An exception of the translator ends all of its requests.
  void fail_all_in_flight() {
    for (const auto error = std::current_exception(); !in_flight_.empty();)
      finish(in_flight_.begin()->first, {.error = error});
  }

  void finish(Ticket ticket, TranslationAnswer answer) {
    in_flight_.erase(ticket);
    const std::lock_guard lock(mutex_);
    if (auto request = open_.extract(ticket)) {
      request.mapped().answer = std::move(answer);
      finished_.insert(std::move(request));
    }
  }

  // Calls a callback of the user.
  template <class F, class T>
  void call(const F& function, T&& given) {
    try {
      function(std::forward<T>(given));
    } catch (const std::exception& error) {
      warn_of(error.what());
    } catch (...) {
      warn_of("of unknown type");
    }
  }

  void warn_of(const char* exception) {
    try {
      const Engine::Scope scope(*engine_);
      log_warning("a translation callback threw an exception: {}", exception);
    } catch (...) {  // no memory for the message, or the log threw: there is nowhere to report it
    }
  }

  const OwnProcess process_;
  const std::shared_ptr<Engine> engine_;
  const SearchOptions search_;

  std::mutex mutex_;
  std::condition_variable wake_;
  Requests open_;
  std::list<Queue> queues_;  // in the order of their turns
  Requests cancelled_;
  Ticket last_ticket_ = 0;
  bool ending_ = false;

  // Used by the thread only.
  TextTranslator translator_;
  std::map<Ticket, TextTranslator::Ticket> in_flight_;
  Requests finished_;

  std::mutex partials_mutex_;
  std::map<Ticket, std::string> partials_;  // of the current step

  std::thread thread_;
  std::shared_ptr<Worker> itself_;
};

BackgroundTranslator::BackgroundTranslator(std::shared_ptr<Engine> engine, TextTranslatorOptions options)
    : worker_([&] {
        require(bool(engine), "the engine is null");
        return std::make_shared<Worker>(std::move(engine), options);
      }()) {
  Worker::start(worker_);
}

// A child of fork() has no thread to join, and leaves its copy of the objects alone until it ends.
BackgroundTranslator::~BackgroundTranslator() {
  worker_->process().forked() ? worker_->leave(worker_) : worker_->end();
}

const SearchOptions& BackgroundTranslator::search() const { return worker_->search(); }

std::shared_ptr<const Glossary> BackgroundTranslator::glossary(const std::map<std::string, std::string>& terms) const {
  worker_->process().require_not_forked("translator");
  return worker_->translator().glossary(terms);
}

std::shared_ptr<const ForbiddenPhrases> BackgroundTranslator::forbidden_phrases(
    const std::vector<std::string>& phrases) const {
  worker_->process().require_not_forked("translator");
  return worker_->translator().forbidden_phrases(phrases);
}

BackgroundTranslator::Ticket BackgroundTranslator::submit(TranslationRequest request, Answered answered) {
  worker_->process().require_not_forked("translator");
  worker_->translator().require_valid(request);
  require(bool(answered), "the function that receives the answer is empty");
  return worker_->submit(std::move(request), std::move(answered));
}

bool BackgroundTranslator::cancel(Ticket ticket) {
  worker_->process().require_not_forked("translator");
  return worker_->cancel(ticket);
}

std::vector<std::vector<TranslatedText>> BackgroundTranslator::translate(const std::vector<std::string>& lines,
                                                                         const SearchOptions& search) {
  require(!worker_->in_its_thread(),
          "translate() was called from the translator's own thread, which would wait for itself forever");
  struct Results {
    std::mutex mutex;
    std::condition_variable all;
    size_t missing;
    std::vector<TranslationAnswer> answers;
  };
  const auto results = std::make_shared<Results>();
  results->missing = lines.size();
  results->answers.resize(lines.size());
  for (size_t i = 0; i < lines.size(); ++i)
    submit({.text = lines[i], .search = search, .line = i}, [results, i](TranslationAnswer answer) {
      const std::lock_guard lock(results->mutex);
      results->answers[i] = std::move(answer);
      if (--results->missing == 0) results->all.notify_one();
    });
  std::unique_lock lock(results->mutex);
  results->all.wait(lock, [&] { return results->missing == 0; });
  std::vector<std::vector<TranslatedText>> best;
  for (TranslationAnswer& answer : results->answers) {
    if (answer.error) std::rethrow_exception(answer.error);
    require(!answer.cancelled, "the translator is being destroyed");
    best.push_back(std::move(answer.best));
  }
  return best;
}

}  // namespace dragoman
