#include <gmock/gmock.h>

#include <future>

#include "base/error.h"
#include "serve/translation_worker.h"
#include "tests/decode/tiny_translator.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

/// Jobs name languages; the worker that gets them decides what they mean, since a reload may have replaced the model
/// that the job was meant for.
class WorkerLanguages : public testing::Test {
 protected:
  /// A model of a vocabulary with these pieces.
  std::string model(const std::vector<std::string>& pieces) {
    const TinyModel tiny;
    ListedVocabulary listed{.special = {.unk = 0, .eos = 1}, .pieces = {"<unk>", "</s>", "house"}};
    listed.pieces.insert(listed.pieces.end(), pieces.begin(), pieces.end());
    fill_up(listed, tiny_vocabulary().size());
    const Vocabulary vocabulary = Vocabulary::from_list(std::move(listed), "list");
    const std::string path = folder / "m.safetensors";
    save_model(path, tiny.config, {vocabulary, vocabulary}, weights_of(tiny.model->parameters()));
    return path;
  }

  /// "" if a job of either kind that names the languages succeeds.
  std::string error(const std::string& path, const Languages& languages) {
    Metrics metrics;
    TranslationWorker worker(engine, {.models = {path}, .requests_name_languages = true}, {}, metrics,
                             [](const std::function<void()>& f) { f(); });
    std::promise<void> translated, scored;
    TranslationJob translation;
    translation.languages = languages;
    translation.sentences = translation.tags = {"house"};
    translation.search.max_length_add = 3;
    translation.done = [&](const auto&) { translated.set_value(); };
    translation.failed = [&](const std::exception_ptr& e) { translated.set_exception(e); };
    ScoringJob scoring{.sources = {"house"}, .targets = {"house"}, .languages = languages};
    scoring.done = [&](const auto&) { scored.set_value(); };
    scoring.failed = [&](const std::exception_ptr& e) { scored.set_exception(e); };
    try {
      worker.submit(translation);
      translated.get_future().get();
    } catch (const Error& e) {
      EXPECT_THROW(worker.submit(scoring), Error);
      return e.what();
    }
    worker.submit(scoring);
    scored.get_future().get();
    return "";
  }

  const TemporaryFolder folder;
  Engine engine{{.threads = 1}};
};

TEST_F(WorkerLanguages, MayHaveAnyNameIfTheModelHasOnePair) {
  const std::string path = model({});
  for (const Languages& languages : {Languages{}, {"en", "fr"}, {"", "fr"}, {"en", ""}, {"und", "und"}})
    EXPECT_EQ(error(path, languages), "") << languages.target;
}

TEST_F(WorkerLanguages, MustBeKnownIfTheModelLetsJobsChoose) {
  const std::string path = model({"<2de>", "<2fr>"});
  EXPECT_EQ(error(path, {"en", "fr"}), "");
  EXPECT_EQ(error(path, {"en", "up"}), "up is not supported as a target language: the model knows de, fr");
  for (const char* none : {"", "und"})
    EXPECT_EQ(error(path, {"en", none}), "target is missing: the model knows de, fr") << none;
}

}  // namespace
}  // namespace dragoman
