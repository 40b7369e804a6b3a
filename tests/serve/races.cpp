// Many threads submit to the models of a server, cancel, read its metrics and reload, while one thread has the answers.
// ThreadSanitizer ends the program at a race; the program itself ends with 1 unless each job that was not cancelled has
// had its one answer. The library, which it does not watch, translates with one thread.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "dragoman/engine.h"
#include "serve/served_models.h"
#include "tests/decode/tiny_translator.h"
#include "tests/temporary_folder.h"

namespace {

using namespace dragoman;

constexpr int threads = 4, jobs = 60;

/// As the server's thread: calls what is posted.
class Loop {
 public:
  Loop() : thread_([this] { work(); }) {}
  ~Loop() {
    post([this] { ended_ = true; });
    thread_.join();
  }
  void post(std::function<void()> f) {
    {
      const std::lock_guard lock(mutex_);
      posted_.push_back(std::move(f));
    }
    arrived_.notify_one();
  }

 private:
  void work() {
    while (!ended_) {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [this] { return !posted_.empty(); });
      const auto next = std::move(posted_.front());
      posted_.pop_front();
      lock.unlock();
      next();
    }
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> posted_;
  bool ended_ = false;  // of the thread
  std::thread thread_;
};

struct Job {
  int answers = 0, partials = 0;  // of the loop
  bool cancelled = false;         // of the thread that submitted it
};

TranslationJob translation(Job& job, int i) {
  const size_t sentences = i == 20 ? 1200 : i % 5 == 0 ? 60 : size_t(i % 3);  // 1200: memory goes back after them
  TranslationJob request;
  request.sentences.assign(sentences, "the old house is new");
  request.search = {.beam_size = 1 + i % 3, .max_length_add = 3};
  request.alignment = i % 7 == 0;
  if (i % 2 == 0) request.partial = [&job](size_t, const std::string&, bool) { ++job.partials; };
  request.done = [&job](const std::vector<std::vector<Translation>>&) { ++job.answers; };
  request.failed = [&job](const std::exception_ptr&) { job.answers += 100; };
  return request;
}

ScoringJob scoring(Job& job) {
  return {.sources = std::vector<std::string>(20, "the old house"),
          .targets = std::vector<std::string>(20, "is new"),
          .done = [&job](const std::vector<std::vector<float>>&) { ++job.answers; },
          .failed = [&job](const std::exception_ptr&) { job.answers += 100; }};
}

void submit(ServedModels& models, std::vector<Job>& all, const Metrics& metrics) {
  for (int i = 0; i < jobs; ++i) {
    Job& job = all[size_t(i)];
    const auto submitted = i % 6 == 1 ? models.submit(0, scoring(job)) : models.submit(0, translation(job, i));
    if (i % 4 == 3) {
      job.cancelled = true;
      std::this_thread::yield();
      submitted.cancel();
    }
    if (i % 10 == 0) (void)metrics.to_text(1);
  }
}

int run() {
  const TemporaryFolder folder;
  TinyModel().save(folder / "m.safetensors");
  Engine engine({.threads = 1});
  std::vector<std::vector<Job>> all(threads, std::vector<Job>(jobs));
  std::atomic<int> reloads = 0;
  {
    Metrics metrics;
    Loop loop;
    ServeOptions options;
    options.models = {folder / "m.safetensors"};
    ServedModels models(engine, options, metrics, [&loop](std::function<void()> f) { loop.post(std::move(f)); });
    std::vector<std::thread> submitters;
    for (auto& of_thread : all) submitters.emplace_back([&] { submit(models, of_thread, metrics); });
    while (reloads < 3) {
      models.reload([&reloads](const std::string& error) {
        if (!error.empty()) std::puts(error.c_str());
        ++reloads;
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    for (auto& thread : submitters) thread.join();
  }
  int wrong = 0;
  for (const auto& of_thread : all)
    for (const Job& job : of_thread) wrong += job.cancelled ? job.answers > 1 : job.answers != 1;
  std::printf("%d of %d jobs had another number of answers than one, with %d reloads\n", wrong, threads * jobs,
              reloads.load());
  return wrong > 0;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 1;
  }
}
