#include "train/memory.h"

#include <gmock/gmock.h>

#include "base/machine.h"
#include "tests/train/toy_run.h"
#include "train/learner.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Planned {
  explicit Planned(int pairs = 200, int64_t batch_words = 0, const std::function<void(ToyRun&)>& prepare = {})
      : run(pairs) {
    if (batch_words > 0) run.setup.data.mini_batch_words = batch_words;
    if (prepare) prepare(run);
    run.setup.optimizer.exponential_smoothing = 0.01;
    const Vocabularies vocabularies = open_vocabularies(run.setup);
    run.setup.model.source_vocabulary = run.setup.model.target_vocabulary = vocabularies.source.size();
    corpus = read_corpus(training_files(run.setup.data, vocabularies.source, vocabularies.target, 1));
    batches = plan_batches(*corpus, run.setup.data, 1, 0);
    memory = plan_memory(run.setup, backend("cpu"), *corpus, batches);
    model = make_model(run.setup.model, backend("cpu"), arena, DType::f32, true);
    model->parameters().initialise(1);
    adam.emplace(backend("cpu"), arena, model->parameters(), run.setup.optimizer);
    average.emplace(backend("cpu"), arena, model->parameters(), 0.01);
  }
  void learn(int64_t batch) {
    Learner(backend("cpu"), arena, *model, run.setup, rows_at_once()).learn(assemble(*corpus, batches[batch]), 0);
  }

  ToyRun run;
  std::shared_ptr<const Corpus> corpus;
  BatchPlan batches;
  MemoryPlan memory;
  Arena arena;
  std::unique_ptr<Model> model;
  std::optional<Adam> adam;
  std::optional<MovingAverage> average;
};

// Weight, gradient, two moments and an average: five floats a parameter, each buffer rounded up to whole blocks.
TEST(MemoryPlan, CountsFiveNumbersAParameter) {
  const Planned p;
  const auto& parameters = p.model->parameters();
  const int64_t floats = 5 * 4 * parameters.count();
  EXPECT_GE(p.memory.parameters, floats);
  EXPECT_LE(p.memory.parameters, floats + int64_t(5 * 4 * Parameters::flat_block * parameters.buffers().size()));
  EXPECT_EQ(p.memory.parameters, p.arena.in_use());
}

// Neither a gradient nor moments nor an average; and of what only runs forward, no activations are kept.
TEST(MemoryPlan, CountsOneNumberOfAFrozenParameter) {
  Planned p;
  p.run.setup.training.valid_sets.clear();
  const auto planned = [&] { return plan_memory(p.run.setup, backend("cpu"), *p.corpus, p.batches); };
  const MemoryPlan all = planned();
  p.run.setup.optimizer.freeze = {"encoder.*", "embedding.*"};
  const MemoryPlan plan = planned();
  int64_t frozen = 0;
  for (const auto& weight : p.model->parameters().named())
    if (!weight.name.starts_with("decoder.")) frozen += weight.value.elements();
  EXPECT_GE(all.parameters - plan.parameters, 4 * 4 * frozen);
  EXPECT_LT(plan.peak - plan.parameters, all.peak - all.parameters);
}

TEST(MemoryPlan, CountsUpdatesAloneWithLoraAndTheWeightsThatAreSaved) {
  Planned p;
  p.run.setup.training.valid_sets.clear();
  const auto planned = [&] { return plan_memory(p.run.setup, backend("cpu"), *p.corpus, p.batches); };
  p.run.setup.model.dim = 128;
  p.run.setup.model.feed_forward = 4096;
  const MemoryPlan all = planned();
  p.run.setup.optimizer.lora_rank = 2;
  const MemoryPlan lora = planned();
  EXPECT_LT(lora.parameters, all.parameters / 3) << "of four numbers one, and updates";
  const int64_t feed_forward = 4 * 4 * int64_t{128} * 4096;  // two layers of two matrices, as they are saved
  EXPECT_GE(lora.peak, lora.parameters + feed_forward);
}

// In 16 bits too, the backward pass needs little more than that of a run that trains all weights.
TEST(MemoryPlan, OfActivationsIsHardlyLargerWithLora) {
  for (const auto& [precision, half] : {std::pair(TrainingPrecision::float32, false),
                                        {TrainingPrecision::bfloat16, false},
                                        {TrainingPrecision::bfloat16, true}}) {
    Planned p(2000, rows_at_once());
    p.run.setup.training.valid_sets.clear();
    p.run.setup.model.encoder_layers = p.run.setup.model.decoder_layers = 4;
    p.run.setup.training.precision = precision;
    p.run.setup.training.half_activations = half;
    const auto activations = [&] {
      const MemoryPlan plan = plan_memory(p.run.setup, backend("cpu"), *p.corpus, p.batches);
      return double(plan.peak - plan.parameters);
    };
    const double all = activations();
    p.run.setup.optimizer.lora_rank = 2;
    EXPECT_LT(activations(), 1.2 * all) << name_of(precision) << (half ? " with activations in 16 bits" : "");
  }
}

