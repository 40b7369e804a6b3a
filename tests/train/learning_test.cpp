#include <gmock/gmock.h>

#include "tests/threads.h"
#include "tests/train/toy_run.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

// Chance is ln 100 = 4.6 a label; knowing the task is nearly 0.
TEST(Training, LearnsToTranslateNumbers) {
  ToyRun run(1000);
  run.setup.data.mini_batch_words = 200;
  run.setup.model.dropout.sublayer = 0;
  run.setup.optimizer.label_smoothing = 0;
  run.setup.training.valid_metrics = {ValidMetric::cross_entropy, ValidMetric::perplexity, ValidMetric::bleu,
                                      ValidMetric::chrf};
  run.setup.training.valid_freq = {100, Frequency::updates};
  const Progress progress = run.train_until(800);  // of ten seeds, the worst reaches BLEU 94
  EXPECT_LT(progress.best.at("cross-entropy"), 0.2) << run.log.text();
  EXPECT_GT(progress.best.at("bleu"), 80);
  EXPECT_GT(progress.best.at("chrf"), 80);
}

// Slow where the CPU does not multiply bfloat16, and the same within its last digits.
TEST(Training, LearnsInBFloat16) {
  ToyRun run(300);
  run.setup.data.mini_batch_words = 200;
  run.setup.model.dropout.sublayer = 0;
  run.setup.optimizer.label_smoothing = 0;
  run.setup.training.precision = TrainingPrecision::bfloat16;
  run.setup.training.valid_metrics = {ValidMetric::cross_entropy};
  run.setup.training.valid_freq = {100, Frequency::updates};
  const Progress progress = run.train_until(300);
  EXPECT_LT(progress.best.at("cross-entropy"), 0.6) << run.log.text();
}

TEST(Training, InBFloat16GivesOtherBytesThanInFloat32AndTheSameTwice) {
  ToyRun one, two, other;
  for (ToyRun* run : {&one, &two}) run->setup.training.precision = TrainingPrecision::bfloat16;
  for (ToyRun* run : {&one, &two, &other}) run->train_until(5);
  EXPECT_TRUE(one.state_bytes() == two.state_bytes());
  EXPECT_FALSE(one.model_bytes() == other.model_bytes());
}

TEST(Training, LearnsWithActivationsOf16Bits) {
  for (const NormPlacement norm : {NormPlacement::post, NormPlacement::pre}) {
    ToyRun run(300);
    run.setup.data.mini_batch_words = 200;
    run.setup.model.dropout.sublayer = 0;
    run.setup.optimizer.label_smoothing = 0;
    run.setup.training.precision = TrainingPrecision::bfloat16;
    run.setup.training.half_activations = true;
    run.setup.model.norm = norm;
    run.setup.training.valid_metrics = {ValidMetric::cross_entropy};
    run.setup.training.valid_freq = {100, Frequency::updates};
    const Progress progress = run.train_until(300);
    EXPECT_LT(progress.best.at("cross-entropy"), 0.6) << name_of(norm) << run.log.text();
  }
}

TEST(Training, WithActivationsOf16BitsGivesOtherBytesThanWithoutAndTheSameTwice) {
  ToyRun one, two, other;
  for (ToyRun* run : {&one, &two, &other}) run->setup.training.precision = TrainingPrecision::bfloat16;
  for (ToyRun* run : {&one, &two}) run->setup.training.half_activations = true;
  for (ToyRun* run : {&one, &two, &other}) run->train_until(5);
  EXPECT_TRUE(one.state_bytes() == two.state_bytes());
  EXPECT_FALSE(one.model_bytes() == other.model_bytes());
}

TEST(Training, LooksForNanAmongActivationsOf16Bits) {
  ToyRun run;
  run.setup.training.precision = TrainingPrecision::bfloat16;
  run.setup.training.half_activations = run.setup.training.check_nan = true;
  EXPECT_EQ(run.train_until(3).skipped, 0);
}

TEST(Training, GivesTheSameBytesForTheSameSeed) {
  ToyRun one, two, other;
  other.setup.training.seed = 2;
  for (ToyRun* run : {&one, &two, &other}) {
    run->setup.model.dropout.attention = run->setup.model.dropout.activation = 0.1;
    run->train_until(10);
  }
  EXPECT_TRUE(one.model_bytes() == two.model_bytes());
  EXPECT_TRUE(one.state_bytes() == two.state_bytes());
  EXPECT_FALSE(one.model_bytes() == other.model_bytes());
}

TEST(Training, GivesTheSameBytesForTheSameNumberOfThreads) {
  ToyRun one, two;
  const Threads count(2);
  one.train_until(3);
  two.train_until(3);
  EXPECT_TRUE(one.state_bytes() == two.state_bytes());
}

TEST(Training, MakesTheVocabulariesThatAreMissing) {
  ToyRun run;
  run.setup.data.vocabs = {run.files / "source.spm", run.files / "target.spm"};
  run.setup.data.dim_vocabs = {300, 290};
  run.setup.model.embeddings.tied_all = false;
  run.train_until(1);
  EXPECT_EQ(Vocabulary::load(run.setup.data.vocabs[0]).size(), 300);
  EXPECT_EQ(Vocabulary::load(run.setup.data.vocabs[1]).size(), 290);
  EXPECT_THAT(run.log.text(), HasSubstr("source.spm does not exist: learning the vocabulary from the training text"));
}

