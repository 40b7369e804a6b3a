#include "dragoman/background_translator.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "base/error.h"
#include "dragoman/engine.h"
#include "dragoman/scorer.h"
#include "tests/decode/tiny_translator.h"
#include "tests/failing_memory.h"
#include "tests/no_threads.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr SearchOptions quick{.beam_size = 2, .max_length_add = 5};
constexpr SearchOptions slow{.beam_size = 4, .max_length_add = 500, .min_length = 500};

class BackgroundTranslatorTest : public testing::Test {
 protected:
  BackgroundTranslatorTest() { TinyModel().save(model); }
  std::unique_ptr<BackgroundTranslator> load() {
    return std::make_unique<BackgroundTranslator>(engine, TextTranslatorOptions{.models = {model}, .search = quick});
  }

  TemporaryFolder folder;
  const std::string model = folder / "tiny.safetensors";
  std::shared_ptr<Engine> engine = std::make_shared<Engine>(EngineOptions{.threads = 2});
  const std::vector<std::string> lines = {"a red house", "", "the old book is new"};
};

std::vector<std::string> best_of(const std::vector<std::vector<TranslatedText>>& found) {
  std::vector<std::string> texts;
  for (const auto& best : found) texts.push_back(best.at(0).text);
  return texts;
}

TEST_F(BackgroundTranslatorTest, TranslatesAsOneThatIsStepped) {
  const auto translator = load();
  const auto expected = TextTranslator(*engine, {.models = {model}, .search = quick}).translate(lines);
  EXPECT_EQ(best_of(translator->translate(lines, translator->search())), expected);
  SearchOptions several = quick;
  several.n_best = 2;
  EXPECT_EQ(translator->translate(lines, several)[0].size(), 2u);
  EXPECT_TRUE(translator->translate({}, quick).empty());
}

TEST_F(BackgroundTranslatorTest, DrawsByTheNumberOfALine) {
  const SearchOptions drawn{.max_length_add = 20, .sampling = Sampling::full};
  const std::vector<std::string> equal(3, "a red house");
  const auto expected = TextTranslator(*engine, {.models = {model}, .search = drawn}).translate(equal);
  EXPECT_EQ(std::set(expected.begin(), expected.end()).size(), 3u);
  const auto translator = load();
  EXPECT_EQ(best_of(translator->translate(equal, drawn)), expected);
  std::promise<std::string> third;
  translator->submit({.text = equal[2], .search = drawn, .line = 2},
                     [&](TranslationAnswer answer) { third.set_value(answer.best.at(0).text); });
  EXPECT_EQ(third.get_future().get(), expected[2]);
}

TEST_F(BackgroundTranslatorTest, KeepsItsEngine) {
  const auto translator = load();
  const auto expected = best_of(translator->translate(lines, quick));
  engine.reset();
  EXPECT_EQ(best_of(translator->translate(lines, quick)), expected);
}

TEST_F(BackgroundTranslatorTest, TranslatesForManyThreadsAtOnce) {
  const auto translator = load();
  const auto expected = best_of(translator->translate(lines, quick));
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] { EXPECT_EQ(best_of(translator->translate(lines, quick)), expected); });
  for (auto& thread : threads) thread.join();
}

TEST_F(BackgroundTranslatorTest, DoesNotLetALineWaitForAllLinesOfAnotherThread) {
  const auto translator = load();
  std::string long_line;
  for (int i = 0; i < 20; ++i) long_line += "the old book is new ";
  constexpr int many = 500;
  constexpr SearchOptions quickest{.beam_size = 1, .max_length_add = 5, .max_length_factor = 0};
  std::atomic<int> answered = 0;
  std::latch all(many);
  std::thread([&] {
    for (int i = 0; i < many; ++i)
      translator->submit({.text = long_line, .search = quickest}, [&](const auto&) {
        ++answered;
        all.count_down();
      });
  }).join();
  const int before = answered;
  std::promise<int> meanwhile;
  translator->submit({.text = lines[0], .search = quick}, [&](const auto&) { meanwhile.set_value(answered - before); });
  EXPECT_LT(meanwhile.get_future().get(), many / 4);
  all.wait();
}

// Counts how each request ends.
struct Ends {
  void operator()(size_t request, const TranslationAnswer& answer) {
    const std::lock_guard lock(mutex);
    ++calls[request];
    if (answer.cancelled) cancelled.insert(request);
  }
  std::mutex mutex;
  std::vector<int> calls = std::vector<int>(400);
  std::set<size_t> cancelled;
};

