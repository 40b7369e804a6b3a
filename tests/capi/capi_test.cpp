#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <latch>
#include <thread>

#include "dragoman/dragoman.h"
#include "dragoman/engine.h"
#include "dragoman/scorer.h"
#include "dragoman/text_translator.h"
#include "tests/decode/tiny_translator.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

// The message of an error, which is freed.
std::string message(dragoman_error*& error) {
  const std::string text = dragoman_error_message(error);
  dragoman_error_free(std::exchange(error, nullptr));
  return text;
}

class CApi : public testing::Test {
 protected:
  CApi() {
    TinyModel().save(model);
    dragoman_engine_options options;
    dragoman_engine_options_init(&options, sizeof options);
    options.threads = 2;
    EXPECT_EQ(dragoman_engine_new(&options, &engine, nullptr), DRAGOMAN_OK);
    dragoman_search_options_init(&search, sizeof search);
    search.beam_size = 2;
    search.max_length_add = 5;
    translator = load();
  }
  ~CApi() override {
    dragoman_translator_free(translator);
    dragoman_engine_free(engine);
  }

  dragoman_translator* load() {
    const char* path = model.c_str();
    dragoman_translator_options options;
    dragoman_translator_options_init(&options, sizeof options);
    options.models = &path;
    options.model_count = 1;
    options.search = &search;
    dragoman_translator* made = nullptr;
    EXPECT_EQ(dragoman_translator_new(engine, &options, &made, nullptr), DRAGOMAN_OK);
    return made;
  }

  dragoman_request request_for(const char* text, dragoman_answer_function answer, void* context) {
    dragoman_request request;
    dragoman_request_init(&request, sizeof request);
    request.text = text;
    request.answer = answer;
    request.context = context;
    return request;
  }

  TemporaryFolder folder;
  const std::string model = folder / "tiny.safetensors";
  dragoman_engine* engine = nullptr;
  dragoman_search_options search;
  dragoman_translator* translator = nullptr;
  dragoman_error* error = nullptr;
  const std::vector<std::string> lines = {"a red house", "", "the old book is new"};
  const char* const texts[3] = {lines[0].c_str(), lines[1].c_str(), lines[2].c_str()};
};

TEST_F(CApi, HasTheVersionOfTheProjectAndTheRequestedThreads) {
  EXPECT_STREQ(dragoman_version(), DRAGOMAN_VERSION);
  EXPECT_EQ(dragoman_engine_threads(engine), 2);
}

TEST_F(CApi, HasTheDefaultsOfCpp) {
  dragoman_search_options o;
  dragoman_search_options_init(&o, sizeof o);
  const SearchOptions expected;
  EXPECT_EQ(o.struct_size, sizeof o);
  EXPECT_EQ(o.beam_size, expected.beam_size);
  EXPECT_EQ(o.normalize, expected.normalize);
  EXPECT_EQ(o.max_length_add, expected.max_length_add);
  EXPECT_EQ(o.temperature, expected.temperature);
  EXPECT_EQ(o.seed, expected.seed);
}

