#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/train/fine_tuning.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
namespace fs = std::filesystem;

std::map<std::string, std::string> bytes_of(const Parameters& parameters) {
  std::map<std::string, std::string> bytes;
  for (const auto& p : parameters.named())
    bytes[p.name] = {static_cast<const char*>(p.value.data()), size_t(p.value.bytes())};
  return bytes;
}

std::map<std::string, std::string> bytes_of(const std::string& file) {
  const SafetensorsFile tensors(file);
  std::map<std::string, std::string> bytes;
  for (const TensorEntry& t : tensors.tensors())
    bytes[t.name] = {reinterpret_cast<const char*>(t.bytes.data()), t.bytes.size()};
  return bytes;
}

TEST_F(FineTuning, OnShorterTextKeepsTheLengthsOfTheModelAndOfEarlierText) {
  const TrainedLengths general = ModelFile(first()).trained();
  ASSERT_GT(general.source, 1);
  const auto train_on = [&](const std::string& name, int words, int64_t updates) {
    for (const char* side : {"en", "de"}) {
      std::string line = side == std::string("en") ? "one" : "eins";
      for (int i = 1; i < words; ++i) line += side == std::string("en") ? " two" : " zwei";
      std::string text;
      for (int i = 0; i < 50; ++i) text += line + "\n";
      run.setup.data.train_sets[side == std::string("de")] = run.files.make(name + "." + side, text);
    }
    run.train_until(updates);
    return ModelFile(run.setup.training.model).trained().source;
  };
  EXPECT_EQ(train_on("short", 1, 2), general.source) << "of --pretrained-model";
  const int longer = train_on("long", 20, 4);
  EXPECT_GT(longer, general.source);
  EXPECT_EQ(train_on("shorter", 2, 6), longer) << "of the text before";
}

TEST_F(FineTuning, BeginsWithTheWeightsOfTheModel) {
  run.setup.optimizer.exponential_smoothing = 0.01;
  run.setup.training.after = {{1, Frequency::updates}};
  Trainer trainer(run.setup, backend("cpu"));
  auto weights = bytes_of(first());
  weights.erase("vocabulary.source");
  weights.erase("vocabulary.target");
  EXPECT_TRUE(bytes_of(trainer.model().parameters()) == weights);
  EXPECT_EQ(trainer.progress().updates, 0);
  EXPECT_THAT(run.log.text(), HasSubstr("Initialised the parameters from"));
  run.setup.optimizer.learn_rate = 0;
  Trainer still(run.setup, backend("cpu"));
  still.run();  // the file holds the average, which begins there too
  EXPECT_TRUE(bytes_of(run.setup.training.model) == bytes_of(first()));
}

TEST_F(FineTuning, ResumesFromItsOwnStateToTheSameBytes) {
  expect_to_resume_to_the_same_bytes([](OptimizerOptions& o) {
    o.freeze = {"encoder.*", "decoder.0.self_attention.query.*"};
  });
}

TEST_F(FineTuning, RefusesOtherShapesAndShowsBoth) {
  run.setup.model.feed_forward = 48;
  EXPECT_THAT(complaint(), AllOf(HasSubstr("first.safetensors: its encoder.0.feed_forward.up.weight is (32,16), that "
                                           "of this run (48,16)"),
                                 HasSubstr("hint: give the options that it was trained with; dragoman inspect")));
}

TEST_F(FineTuning, RefusesMoreAndFewerParameters) {
  run.setup.model.decoder_layers = 2;
  EXPECT_THAT(complaint(), HasSubstr("it has no decoder.1."));
  run.setup.model.decoder_layers = 1;
  run.setup.model.norm_kind = NormKind::rms;
  EXPECT_THAT(complaint(), AllOf(HasSubstr("it has "), HasSubstr("norm.bias"), HasSubstr("this run has none")));
}

