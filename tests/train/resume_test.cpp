#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/threads.h"
#include "tests/train/toy_run.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

struct ResumeCase {
  std::string name;
  int64_t stop, end;  // updates; an epoch has about 18
  std::function<void(TrainingSetup&)> set;
};
void PrintTo(const ResumeCase& c, std::ostream* out) { *out << c.name; }

class Resume : public testing::TestWithParam<ResumeCase> {};

TEST_P(Resume, ResumesToTheSameBytesAsARunThatNeverStopped) {
  ToyRun straight, stopped;
  for (ToyRun* run : {&straight, &stopped}) GetParam().set(run->setup);
  straight.train_until(GetParam().end);
  stopped.train_until(GetParam().stop);
  stopped.log.clear();
  stopped.train_until(GetParam().end);
  EXPECT_THAT(stopped.log.text(), HasSubstr(fmt::format("update {}, epoch", GetParam().stop)));
  EXPECT_TRUE(straight.model_bytes() == stopped.model_bytes());
  EXPECT_TRUE(straight.state_bytes() == stopped.state_bytes());
}

const ResumeCase resume_cases[] = {
    {"InsideAnEpoch", 4, 9, [](TrainingSetup&) {}},
    {"AcrossEpochs", 10, 50, [](TrainingSetup&) {}},
    {"WithAnAverage", 10, 20, [](TrainingSetup& s) { s.optimizer.exponential_smoothing = 0.01; }},
    {"WithADelayOfTwo", 5, 14, [](TrainingSetup& s) { s.optimizer.optimizer_delay = 2; }},
    {"InBFloat16", 4, 9, [](TrainingSetup& s) { s.training.precision = TrainingPrecision::bfloat16; }},
    {"WithActivationsOf16Bits", 4, 9,
     [](TrainingSetup& s) {
       s.training.precision = TrainingPrecision::bfloat16;
       s.training.half_activations = true;
     }},
    {"WithSampledPieces", 25, 45,
     [](TrainingSetup& s) {
       s.data.sentencepiece_alphas = {0.1, 0.1};
     }},
    {"WithEveryDropout", 4, 9,
     [](TrainingSetup& s) { s.model.dropout.attention = s.model.dropout.activation = s.model.dropout.sublayer = 0.2; }},
    {"WithValidation", 6, 11,
     [](TrainingSetup& s) {
       s.training.valid_freq = {2, Frequency::updates};
     }},
    {"WithDecaysAfterStalledValidations", 7, 15,
     [](TrainingSetup& s) {
       s.training.valid_metrics = {ValidMetric::cross_entropy, ValidMetric::perplexity};
       s.training.valid_freq = {2, Frequency::updates};
       s.training.early_stopping_epsilon = {1e6};  // all validations but the first are stalled
       s.training.rate_decay = 0.7;
       s.training.decay_strategy = DecayStrategy::stalled;
       s.training.decay_start = {2};
       s.training.decay_resets_optimizer = true;
     }},
    {"WithDecaysOfEpochs", 18, 60,
     [](TrainingSetup& s) {
       s.training.valid_freq = {10, Frequency::updates};
       s.training.early_stopping_epsilon = {1e6};
       s.training.rate_decay = 0.5;
     }},
    {"OfAStream", 8, 15, [](TrainingSetup& s) { s.data.stream = 70; }},
    {"OfASampledStream", 8, 15,
     [](TrainingSetup& s) {
       s.data.stream = 70;
       s.data.sentencepiece_alphas = {0.1, 0.1};
     }},
    {"WithCorpusWeights", 30, 55,
     [](TrainingSetup& s) {
       auto& sets = s.data.train_sets;
       sets = {sets[0], sets[1], s.training.valid_sets[0], s.training.valid_sets[1]};
       s.data.corpus_weights = {0.7, 2.5};
     }},
    {"WithSampledCopies", 30, 55,
     [](TrainingSetup& s) {
       s.data.sentencepiece_alphas = {0.1, 0.1};
       s.data.corpus_weights = {2.5};
     }},
    {"WithWeightsOfPairs", 4, 9,
     [](TrainingSetup& s) {
       std::string weights;
       for (int i = 0; i < 200; ++i) weights += fmt::format("{}\n", i % 5 / 4.0);
       s.data.data_weighting = {s.data.train_sets[0] + ".weights"};
       std::ofstream(s.data.data_weighting[0]) << weights;
     }},
    {"WithoutShuffling", 15, 25, [](TrainingSetup& s) { s.data.no_shuffle = true; }},
};
INSTANTIATE_TEST_SUITE_P(Runs, Resume, testing::ValuesIn(resume_cases),
                         [](const auto& info) { return info.param.name; });