TEST_F(CApi, TranslatesAsCppDoes) {
  search.n_best = 2;
  dragoman_translations* found = nullptr;
  ASSERT_EQ(dragoman_translate(translator, texts, 3, &search, &found, &error), DRAGOMAN_OK) << message(error);
  Engine alone;
  TextTranslator expected(alone, {.models = {model}});
  ASSERT_EQ(dragoman_translations_texts(found), 3u);
  for (size_t i = 0; i < 3; ++i) {
    std::vector<TranslatedText> best;
    expected.submit(
        {.text = lines[i], .search = {.beam_size = 2, .max_length_add = 5, .n_best = 2}}, [&](auto b) { best = b; },
        [](std::exception_ptr) { FAIL(); });
    while (expected.step()) {}
    ASSERT_EQ(dragoman_translations_count(found, i), best.size());
    for (size_t rank = 0; rank < best.size(); ++rank) {
      EXPECT_EQ(dragoman_translations_text(found, i, rank), best[rank].text);
      EXPECT_EQ(dragoman_translations_score(found, i, rank), best[rank].score);
      EXPECT_EQ(dragoman_translations_log_prob(found, i, rank), best[rank].log_prob);
      size_t tokens = 0;
      const float* log_probs = dragoman_translations_token_log_probs(found, i, rank, &tokens);
      EXPECT_THAT(std::vector(log_probs, log_probs + tokens), ElementsAreArray(best[rank].token_log_probs));
      ASSERT_EQ(best[rank].pieces.size(), tokens);
      for (size_t t = 0; t < tokens; ++t)
        EXPECT_EQ(dragoman_translations_piece(found, i, rank, t), best[rank].pieces[t]);
      EXPECT_EQ(dragoman_translations_piece(found, i, rank, tokens), nullptr);
    }
  }
  EXPECT_EQ(dragoman_translations_text(found, 0, 2), nullptr);
  EXPECT_EQ(dragoman_translations_count(found, 3), 0u);
  dragoman_translations_free(found);
}

// Of a model with itself, weighted twice: log-probabilities add up, of probabilities only the ratio of weights counts.
TEST_F(CApi, HasEitherMeanOfAnEnsemble) {
  const char* const pair[] = {model.c_str(), model.c_str()};
  const double weights[] = {2, 2};
  const auto log_prob = [&](int mean) {
    dragoman_translator_options options;
    dragoman_translator_options_init(&options, sizeof options);
    options.models = pair, options.model_count = 2;
    options.weights = weights;
    options.ensemble_mean = mean;
    options.search = &search;
    dragoman_translator* made = nullptr;
    if (dragoman_translator_new(engine, &options, &made, &error) != DRAGOMAN_OK) return 1.0;
    dragoman_translations* found = nullptr;
    EXPECT_EQ(dragoman_translate(made, texts, 1, nullptr, &found, nullptr), DRAGOMAN_OK);
    const double sum = dragoman_translations_log_prob(found, 0, 0);
    dragoman_translations_free(found);
    dragoman_translator_free(made);
    return sum;
  };
  search.beam_size = 1;
  const double arithmetic = log_prob(DRAGOMAN_MEAN_ARITHMETIC), geometric = log_prob(DRAGOMAN_MEAN_GEOMETRIC);
  EXPECT_LT(arithmetic, 0);
  EXPECT_NEAR(geometric, 4 * arithmetic, 1e-4 * -geometric);
  EXPECT_EQ(log_prob(DRAGOMAN_MEAN_AUTOMATIC), geometric);
  EXPECT_EQ(log_prob(3), 1);
  EXPECT_THAT(message(error), HasSubstr("ensemble-mean is 3, expected 0 to 2"));
}

TEST_F(CApi, ScoresAsCppDoes) {
  dragoman_scorer_options options;
  dragoman_scorer_options_init(&options, sizeof options);
  options.model = model.c_str();
  dragoman_scorer* scorer = nullptr;
  ASSERT_EQ(dragoman_scorer_new(engine, &options, &scorer, &error), DRAGOMAN_OK) << message(error);
  dragoman_scores* scores = nullptr;
  ASSERT_EQ(dragoman_score(scorer, texts, texts, 3, &scores, &error), DRAGOMAN_OK) << message(error);
  Engine alone;
  const auto expected = Scorer(alone, {.model = model}).score(lines, lines);
  ASSERT_EQ(dragoman_scores_count(scores), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(dragoman_scores_log_prob(scores, i), expected[i].log_prob);
    size_t tokens = 0;
    const float* log_probs = dragoman_scores_token_log_probs(scores, i, &tokens);
    EXPECT_THAT(std::vector(log_probs, log_probs + tokens), ElementsAreArray(expected[i].token_log_probs));
  }
  EXPECT_EQ(dragoman_scores_token_log_probs(scores, 3, nullptr), nullptr);
  dragoman_scores_free(scores);
  dragoman_scorer_free(scorer);
}