TEST(TrainedLengths, DoNotCountSpecialPieces) {
  ToyRun usual, bare;
  bare.setup.model.generation.source_eos = false;
  for (ToyRun* run : {&usual, &bare}) run->train_until(1);
  const TrainedLengths expected = ModelFile(usual.setup.training.model).trained();
  const TrainedLengths found = ModelFile(bare.setup.training.model).trained();
  EXPECT_GE(expected.source, 5);
  EXPECT_EQ(found.source, expected.source);
  EXPECT_EQ(found.target, expected.target);
}

TEST_F(FineTuning, RefusesAnotherVocabulary) {
  fs::remove(run.setup.data.vocabs[0]);
  run.setup.data.dim_vocabs = {280};
  run.setup.training.pretrained_model.clear();
  open_vocabularies(run.setup);
  run.setup.training.pretrained_model = first();
  EXPECT_THAT(complaint(),
              AllOf(HasSubstr("first.safetensors was trained with another vocabulary than"), HasSubstr("joint.spm"),
                    HasSubstr("hint: give that model's vocabularies as --vocabs")));
}

TEST_F(FineTuning, TakesTheVocabularyOutOfTheModelWhereThereIsNone) {
  const std::string vocabulary = read_file(run.setup.data.vocabs[0]);
  fs::remove(run.setup.data.vocabs[0]);
  EXPECT_EQ(run.train_until(1).updates, 1);
  EXPECT_TRUE(read_file(run.setup.data.vocabs[0]) == vocabulary);
}

TEST_F(FineTuning, AddsSymbolsToTheVocabularyOfTheModel) {
  const ModelFile before(first());
  const int pieces = before.vocabularies().source.size();
  run.setup.data.vocabs = {run.files / "more.spm", run.files / "more.spm"};
  run.setup.data.protected_symbols = {"<2up>", "<2lo>"};
  Trainer trainer(run.setup, backend("cpu"));
  const Vocabulary more = Vocabulary::load(run.setup.data.vocabs[0]);
  EXPECT_EQ(more.size(), pieces + 2);
  EXPECT_THAT(more.encode("<2lo> one"), Contains(pieces + 1));
  EXPECT_EQ(more.encode("one two"), before.vocabularies().source.encode("one two"));
  EXPECT_THAT(run.log.text(), HasSubstr("more.spm has 2 pieces more: --protected-symbols"));

  const std::vector<float> old = values_of<float>(before.tensors().get("embedding.weight"));
  const std::string bytes = bytes_of(trainer.model().parameters()).at("embedding.weight");
  std::vector<float> now(bytes.size() / sizeof(float));
  std::memcpy(now.data(), bytes.data(), bytes.size());
  const size_t dim = old.size() / size_t(pieces);
  ASSERT_EQ(now.size(), old.size() + 2 * dim);
  EXPECT_TRUE(std::equal(old.begin(), old.end(), now.begin()));
  for (size_t c = 0; c < dim; ++c) {
    double sum = 0;
    for (size_t r = 0; r < size_t(pieces); ++r) sum += old[r * dim + c];
    for (size_t r : {0, 1}) EXPECT_FLOAT_EQ(now[old.size() + r * dim + c], float(sum / pieces));
  }
}

TEST_F(FineTuning, ContinuesWithTheAddedSymbols) {
  run.setup.data.vocabs = {run.files / "more.spm", run.files / "more.spm"};
  run.setup.data.protected_symbols = {"<2up>"};
  run.train_until(2);
  fs::remove(first());
  EXPECT_EQ(run.train_until(4).updates, 4);
  EXPECT_EQ(ModelFile(run.setup.training.model).config().source_vocabulary,
            Vocabulary::load(run.setup.data.vocabs[0]).size());
}

TEST_F(FineTuning, NeedsAnotherNameForAVocabularyWithMoreSymbols) {
  run.setup.data.protected_symbols = {"<2up>"};
  EXPECT_THAT(complaint(), AllOf(HasSubstr("has no protected symbol <2up>"),
                                 HasSubstr("hint: name a new file: it is written from the vocabulary of")));
}

