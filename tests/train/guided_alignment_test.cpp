#include <gmock/gmock.h>

#include "align/model_alignment.h"
#include "tests/train/toy_run.h"
#include "train/learner.h"
#include "train/prepare.h"
#include "train/vocabularies.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

// Word i of a pair is the translation of word i. Links are of pieces: these vocabularies have mostly whole words.
std::string diagonals(const TrainingSetup& setup) {
  const Vocabularies vocabularies = open_vocabularies(setup);
  const auto corpus = read_corpus(training_files(setup.data, vocabularies.source, vocabularies.target, 1));
  std::string lines;
  for (int64_t i = 0; i < corpus->size(); ++i) {
    const int64_t length = std::min(corpus->pairs.source_length(i), corpus->pairs.target_length(i));
    for (int64_t t = 0; t < length; ++t) lines += fmt::format("{}{}-{}", t == 0 ? "" : " ", t, t);
    lines += "\n";
  }
  return lines;
}

void guide(ToyRun& run) { run.setup.data.guided_alignment = {run.files.make("links", diagonals(run.setup))}; }

struct Reported {
  std::vector<double> costs, alignment_costs;
  void listen(ToyRun& run) {
    run.setup.training.disp_freq = {10, Frequency::updates};
    run.setup.training.observer = [this](const RunMoment&, const RunEvent& event) {
      if (const auto* report = std::get_if<RunReport>(&event))
        costs.push_back(report->cost), alignment_costs.push_back(report->alignment_cost);
    };
  }
};

TEST(GuidedAlignment, TeachesAttentionAndReportsItsCost) {
  ToyRun run;
  guide(run);
  run.setup.data.guided_alignment_weight = 1;
  Reported reported;
  reported.listen(run);
  run.train_until(600);
  ASSERT_EQ(reported.alignment_costs.size(), 60u);
  EXPECT_GT(reported.alignment_costs.front(), 1);
  EXPECT_LT(reported.alignment_costs.back(), 0.3);
  EXPECT_THAT(run.log.text(), HasSubstr(" : Alignment "));
  const ModelFile file(run.setup.training.model);
  EXPECT_EQ(file.config().alignment.heads, 1);
}

TEST(GuidedAlignment, IsNotReportedWithoutLinks) {
  ToyRun run;
  Reported reported;
  reported.listen(run);
  run.train_until(10);
  EXPECT_EQ(reported.alignment_costs, std::vector<double>{-1});
  EXPECT_EQ(ModelFile(run.setup.training.model).config().alignment.heads, 0);
}

// The weight of the loss is in the gradients alone, so that a weight of 0 changes nothing but the name of the head.
TEST(GuidedAlignment, OfWeightZeroTrainsTheSameWeights) {
  const auto weights = [](bool guided) {
    ToyRun run;
    if (guided) guide(run);
    run.setup.data.guided_alignment_weight = 0;
    run.train_until(10);
    const SafetensorsFile file(run.setup.training.model);
    std::vector<std::byte> bytes;
    for (const auto& tensor : file.tensors()) bytes.insert(bytes.end(), tensor.bytes.begin(), tensor.bytes.end());
    return bytes;
  };
  EXPECT_TRUE(weights(true) == weights(false));
}

TEST(GuidedAlignment, ResumesToTheBit) {
  ToyRun whole, parts;
  for (ToyRun* run : {&whole, &parts}) guide(*run);
  whole.train_until(30);
  for (const int64_t updates : {7, 23, 30}) parts.train_until(updates);
  EXPECT_TRUE(whole.model_bytes() == parts.model_bytes());
}

// The parts of a batch have their links: sums of the same terms, in another order.
TEST(GuidedAlignment, OfABatchInPartsIsThatOfTheWhole) {
  const auto costs = [](int64_t delay) {
    ToyRun run;
    guide(run);
    run.setup.data.no_shuffle = true;
    run.setup.data.mini_batch_words = 0;
    run.setup.data.mini_batch = 16 / delay;
    run.setup.optimizer.optimizer_delay = delay;
    Reported reported;
    reported.listen(run);
    run.train_until(10);
    return std::array{reported.costs.at(0), reported.alignment_costs.at(0)};
  };
  const auto whole = costs(1), halves = costs(2);
  EXPECT_NEAR(whole[0], halves[0], 1e-4);
  EXPECT_NEAR(whole[1], halves[1], 1e-4);
}

TEST(GuidedAlignment, MayBeginWithAModelThatWasTrainedWithout) {
  ToyRun plain;
  plain.train_until(10);
  ToyRun run;
  run.setup.training.pretrained_model = plain.setup.training.model;
  run.setup.data.vocabs = plain.setup.data.vocabs;
  guide(run);
  EXPECT_EQ(run.train_until(10).updates, 10);
  EXPECT_EQ(ModelFile(run.setup.training.model).config().alignment.heads, 1);
}

// An update that runs out of memory has learned some of its batches, which it learns again.
TEST(GuidedAlignment, LinksOfAnUpdateThatRestartsCountOnce) {
  ToyRun run;
  guide(run);
  const Vocabularies vocabularies = open_vocabularies(run.setup);
  const auto corpus = read_corpus(corpus_files(run.setup, vocabularies));
  prepare(run.setup, backend("cpu"), vocabularies, 1);
  const Batch batch = assemble(*corpus, plan_batches(*corpus, run.setup.data, 1, 0)[0]);
  Arena arena;
  const auto model = make_model(run.setup.model, backend("cpu"), arena, DType::f32, true);
  model->parameters().initialise(1);
  Learner learner(backend("cpu"), arena, *model, run.setup, rows_at_once());
  learner.begin_update();
  learner.learn(batch, 1);
  const Learner::LossOfLinks once = learner.take_loss_of_links();
  EXPECT_GT(once.sum, 0);
  learner.begin_update();
  learner.learn(batch, 1);
  learner.restart_update(rows_at_once());
  learner.learn(batch, 1);
  const Learner::LossOfLinks again = learner.take_loss_of_links();
  EXPECT_EQ(again.sum, once.sum);
  EXPECT_EQ(again.weight, once.weight);
}

}  // namespace
}  // namespace dragoman