// Cancelling races with the end of translations: whichever comes first, there is one answer, and cancel() tells which.
TEST_F(BackgroundTranslatorTest, AnswersEachRequestOnceAlsoWhenItIsCancelledMeanwhile) {
  const auto ends = std::make_shared<Ends>();
  std::set<size_t> cancelled;
  {
    const auto translator = load();
    std::mutex mutex;
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (size_t i = 0; i < 100; ++i) {
          const size_t request = 100 * t + i;
          const auto ticket = translator->submit({.text = lines[i % 3], .search = quick},
                                                 [ends, request](const auto& answer) { (*ends)(request, answer); });
          if (i % 2 == 0) continue;
          for (size_t wait = 0; wait < i; ++wait) std::this_thread::yield();
          const std::lock_guard lock(mutex);
          if (translator->cancel(ticket)) cancelled.insert(request);
          EXPECT_FALSE(translator->cancel(ticket));
        }
      });
    for (auto& thread : threads) thread.join();
    // Waits for all, so that the end of the translator cancels none.
    translator->translate(lines, quick);
    while ([&] {
      const std::lock_guard lock(ends->mutex);
      return std::ranges::count(ends->calls, 0) > 0;
    }())
      std::this_thread::yield();
  }
  EXPECT_EQ(ends->calls, std::vector<int>(400, 1));
  EXPECT_EQ(ends->cancelled, cancelled);
}

TEST_F(BackgroundTranslatorTest, CancelsWhatIsUnfinishedWhenItEnds) {
  const auto ends = std::make_shared<Ends>();
  auto translator = load();
  for (size_t request = 0; request < 50; ++request)
    translator->submit({.text = "the book", .search = slow},
                       [ends, request](const auto& answer) { (*ends)(request, answer); });
  translator.reset();
  EXPECT_EQ(std::ranges::count(ends->calls, 1), 50);
  EXPECT_EQ(ends->cancelled.size(), 50u);
}

TEST_F(BackgroundTranslatorTest, MayBeUsedAndDestroyedByWhatItCalls) {
  auto translator = load();
  std::latch all(3);
  std::string refused;
  translator->submit({.text = lines[0], .search = quick}, [&](const auto&) {
    EXPECT_THAT([&] { translator->translate(lines, quick); },
                ThrowsMessage<Error>(HasSubstr("called from the translator's own thread")));
    translator->submit({.text = lines[0], .search = slow}, [&](const auto& answer) {
      EXPECT_TRUE(answer.cancelled);
      all.count_down();
    });
    const auto second = translator->submit({.text = lines[0], .search = slow}, [&](const auto& answer) {
      EXPECT_TRUE(answer.cancelled);
      all.count_down();
    });
    EXPECT_TRUE(translator->cancel(second));
    translator.reset();
    all.count_down();
  });
  all.wait();
}

TEST_F(BackgroundTranslatorTest, SurvivesWhatItsCallersThrow) {
  std::mutex mutex;
  std::vector<std::string> logged;
  engine = std::make_shared<Engine>(EngineOptions{.threads = 1, .log = [&](LogLevel, std::string_view line) {
                                                    const std::lock_guard lock(mutex);
                                                    logged.emplace_back(line);
                                                  }});
  const auto translator = load();
  translator->submit({.text = lines[0], .search = quick}, [](const auto&) { throw Error("a mistake of mine"); });
  translator->submit({.text = lines[0], .search = quick}, [](const auto&) { throw 5; });
  EXPECT_EQ(translator->translate(lines, quick).size(), lines.size());
  const std::lock_guard lock(mutex);
  EXPECT_THAT(logged, Contains(HasSubstr("threw an exception: a mistake of mine")));
}