// Weights are whole on every rank; moments and the average exist for a rank's slices alone. Gradients of 8 shards in
// one process take log2(8) + 1 buffers; a rank with 2 shards takes one for its gradients, one for its tree and one for
// what the others send.
TEST(MemoryPlan, CountsBuffersOfGradientShardsAndSlicesOfARank) {
  Planned p;
  p.run.setup.training.gradient_shards = 8;
  const int64_t flat = 4 * p.model->parameters().flat_elements();
  const auto planned = [&](int ranks) {
    return plan_memory(p.run.setup, backend("cpu"), *p.corpus, p.batches, ranks).parameters;
  };
  EXPECT_NEAR(double(planned(1)), double((1 + 4 + 3) * flat), 0.02 * double(flat));
  EXPECT_NEAR(double(planned(4)), (1 + 2 + 3 / 4.0) * double(flat), 0.2 * double(flat)) << "slices are whole blocks";
  EXPECT_NEAR(double(planned(8)), (1 + 2 + 3 / 8.0) * double(flat), 0.2 * double(flat)) << "of one shard, no tree";
}

// Scoring needs the weights of products once more, rearranged.
TEST(MemoryPlan, CountsWhatValidationNeeds) {
  Planned p;
  p.run.setup.model.dim = 128;
  p.run.setup.model.feed_forward = 8192;
  const auto peak = [&] { return plan_memory(p.run.setup, backend("cpu"), *p.corpus, p.batches).peak; };
  const int64_t with = peak();
  p.run.setup.training.valid_sets.clear();
  EXPECT_GT(with, peak());
}

// Kernels work in memory that the plan has counted, and integers live outside the arena: the same to the byte.
TEST(MemoryPlan, IsThePeakOfTheRealArenaOnTheLargestBatches) {
  Planned p;
  for (const int64_t b : largest_batches(*p.corpus, p.batches)) p.learn(b);
  EXPECT_EQ(p.memory.peak, p.arena.peak());
  EXPECT_GT(p.memory.peak, p.memory.parameters);
}

TEST(MemoryPlan, IsHardlyExceededByAnyBatchOfTheEpoch) {
  Planned p;
  for (int64_t b = 0; b < p.batches.size(); ++b) p.learn(b);
  EXPECT_LE(double(p.arena.peak()), 1.05 * double(p.memory.peak));
}

// Large batches are split into micro-batches.
TEST(MemoryPlan, GrowsNoMoreWithBatchesOfMoreThanGoTogether) {
  const int64_t rows = rows_at_once();
  Planned one(2000, rows), eight(2000, 8 * rows);
  EXPECT_LT(double(eight.memory.peak), 1.02 * double(one.memory.peak));
  for (int64_t b = 0; b < eight.batches.size(); ++b) eight.learn(b);
  EXPECT_LE(double(eight.arena.peak()), 1.02 * double(eight.memory.peak));
}

// A batch of many short pairs has the most tokens, but one long pair is computed at once.
TEST(MemoryPlan, CountsALongPairThatNeedsMoreThanLargerBatches) {
  const int64_t words = 2 * rows_at_once();
  Planned p(200, 4 * words, [&](ToyRun& run) {
    run.setup.data.max_length = int(4 * words);
    for (const size_t side : {0, 1}) {
      const std::string word = side == 0 ? "one " : "eins ";
      std::string text;
      for (int line = 0; line < 12000; ++line) text += word + word + "\n";
      for (int i = 0; i < words; ++i) text += word;
      run.setup.data.train_sets[side] = run.files.make(side == 0 ? "long.en" : "long.de", text + "\n");
    }
  });
  for (int64_t b = 0; b < p.batches.size(); ++b) p.learn(b);
  EXPECT_LE(double(p.arena.peak()), 1.05 * double(p.memory.peak));
}

TEST(MemoryPlan, ThatTheMachineCannotHoldIsAnErrorWithARemedy) {
  DataOptions options;
  options.mini_batch_words = 50000;
  options.max_length = 400;
  const MemoryPlan plan{.parameters = int64_t{1} << 30, .peak = int64_t{1} << 50, .rows = rows_at_once()};
  EXPECT_THAT(message_of([&] { require_memory(plan, backend("cpu"), options); }),
              AllOf(HasSubstr("training would need 1073741824 MiB (1073740800 MiB of them for the largest batch)"),
                    HasSubstr("but the machine has"),
                    HasSubstr("hint: use a smaller model, or lower --max-length (now 400), or lower --mini-batch-words "
                              "(now 50000) below the " +
                              std::to_string(rows_at_once()) + " of a micro-batch")));
  EXPECT_NO_THROW(require_memory({.parameters = 1, .peak = 1 << 20}, backend("cpu"), options));
}

TEST(MemoryPlan, IsThatOfEachProcessOfAMachine) {
  const MemoryPlan plan{.parameters = 1 << 20, .peak = machine_memory() / 3};
  EXPECT_NO_THROW(require_memory(plan, backend("cpu"), {}, 3));
  EXPECT_THAT(message_of([&] { require_memory(plan, backend("cpu"), {}, 4); }),
              AllOf(HasSubstr("for the largest batch) in 4 processes, but the machine has"),
                    HasSubstr("hint: use fewer processes or a smaller model")));
}

}  // namespace
}  // namespace dragoman
