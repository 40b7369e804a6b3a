#include <gmock/gmock.h>

#include <array>
#include <future>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "serve/translation_worker.h"
#include "tests/decode/tiny_translator.h"
#include "tests/failing_memory.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Workers that post to their own thread, where memory can end before the next job begins.
class ScarceMemory : public testing::Test {
 protected:
  ScarceMemory() { TinyModel().save(model); }

  /// Submits a job twice to a worker that has no memory for the n-th allocation of the first. Whether they are done.
  template <class Job>
  std::vector<bool> done(Job job, int n) {
    bool scarce = false;
    std::optional<FailingMemory> memory;
    std::promise<void> begun;
    std::array<std::promise<bool>, 2> answered;
    Metrics metrics;
    TranslationWorker worker(engine, {.models = {model}}, {}, metrics, [&](const std::function<void()>& f) {
      memory.reset();
      f();
      if (std::exchange(scarce, false)) memory.emplace(n, FailingMemory::Fails::once, FailingMemory::In::this_thread);
    });
    worker.submit(TranslationJob{.done = [&](const auto&) {
      scarce = true;
      begun.set_value();
    }});
    begun.get_future().wait();
    std::vector<bool> done;
    for (auto& promise : answered) {
      job.done = [&](const auto&) { promise.set_value(true); };
      job.failed = [&](const std::exception_ptr& error) {
        EXPECT_THROW(std::rethrow_exception(error), std::bad_alloc);
        promise.set_value(false);
      };
      worker.submit(job);
      done.push_back(promise.get_future().get());
    }
    worker.finish();
    EXPECT_THAT(metrics.to_text(0), HasSubstr("dragoman_sentences_waiting 0\n"));
    return done;
  }

  TemporaryFolder folder;
  const std::string model = folder / "m.safetensors";
  Engine engine{{.threads = 1}};
};

// The first allocations are its own, the others those of a search that is made for it.
TEST_F(ScarceMemory, FailsTheJobThatCannotBegin) {
  TranslationJob translation;
  translation.sentences = {"the house", "is new"};
  translation.search.max_length_add = 3;
  for (int n = 1; n <= 20; ++n) EXPECT_THAT(done(translation, n), ElementsAre(false, true)) << n;
  const ScoringJob scoring{.sources = {"the old house"}, .targets = {"is new"}};
  for (int n = 1; n <= 3; ++n) EXPECT_THAT(done(scoring, n), ElementsAre(false, true)) << n;
}

}  // namespace
}  // namespace dragoman