// Submits some lines, with functions that cannot be copied without memory, cancels one and waits for the others, while
// memory fails: each gets an answer, which is right or an error. The translator is usable afterwards.
TEST_F(BackgroundTranslatorTest, AnswersWhereverItsThreadRunsOutOfMemory) {
  save_with_words(TinyModel(), model);
  const auto translator = load();
  const auto expected = best_of(translator->translate(lines, quick));
  for (const auto fails : {FailingMemory::Fails::once, FailingMemory::Fails::always}) {
    int failures = 0;
    for (int n = 1;; n += 1 + n / 10, ++failures) {
      std::latch all(4);
      std::array<TranslationAnswer, 4> answers;
      bool failed = false;
      {
        const FailingMemory failing(n, fails, FailingMemory::In::other_threads);
        const auto submit = [&](size_t i, const SearchOptions& search) {
          const std::array<char, 100> large{};
          return translator->submit(
              {.text = lines[i % 3], .search = search, .partial = [large](const auto&) { static_cast<void>(large); }},
              [&, i, large](TranslationAnswer answer) {
                static_cast<void>(large);
                answers[i] = std::move(answer);
                all.count_down();
                throw Error("a mistake of mine");  // logging it needs memory
              });
        };
        translator->cancel(submit(3, slow));
        for (size_t i = 0; i < 3; ++i) submit(i, quick);
        all.wait();
        failed = FailingMemory::failed();
      }
      for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(answers[i].error || answers[i].best.at(0).text == expected[i]) << n;
      ASSERT_EQ(best_of(translator->translate(lines, quick)), expected) << n;
      if (!failed) break;
    }
    EXPECT_GT(failures, 10);
  }
}

TEST_F(BackgroundTranslatorTest, SaysThatTheSystemStartsNoMoreThreads) {
  const NoThreads none;
  EXPECT_THAT([&] { load(); }, ThrowsMessage<Error>(HasSubstr("the system cannot start more threads")));
}

TEST_F(BackgroundTranslatorTest, RefusesSenselessOptionsAtOnce) {
  EXPECT_THAT([] { BackgroundTranslator(nullptr, {}); }, ThrowsMessage<Error>("the engine is null"));
  const auto translator = load();
  EXPECT_THAT([&] { translator->submit({.text = "a"}, nullptr); },
              ThrowsMessage<Error>("the function that receives the answer is empty"));
  EXPECT_THAT([&] { translator->submit({.text = "a", .search = {.beam_size = 0}}, [](const auto&) { FAIL(); }); },
              ThrowsMessage<Error>(HasSubstr("--beam-size: 0")));
}

// Later they would end the requests in flight.
TEST_F(BackgroundTranslatorTest, RefusesAtOnceWhatCannotContainTerms) {
  const auto translator = load(), other = load();
  const auto terms = translator->glossary({{"red", "kaum rot"}});
  const auto refusal = [&](BackgroundTranslator& of, const SearchOptions& search) {
    return [&of, terms, search] {
      of.submit({.text = "red", .search = search, .glossary = terms}, [](const auto&) { FAIL(); });
    };
  };
  EXPECT_THAT(refusal(*translator, {.sampling = Sampling::full}), ThrowsMessage<Error>(HasSubstr("sampling cannot")));
  std::promise<void> answered;  // a translator of the same model takes it
  other->submit({.text = "red", .glossary = terms}, [&](const auto&) { answered.set_value(); });
  answered.get_future().wait();
  EXPECT_THAT([&] { translator->glossary({{"red", ""}}); }, ThrowsMessage<Error>("glossary: 'red' has no translation"));
}

// The child ends with 0 if `works` does not throw and every handle can be destroyed.
int status_of_child(const std::function<void()>& works) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // ends a child that hangs
    try {
      works();
    } catch (...) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST_F(BackgroundTranslatorTest, SaysInAForkedChildThatItCannotTranslate) {
  auto translator = load();
  auto scorer = std::make_unique<Scorer>(*engine, ScorerOptions{.model = model});
  translator->translate(lines, quick);  // all threads have begun
  const auto refused = ThrowsMessage<Error>(HasSubstr("was created before this process was forked"));
  EXPECT_EQ(status_of_child([&] {
              if (!testing::Value([&] { translator->translate(lines, quick); }, refused)) _exit(2);
              if (!testing::Value([&] { translator->cancel(1); }, refused)) _exit(3);
              if (!testing::Value([&] { scorer->score({"a"}, {"b"}); }, refused)) _exit(4);
              scorer.reset();
              translator.reset();
              engine.reset();
              engine = std::make_shared<Engine>(EngineOptions{.threads = 2});
              if (load()->translate(lines, quick).size() != lines.size()) _exit(5);
            }),
            0);
  EXPECT_EQ(translator->translate(lines, quick).size(), lines.size());
}

}  // namespace
}  // namespace dragoman