// Pieces are sampled from the text again in every epoch, of which the next one is read during the current one.
TEST(SampledPieces, OfATextThatChangesAreAnErrorThatCostsNoUpdates) {
  for (const bool removed : {false, true}) {
    ToyRun run;
    run.setup.data.sentencepiece_alphas = {0.1, 0.1};
    run.setup.training.save_freq = {};
    run.setup.training.disp_freq = {1, Frequency::updates};
    const std::string target = run.setup.data.train_sets[1], text = read_file(target);
    int64_t updates = 0;
    run.log.listen([&](const std::string& line) {
      if (line.find(" : Cost ") == std::string::npos) return;
      if (++updates > 1) return;
      removed ? void(fs::remove(target))
              : void(run.files.make("train.de", "eins\n" + text.substr(text.find('\n') + 1)));
    });
    EXPECT_THAT(message_of([&] { run.train_until(1000); }),
                HasSubstr(removed ? target : "the training text changed during the run"));
    run.files.make("train.de", text);
    run.log.clear();
    const int64_t saved = updates;
    run.train_until(saved + 1);
    EXPECT_THAT(run.log.text(),
                HasSubstr(fmt::format("Resuming from {}: update {}, ", state_path(run.setup.training.model), saved)));
  }
}

TEST(Resume, SaysWhenItResumesWithOtherActivations) {
  ToyRun run;
  TrainingOptions& training = run.setup.training;
  training.precision = TrainingPrecision::bfloat16;
  run.train_until(2);
  training.half_activations = true;
  run.train_until(3);
  EXPECT_THAT(run.log.text(), HasSubstr(", activations in bfloat16, products in bfloat16: the results will differ"));
}

TEST(Resume, SaysWhenItResumesWithOtherThreadsOrInstructions) {
  ToyRun run;
  run.train_until(2);
  const Threads three(3);
  run.train_until(3);
  EXPECT_THAT(run.log.text(), testing::ContainsRegex("computed by 1 thread, .* but resumes with 3 threads, "));
  run.log.clear();
  run.train_until(4);
  EXPECT_THAT(run.log.text(), testing::Not(HasSubstr("computed by")));
}

TEST(Resume, StartsAtTheFirstBatchOfAnEpochThatIsDue) {
  ToyRun straight, stopped;
  straight.setup.training.after = stopped.setup.training.after = {{1, Frequency::epochs}};
  Trainer first(stopped.setup, backend("cpu"));
  first.run();
  EXPECT_EQ(first.progress().position, (Position{1, 0}));
  EXPECT_EQ(first.progress().sentences, 200);
  straight.train_until(first.progress().updates + 3);
  stopped.train_until(first.progress().updates + 3);
  EXPECT_TRUE(straight.state_bytes() == stopped.state_bytes());
}

TEST(Resume, ResumesAfterAStopAsIfThereHadBeenNone) {
  ToyRun straight, stopped;
  straight.setup.training.disp_freq = stopped.setup.training.disp_freq = {1, Frequency::updates};
  straight.train_until(9);
  stopped.log.listen([&](const std::string& line) {
    if (line.find("Up. 4 ") != std::string::npos) stopped.control.stop = true;
  });
  EXPECT_EQ(stopped.train_until(9).updates, 4);
  EXPECT_THAT(stopped.log.text(), HasSubstr("Stopped by a signal after 4 updates"));
  stopped.control.stop = false;
  EXPECT_EQ(stopped.train_until(9).updates, 9);
  EXPECT_TRUE(straight.state_bytes() == stopped.state_bytes());
}

TEST(Resume, BeginsTheEpochAnewWhenBatchesAreOthers) {
  ToyRun run;
  const Progress before = run.train_until(25);
  run.setup.data.mini_batch_words = 150;
  run.log.clear();
  const Progress after = run.train_until(26);
  EXPECT_THAT(run.log.text(),
              AllOf(HasSubstr("the order of batches has changed from '--mini-batch-words 60"),
                    HasSubstr("to '--mini-batch-words 150"), HasSubstr("resuming at the beginning of epoch 2")));
  EXPECT_EQ(after.position, (Position{before.position.epoch, 1}));
  EXPECT_EQ(after.epoch_sentences, after.sentences - before.sentences);
}

TEST(Resume, BeginsTheEpochAnewWhenWeightsOfCorporaAreOthers) {
  ToyRun run;
  run.train_until(3);
  run.setup.data.corpus_weights = {1.5};
  run.log.clear();
  EXPECT_EQ(run.train_until(5).position, (Position{0, 2}));
  EXPECT_THAT(run.log.text(), AllOf(HasSubstr("--corpus-weights 1.5 up to pairs 200'"), HasSubstr("about 300 pairs")));
}

TEST(Resume, BeginsTheEpochAnewWhenTheTextIsAnother) {
  ToyRun run;
  run.train_until(3);
  for (const std::string& path : run.setup.data.train_sets) std::ofstream(path, std::ios::app) << "five\n";
  run.log.clear();
  EXPECT_EQ(run.train_until(4).position, (Position{0, 1}));
  EXPECT_THAT(run.log.text(), HasSubstr("the training text or its encoding has changed"));
}

// The default has changed; weights that are read have no beginning.
TEST(Resume, KeepsTheInitialWeightsOfTheRunAndTheirName) {
  ToyRun straight, resumed;
  straight.setup.model.decoder_layers = resumed.setup.model.decoder_layers = 2;
  straight.train_until(2);
  resumed.train_until(1);
  resumed.setup.model.initialisation = Initialisation::depth_scaled;
  resumed.train_until(2);
  EXPECT_TRUE(straight.state_bytes() == resumed.state_bytes());
  EXPECT_TRUE(straight.model_bytes() == resumed.model_bytes());
}