TEST_F(CApi, KeepsTheEngineOfATranslator) {
  dragoman_engine_free(std::exchange(engine, nullptr));
  dragoman_translations* found = nullptr;
  EXPECT_EQ(dragoman_translate(translator, texts, 3, nullptr, &found, nullptr), DRAGOMAN_OK);
  dragoman_translations_free(found);
}

struct Outcome {
  std::latch done{1};
  dragoman_status status = DRAGOMAN_OK;
  std::string text;
  dragoman_linked_words first_link;
};

void keep(void* context, dragoman_status status, const dragoman_translations* best, const dragoman_error* error) {
  auto* outcome = static_cast<Outcome*>(context);
  outcome->status = status;
  outcome->text = status == DRAGOMAN_OK ? dragoman_translations_text(best, 0, 0) : dragoman_error_message(error);
  outcome->first_link = dragoman_translations_link(best, 0, 0, 0);
  outcome->done.count_down();
}

TEST_F(CApi, AnswersARequestWithItsOwnOptionsAndPrefix) {
  Outcome outcome;
  auto request = request_for(texts[0], keep, &outcome);
  request.prefix = "the";
  ASSERT_EQ(dragoman_submit(translator, &request, nullptr, &error), DRAGOMAN_OK) << message(error);
  outcome.done.wait();
  EXPECT_EQ(outcome.status, DRAGOMAN_OK);
  EXPECT_THAT(outcome.text, testing::StartsWith("the"));
}

TEST_F(CApi, AnswersARequestWithTermsOfItsOwn) {
  const char *terms[] = {"red", "house"}, *translations[] = {"kaum rot", "Haus"}, *other[] = {"red", "red"};
  dragoman_glossary* glossary = nullptr;
  ASSERT_EQ(dragoman_glossary_new(translator, terms, translations, 2, &glossary, &error), DRAGOMAN_OK);
  Outcome outcome;
  auto request = request_for("a red house", keep, &outcome);
  request.glossary = glossary;
  ASSERT_EQ(dragoman_submit(translator, &request, nullptr, &error), DRAGOMAN_OK) << message(error);
  dragoman_glossary_free(std::exchange(glossary, nullptr));
  outcome.done.wait();
  EXPECT_THAT(outcome.text, testing::AllOf(HasSubstr("kaum rot"), HasSubstr("Haus")));
  EXPECT_EQ(dragoman_glossary_new(translator, other, translations, 2, &glossary, &error), DRAGOMAN_ERROR);
  EXPECT_EQ(message(error), "glossary: 'red' has another translation");
  EXPECT_EQ(dragoman_glossary_new(translator, nullptr, translations, 2, &glossary, &error), DRAGOMAN_ERROR);
  EXPECT_THAT(message(error), HasSubstr("terms is NULL"));
  dragoman_glossary_free(nullptr);
}

TEST_F(CApi, AnswersARequestWithPhrasesToAvoid) {
  Outcome outcome, other;
  auto request = request_for("a red house", keep, &outcome);
  ASSERT_EQ(dragoman_submit(translator, &request, nullptr, &error), DRAGOMAN_OK) << message(error);
  outcome.done.wait();
  const std::string word = outcome.text.substr(0, outcome.text.find(' '));
  const char *phrases[] = {"no such text", word.c_str()}, *empty[] = {" "};
  dragoman_forbidden_phrases* forbidden = nullptr;
  ASSERT_EQ(dragoman_forbidden_phrases_new(translator, phrases, 2, &forbidden, &error), DRAGOMAN_OK);
  request = request_for("a red house", keep, &other);
  request.avoid = forbidden;
  ASSERT_EQ(dragoman_submit(translator, &request, nullptr, &error), DRAGOMAN_OK) << message(error);
  dragoman_forbidden_phrases_free(std::exchange(forbidden, nullptr));
  other.done.wait();
  EXPECT_NE(other.text.substr(0, other.text.find(' ')), word);
  EXPECT_EQ(dragoman_forbidden_phrases_new(translator, empty, 1, &forbidden, &error), DRAGOMAN_ERROR);
  EXPECT_EQ(message(error), "avoid: a phrase is empty");
  dragoman_forbidden_phrases_free(nullptr);
}