TEST_F(FineTuning, RefusesASymbolThatIsAPieceOfText) {
  run.setup.data.vocabs = {run.files / "more.spm", run.files / "more.spm"};
  run.setup.data.protected_symbols = {"e"};
  EXPECT_THAT(complaint(), HasSubstr("--protected-symbols e: the vocabulary of "));
  EXPECT_FALSE(fs::exists(run.setup.data.vocabs[0]));
}

struct FreezeCase {
  std::string name;
  std::vector<std::string> patterns;
  std::vector<std::string> frozen, trained;  // some of the names
  bool in_state = false;                     // whether the state has moments and averages of these frozen ones
};
void PrintTo(const FreezeCase& c, std::ostream* out) { *out << c.name; }

class FrozenParameters : public testing::TestWithParam<FreezeCase> {};

TEST_P(FrozenParameters, LeaveTheBytesOfAllThatMatchesAndChangesTheRest) {
  ToyRun run;
  run.setup.optimizer.freeze = GetParam().patterns;
  run.setup.optimizer.weight_decay = 0.1;
  run.setup.optimizer.exponential_smoothing = 0.1;
  run.setup.training.after = {{5, Frequency::updates}};
  Trainer trainer(run.setup, backend("cpu"));
  const auto before = bytes_of(trainer.model().parameters());
  trainer.run();
  const auto raw = bytes_of(trainer.model().parameters()), saved = bytes_of(run.setup.training.model),
             state = bytes_of(state_path(run.setup.training.model));
  for (const std::string& name : GetParam().frozen) {
    ASSERT_THAT(before, Contains(Key(name)));
    for (const auto& after : {raw.at(name), saved.at(name)}) EXPECT_TRUE(after == before.at(name)) << name;
    // The state has no averages and moments of a matrix that is frozen as a whole.
    EXPECT_EQ(state.contains("average/" + name), GetParam().in_state) << name;
    EXPECT_EQ(state.contains("first_moment/" + name), GetParam().in_state) << name;
    EXPECT_EQ(state.contains("second_moment/" + name), GetParam().in_state) << name;
    if (!GetParam().in_state) continue;
    EXPECT_TRUE(state.at("average/" + name) == before.at(name)) << name;
    EXPECT_EQ(state.at("first_moment/" + name).find_first_not_of('\0'), std::string::npos) << name;
  }
  for (const std::string& name : GetParam().trained) EXPECT_FALSE(raw.at(name) == before.at(name)) << name;
}

const FreezeCase cases[] = {
    {"AnEncoder",
     {"encoder.*"},
     {"encoder.0.self_attention.query.weight", "encoder.0.feed_forward.up.bias"},
     {"embedding.weight", "decoder.0.self_attention.query.weight"}},
    {"ATiedEmbedding", {"embedding.*"}, {"embedding.weight"}, {"encoder.0.self_attention.query.weight"}},
    {"APartOfABuffer",
     {"*.key.weight", "*.query.bias"},
     {"encoder.0.self_attention.key.weight", "decoder.0.self_attention.query.bias"},
     {"encoder.0.self_attention.query.weight", "encoder.0.self_attention.value.weight",
      "decoder.0.self_attention.value.bias"},
     true},
};
INSTANTIATE_TEST_SUITE_P(Of, FrozenParameters, testing::ValuesIn(cases),
                         [](const auto& info) { return info.param.name; });

TEST(Freeze, MayBeginAndEndBetweenCalls) {
  ToyRun run;
  run.train_until(3);
  const auto before = bytes_of(run.setup.training.model);
  run.setup.optimizer.freeze = {"encoder.*"};
  run.train_until(6);
  const auto after = bytes_of(run.setup.training.model);
  EXPECT_TRUE(after.at("encoder.0.feed_forward.up.weight") == before.at("encoder.0.feed_forward.up.weight"));
  EXPECT_FALSE(after.at("embedding.weight") == before.at("embedding.weight"));
  run.setup.optimizer.freeze = {};
  run.train_until(8);
  EXPECT_FALSE(bytes_of(run.setup.training.model).at("encoder.0.feed_forward.up.weight") ==
               before.at("encoder.0.feed_forward.up.weight"));
}