// Losses, gradients and the number that divides them double: all exact in binary.
TEST(Training, WithAllWeightsTwoIsTheSameAsWithout) {
  ToyRun plain, weighted;
  std::string twos;
  for (int i = 0; i < 200; ++i) twos += "2\n";
  weighted.setup.data.data_weighting = {weighted.files.make("weights", twos)};
  plain.train_until(20);
  weighted.train_until(20);
  EXPECT_TRUE(plain.model_bytes() == weighted.model_bytes());
}

std::string weights_of(const std::function<double(int pair)>& weight) {
  std::string lines;
  for (int pair = 0; pair < 200; ++pair) lines += fmt::format("{}\n", weight(pair));
  return lines;
}

TEST(Training, DoesNotDependOnTheScaleOfAllWeights) {
  for (const int experts : {0, 3}) {
    const auto model = [&](double scale) {
      ToyRun run;
      run.setup.model.experts.count = experts;
      run.setup.model.experts.frequency = 1;
      const auto weight = [&](int pair) { return pair % 5 / 4.0 * scale; };
      run.setup.data.data_weighting = {run.files.make("weights", weights_of(weight))};
      run.train_until(20);
      return run.model_bytes();
    };
    EXPECT_TRUE(model(1) == model(1.0 / 1024)) << experts << " experts";
  }
}

// As in Marian, the divisor of gradients counts target tokens, and not the weights of this update.
TEST(Training, OfPairsOfSmallWeightsHasASmallGradient) {
  const auto norm = [](double weight, double* mean) {
    ToyRun run;
    run.setup.data.no_shuffle = true;
    run.setup.data.mini_batch = 8;
    run.setup.data.data_weighting = {
        run.files.make("weights", weights_of([&](int pair) { return pair < 8 ? weight : 1; }))};
    run.setup.training.disp_freq = {1, Frequency::updates};
    double norm = 0;
    run.setup.training.observer = [&](const RunMoment&, const RunEvent& event) {
      if (const auto* report = std::get_if<RunReport>(&event)) norm = report->gradient_norm;
    };
    run.train_until(1);
    const Vocabularies vocabularies = open_vocabularies(run.setup);
    *mean =
        read_corpus(training_files(run.setup.data, vocabularies.source, vocabularies.target, 1))->pairs.mean_weight();
    return norm;
  };
  double mean_plain = 0, mean_small = 0;
  const double plain = norm(1, &mean_plain), small = norm(0.125, &mean_small);
  EXPECT_EQ(mean_plain, 1);
  EXPECT_LT(mean_small, 1);
  EXPECT_GT(mean_small, 0.9);
  EXPECT_NEAR(small * mean_small, plain * 0.125, 1e-5 * plain);
}

TEST(Training, MultipliesTheLossOfEachTargetTokenByTheWeightOfItsPair) {
  ToyRun run;
  const Vocabularies vocabularies = open_vocabularies(run.setup);
  const auto corpus = read_corpus(training_files(run.setup.data, vocabularies.source, vocabularies.target, 1));
  Batch batch = assemble(*corpus, {std::vector<int32_t>{0, 1, 2}});
  Arena arena;
  const auto model = make_model(with_vocabularies(run.setup, vocabularies), backend("cpu"), arena, DType::f32, true);
  model->parameters().initialise(1);
  Context cx{.backend = backend("cpu"), .arena = arena};
  const Tensor plain = model->loss(cx, batch, 0.1).loss;
  batch.weights = {0.5, 0, 4};
  const Tensor weighted = model->loss(cx, batch, 0.1).loss;
  for (int pair = 0; pair < 3; ++pair)
    for (int64_t n = batch.target.spans[pair].begin; n < batch.target.spans[pair].end; ++n)
      EXPECT_EQ(weighted.as<float>()[n], batch.weights[pair] * plain.as<float>()[n]) << pair;
}

// Some pair of the text must have a weight above 0, but not in each batch.
TEST(Training, OfABatchWhoseWeightsAreAllZeroIsNoError) {
  ToyRun run;
  std::string weights;
  for (int i = 0; i < 199; ++i) weights += "0\n";
  run.setup.data.no_shuffle = true;
  run.setup.data.data_weighting = {run.files.make("weights", weights + "1\n")};
  const Progress progress = run.train_until(3);
  EXPECT_EQ(progress.skipped, 0);
  EXPECT_THAT(run.log.text(), testing::Not(HasSubstr("nan")));
}

// The gradients of eight pairs at once, and of the same eight as two batches of four: sums of the same terms.
TEST(Training, WithADelayOfTwoHalfBatchesHasTheGradientOfTheWhole) {
  ToyRun whole, halves;
  for (ToyRun* run : {&whole, &halves}) {
    run->setup.model.dropout.sublayer = 0;
    run->setup.data.no_shuffle = true;
    run->setup.training.after = {{1, Frequency::updates}};
  }
  whole.setup.data.mini_batch = 8;
  halves.setup.data.mini_batch = 4;
  halves.setup.optimizer.optimizer_delay = 2;
  Trainer once(whole.setup, backend("cpu")), twice(halves.setup, backend("cpu"));
  once.run();
  twice.run();
  EXPECT_EQ(once.progress().target_tokens, twice.progress().target_tokens);
  EXPECT_EQ(once.progress().sentences, 8);
  EXPECT_EQ(twice.progress().sentences, 8);
  const auto &a = once.model().parameters().named(), &b = twice.model().parameters().named();
  for (size_t i = 0; i < a.size(); ++i)
    for (int64_t n = 0; n < a[i].gradient.elements(); ++n)
      ASSERT_NEAR(a[i].gradient.as<float>()[n], b[i].gradient.as<float>()[n], 1e-4) << a[i].name << " " << n;
}

}  // namespace
}  // namespace dragoman