TEST_F(CApi, LinksTheWordsOfATranslationIfRequested) {
  for (const int alignment : {0, 1}) {
    Outcome outcome;
    auto request = request_for("a red house", keep, &outcome);
    request.alignment = alignment;
    ASSERT_EQ(dragoman_submit(translator, &request, nullptr, &error), DRAGOMAN_OK) << message(error);
    outcome.done.wait();
    const auto [from, to, target, target_end] = outcome.first_link;
    EXPECT_EQ(target < target_end, alignment == 1);
    EXPECT_LE(target_end, outcome.text.size());
    EXPECT_THAT(std::string("a red house").substr(from, to - from), testing::AnyOf("", "a", "red", "house"));
  }
}

struct Partials : Outcome {
  std::vector<std::string> texts;
  int after_the_answer = 0;
};

void keep_partial(void* context, const char* text) {
  auto* kept = static_cast<Partials*>(static_cast<Outcome*>(context));
  kept->texts.emplace_back(text);
  kept->after_the_answer += kept->done.try_wait();
}

// With many at once, searches run in threads of the engine.
TEST_F(CApi, ReportsPartialTranslations) {
  search.min_length = search.max_length_add = 60;
  for (const int beam : {1, 3}) {
    search.beam_size = beam;
    std::vector<Partials> kept(20);
    for (Partials& k : kept) {
      auto request = request_for(texts[2], keep, static_cast<Outcome*>(&k));
      request.search = &search;
      request.partial = keep_partial;
      ASSERT_EQ(dragoman_submit(translator, &request, nullptr, &error), DRAGOMAN_OK) << message(error);
    }
    for (Partials& k : kept) {
      k.done.wait();
      EXPECT_EQ(k.after_the_answer, 0);
      EXPECT_GT(k.texts.size(), beam == 1 ? 5u : 0u);
      k.texts.push_back(k.text);
      for (size_t i = 1; i < k.texts.size(); ++i) EXPECT_THAT(k.texts[i], testing::StartsWith(k.texts[i - 1]));
    }
  }
}

TEST_F(CApi, ReportsNothingOfACancelledRequest) {
  search.min_length = search.max_length_add = 500;
  struct Given : Partials {
    dragoman_translator* translator = nullptr;
    uint64_t ticket = 0;
    std::latch submitted{1};
  } given;
  given.translator = translator;
  auto request = request_for(texts[2], keep, static_cast<Outcome*>(&given));
  request.search = &search;
  request.partial = [](void* context, const char* text) {
    auto* g = static_cast<Given*>(static_cast<Outcome*>(context));
    g->texts.emplace_back(text);
    g->submitted.wait();
    dragoman_cancel(g->translator, g->ticket);
  };
  ASSERT_EQ(dragoman_submit(translator, &request, &given.ticket, nullptr), DRAGOMAN_OK);
  given.submitted.count_down();
  given.done.wait();
  EXPECT_EQ(given.status, DRAGOMAN_CANCELLED);
  EXPECT_EQ(given.texts.size(), 1u);
}