// The model file has averages. A parameter that is frozen keeps the value that it has there.
TEST(Freeze, KeepsAveragesThatTheModelFileHas) {
  ToyRun run;
  run.setup.optimizer.exponential_smoothing = 0.1;
  run.train_until(5);
  const auto before = bytes_of(run.setup.training.model);
  run.setup.optimizer.freeze = {"encoder.*"};
  run.train_until(8);
  const auto frozen = bytes_of(run.setup.training.model);
  run.setup.optimizer.freeze = {};
  run.train_until(11);
  const auto after = bytes_of(run.setup.training.model);
  for (const char* name : {"encoder.0.feed_forward.up.weight", "encoder.0.self_attention.key.bias"}) {
    EXPECT_TRUE(frozen.at(name) == before.at(name)) << name;
    EXPECT_FALSE(after.at(name) == before.at(name)) << name;
  }
}

TEST(Freeze, NamesTheNearestWhereAPatternMatchesNothing) {
  ToyRun run;
  run.setup.optimizer.freeze = {"encodr.*"};
  EXPECT_THAT(message_of([&] { run.train_until(1); }),
              AllOf(HasSubstr("--freeze encodr.*: no parameter has such a name"), HasSubstr("mean 'encoder.*'?")));
}

// The first batch of the epoch again, with the weights and moments that were reached.
TEST(NoRestoreCorpus, BeginsTheEpochAnewWithoutAWord) {
  ToyRun run;
  const Progress before = run.train_until(25);
  ASSERT_EQ(before.position.epoch, 1);
  for (const std::string& path : run.setup.data.train_sets) std::ofstream(path, std::ios::app) << "five\n";
  run.setup.training.no_restore_corpus = true;
  run.log.clear();
  const Progress after = run.train_until(27);
  EXPECT_EQ(after.position, (Position{1, 2}));
  EXPECT_EQ(after.updates, 27);
  EXPECT_EQ(after.epoch_sentences, after.sentences - before.sentences);
  EXPECT_THAT(run.log.text(), Not(HasSubstr("has changed")));
}

TEST(NoRestoreCorpus, ResumesToTheSameBytesAtTheBeginningOfAnEpoch) {
  ToyRun straight, stopped;
  stopped.setup.training.after = {{1, Frequency::epochs}};
  Trainer first(stopped.setup, backend("cpu"));
  first.run();
  straight.train_until(first.progress().updates + 3);
  stopped.setup.training.no_restore_corpus = true;
  stopped.train_until(first.progress().updates + 3);
  EXPECT_TRUE(straight.state_bytes() == stopped.state_bytes());
}

std::vector<float> floats(const std::string& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// After one update from nothing, Adam's moments are 0.1 · g and 0.02 · g², so the second is twice the square of the
// first.
TEST(NoOptimizerReload, BeginsWithNoMomentsAndKeepsTheRest) {
  ToyRun run;
  const Progress before = run.train_until(10);
  const auto state = bytes_of(state_path(run.setup.training.model));
  run.setup.training.no_optimizer_reload = true;
  run.setup.training.after = {{11, Frequency::updates}};
  Trainer trainer(run.setup, backend("cpu"));
  EXPECT_EQ(trainer.progress().updates, 10);
  EXPECT_EQ(trainer.progress().position, before.position);
  for (const auto& [name, bytes] : bytes_of(trainer.model().parameters()))
    EXPECT_TRUE(bytes == state.at("parameter/" + name));
  trainer.run();
  const auto after = bytes_of(state_path(run.setup.training.model));
  const auto first = floats(after.at("first_moment/embedding.weight"));
  const auto second = floats(after.at("second_moment/embedding.weight"));
  for (size_t i = 0; i < first.size(); ++i) EXPECT_NEAR(second[i], 2 * first[i] * first[i], 1e-5 * second[i]) << i;
}

}  // namespace
}  // namespace dragoman