TEST(Resume, RefusesTheStateOfAnotherModelAndShowsBoth) {
  ToyRun run;
  run.train_until(1);
  run.setup.model.feed_forward = 48;
  const std::string message = message_of([&] { run.train_until(2); });
  EXPECT_THAT(message,
              AllOf(HasSubstr("model.state.safetensors belongs to another model: --transformer-dim-ffn is 32, here 48"),
                    HasSubstr("--no-reload")));
}

TEST(Resume, RefusesAnotherVocabulary) {
  ToyRun run;
  run.train_until(1);
  fs::remove(run.setup.data.vocabs[0]);
  run.setup.data.dim_vocabs = {280};
  EXPECT_THAT(message_of([&] { run.train_until(2); }),
              AllOf(HasSubstr("was trained with another vocabulary than"), HasSubstr("joint.spm")));
}

TEST(Resume, NeedsTheStateBesideTheModel) {
  ToyRun run;
  run.train_until(1);
  fs::remove(state_path(run.setup.training.model));
  EXPECT_THAT(message_of([&] { run.train_until(2); }),
              AllOf(HasSubstr("exists, but not its training state"), HasSubstr("model.state.safetensors"),
                    HasSubstr("--no-reload to start from scratch")));
  run.setup.training.no_reload = true;
  EXPECT_EQ(run.train_until(2).updates, 2);
}

TEST(Resume, RefusesAStateThatWasCutShort) {
  ToyRun run;
  run.train_until(1);
  const std::string state = state_path(run.setup.training.model);
  fs::resize_file(state, fs::file_size(state) / 2);
  EXPECT_THAT(message_of([&] { run.train_until(2); }), HasSubstr("model.state.safetensors"));
}

TEST(Resume, SaysHowToReplaceAModelThatWasCutShort) {
  ToyRun run;
  run.setup.optimizer.exponential_smoothing = 0.01;
  run.train_until(2);
  const std::string model = run.setup.training.model, whole = run.model_bytes();
  fs::resize_file(model, fs::file_size(model) / 2);
  EXPECT_THAT(message_of([&] { run.train_until(2); }),
              HasSubstr(fmt::format("hint: remove {}: the run resumes from {} alone, and writes the model again", model,
                                    state_path(model))));
  fs::remove(model);
  run.train_until(2);
  EXPECT_TRUE(run.model_bytes() == whole);
}

// Without its model, a run whose state cannot be read would be lost.
TEST(Resume, AdvisesToRemoveAModelOnlyIfItsStateIsSound) {
  ToyRun run;
  run.train_until(2);
  const std::string model = run.setup.training.model;
  fs::resize_file(model, fs::file_size(model) / 2);
  const SafetensorsFile state(state_path(model));
  auto metadata = state.metadata();
  metadata["config"].insert(1, "\"of_a_newer_version\":1,");
  write_safetensors(state_path(model), {state.tensors().begin(), state.tensors().end()}, metadata);
  EXPECT_THAT(message_of([&] { run.train_until(3); }),
              AllOf(HasSubstr("of_a_newer_version"), Not(HasSubstr("remove"))));
}

TEST(Resume, TakesUpAnAverageThatTheRunBeforeHadNot) {
  ToyRun run;
  run.train_until(2);
  run.setup.optimizer.exponential_smoothing = 0.01;
  run.log.clear();
  EXPECT_EQ(run.train_until(4).updates, 4);
  EXPECT_THAT(run.log.text(), HasSubstr("contains no averaged weights"));
  run.setup.optimizer.exponential_smoothing = 0;
  EXPECT_THAT(message_of([&] { run.train_until(9); }),
              AllOf(HasSubstr("contains averaged weights, which would be lost"), HasSubstr("--pretrained-model")));
  run.setup.optimizer.exponential_smoothing = 0.01;
  EXPECT_EQ(run.train_until(5).updates, 5);
}

TEST(Resume, EndsAtOnceWhenThereIsNothingLeftToDo) {
  ToyRun run;
  run.train_until(3);
  const std::string model = run.model_bytes(), state = run.state_bytes();
  EXPECT_EQ(run.train_until(3).updates, 3);
  EXPECT_TRUE(run.model_bytes() == model);
  EXPECT_TRUE(run.state_bytes() == state);
}

TEST(ResumedRun, WritesLostVocabulariesFromItsModel) {
  ToyRun straight, run;
  straight.train_until(8);
  run.train_until(4);
  fs::remove(run.setup.data.vocabs[0]);
  run.train_until(8);
  EXPECT_THAT(run.log.text(),
              HasSubstr("joint.spm does not exist: it is written from the vocabulary of " + run.setup.training.model));
  EXPECT_EQ(read_file(run.setup.data.vocabs[0]), read_file(straight.setup.data.vocabs[0]));
  EXPECT_TRUE(run.state_bytes() == straight.state_bytes());
}

}  // namespace
}  // namespace dragoman