TEST_F(CApi, CancelsARequest) {
  Outcome outcome;
  search.min_length = search.max_length_add = 500;
  auto request = request_for(texts[0], keep, &outcome);
  request.search = &search;
  uint64_t ticket = 0;
  ASSERT_EQ(dragoman_submit(translator, &request, &ticket, nullptr), DRAGOMAN_OK);
  EXPECT_EQ(dragoman_cancel(translator, ticket), 1);
  EXPECT_EQ(dragoman_cancel(translator, ticket), 0);
  outcome.done.wait();
  EXPECT_EQ(outcome.status, DRAGOMAN_CANCELLED);
  EXPECT_THAT(outcome.text, HasSubstr("cancelled"));
}

TEST_F(CApi, SaysWhatIsWrong) {
  dragoman_engine_options options;
  dragoman_engine_options_init(&options, sizeof options);
  options.device = "tpu";
  dragoman_engine* none = nullptr;
  EXPECT_EQ(dragoman_engine_new(&options, &none, &error), DRAGOMAN_ERROR);
  EXPECT_THAT(message(error), HasSubstr("tpu"));
  EXPECT_EQ(none, nullptr);

  search.beam_size = 0;
  dragoman_translations* found = nullptr;
  EXPECT_EQ(dragoman_translate(translator, texts, 3, &search, &found, &error), DRAGOMAN_ERROR);
  EXPECT_THAT(message(error), HasSubstr("--beam-size: 0"));
  search.beam_size = 1;
  search.sampling = 9;
  EXPECT_EQ(dragoman_translate(translator, texts, 3, &search, &found, &error), DRAGOMAN_ERROR);
  EXPECT_THAT(message(error), HasSubstr("sampling is 9, expected 0 to 3"));
  const char* const missing[] = {"a", nullptr};
  EXPECT_EQ(dragoman_translate(translator, missing, 2, nullptr, &found, &error), DRAGOMAN_ERROR);
  EXPECT_THAT(message(error), HasSubstr("texts[1] is NULL"));
  EXPECT_EQ(dragoman_translate(nullptr, texts, 3, nullptr, &found, &error), DRAGOMAN_ERROR);
  EXPECT_THAT(message(error), HasSubstr("translator is NULL"));
  EXPECT_EQ(found, nullptr);
  dragoman_translator_free(nullptr), dragoman_engine_free(nullptr), dragoman_error_free(nullptr);
}

// As a newer and an older header would have it.
TEST_F(CApi, TakesOptionsOfOtherVersions) {
  struct Newer {
    dragoman_search_options known;
    int64_t added;
  } newer;
  dragoman_search_options_init(&newer.known, sizeof newer);
  EXPECT_EQ(newer.added, 0);
  dragoman_translations* found = nullptr;
  EXPECT_EQ(dragoman_translate(translator, texts, 3, &newer.known, &found, &error), DRAGOMAN_OK) << message(error);
  dragoman_translations_free(std::exchange(found, nullptr));
  newer.added = 1;
  EXPECT_EQ(dragoman_translate(translator, texts, 3, &newer.known, &found, &error), DRAGOMAN_ERROR);
  EXPECT_THAT(message(error), HasSubstr("sets options that version"));
  dragoman_search_options uninitialised = {};
  EXPECT_EQ(dragoman_translate(translator, texts, 3, &uninitialised, &found, &error), DRAGOMAN_ERROR);
  EXPECT_THAT(message(error), HasSubstr("dragoman_search_options.struct_size is 0"));

  unsigned char memory[sizeof(dragoman_search_options)];
  std::memset(memory, 0xAA, sizeof memory);
  dragoman_search_options_init(reinterpret_cast<dragoman_search_options*>(memory), 16);
  EXPECT_EQ(memory[16], 0xAA) << "an older program's struct ends here";
}

TEST_F(CApi, CanBeFreedInAForkedChild) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    dragoman_translations* found = nullptr;
    if (dragoman_translate(translator, texts, 3, nullptr, &found, &error) != DRAGOMAN_ERROR) _exit(1);
    if (message(error).find("forked") == std::string::npos) _exit(2);
    dragoman_translator_free(translator);
    dragoman_engine_free(engine);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace dragoman
