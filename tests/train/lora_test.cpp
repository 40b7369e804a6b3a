#include <gmock/gmock.h>

#include "io/model_file.h"
#include "tests/train/fine_tuning.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Lora = FineTuning;

// The number of independent rows of a - b, by elimination.
int64_t rank_of_difference(const std::vector<float>& a, const std::vector<float>& b, int64_t rows) {
  const int64_t cols = int64_t(a.size()) / rows;
  std::vector<std::vector<double>> m(rows, std::vector<double>(cols));
  double largest = 0;
  for (int64_t i = 0; i < rows * cols; ++i) {
    m[i / cols][i % cols] = double(a[i]) - double(b[i]);
    largest = std::max(largest, std::abs(m[i / cols][i % cols]));
  }
  int64_t rank = 0;
  for (; rank < rows; ++rank) {
    const auto length = [](const std::vector<double>& row) {
      return std::abs(*std::ranges::max_element(row, {}, [](double x) { return std::abs(x); }));
    };
    const auto pivot = std::ranges::max_element(m.begin() + rank, m.end(), {}, length);
    if (length(*pivot) <= 1e-4 * largest) break;  // what is left is rounding
    std::swap(m[rank], *pivot);
    const auto& row = m[rank];
    const int64_t c = std::ranges::max_element(row, {}, [](double x) { return std::abs(x); }) - row.begin();
    for (int64_t r = rank + 1; r < rows; ++r) {
      const double factor = m[r][c] / row[c];
      for (int64_t k = 0; k < cols; ++k) m[r][k] -= factor * row[k];
    }
  }
  return rank;
}

TEST_F(Lora, ChangesWeightsOfLinearLayersByThatRank) {
  run.setup.optimizer.lora_rank = 2;
  run.setup.optimizer.freeze = {"decoder.0.self_attention.key.weight", "encoder.0.feed_forward.*"};
  run.setup.optimizer.exponential_smoothing = 0.1;
  run.setup.optimizer.weight_decay = 0.1;
  run.train_until(8);
  EXPECT_THAT(run.log.text(), HasSubstr("LoRA: updates of rank 2 are trained, which have "));
  const ModelFile before(first()), after(run.setup.training.model);
  int changed = 0;
  for (const TensorEntry& t : before.tensors().tensors()) {
    if (t.name.starts_with("vocabulary.")) continue;
    const auto a = values_of<float>(after.tensors().get(t.name)), b = values_of<float>(t);
    const bool linear = t.name.ends_with(".weight") && t.shape.size() == 2 && !t.name.starts_with("embedding");
    if (linear && !matches(run.setup.optimizer.freeze, t.name)) {
      EXPECT_EQ(rank_of_difference(a, b, t.shape[0]), 2) << t.name;
      ++changed;
    } else {
      EXPECT_TRUE(a == b) << t.name;
    }
  }
  EXPECT_EQ(changed, 4 + 7 + 2) << "encoder attention, decoder attention without a key, decoder feed-forward";
  EXPECT_EQ(before.tensors().tensors().size(), after.tensors().tensors().size());
}

TEST_F(Lora, ResumesToTheSameBytes) {
  expect_to_resume_to_the_same_bytes([](OptimizerOptions& o) {
    o.lora_rank = 3;
    o.exponential_smoothing = 0.1;
  });
}

TEST_F(Lora, RefusesSymbolsWhoseRowsWouldNeverBeTrained) {
  run.setup.optimizer.lora_rank = 2;
  run.setup.data.vocabs = {run.files / "more.spm", run.files / "more.spm"};
  run.setup.data.protected_symbols = {"<2up>"};
  EXPECT_THAT(complaint(),
              AllOf(HasSubstr("embedding.weight gets rows for the symbols of --protected-symbols, but this "
                              "run does not train it"),
                    HasSubstr("hint: leave out --lora-rank")));
}

TEST_F(Lora, RefusesToResumeWithOtherUpdates) {
  run.setup.optimizer.lora_rank = 2;
  run.train_until(2);
  for (const auto& [rank, freeze, said] :
       {std::tuple(4, "norm.*", "was trained with --lora-rank 2, this run has --lora-rank 4"),
        {0, "encoder.*", "was trained with --lora-rank 2, this run has no --lora-rank"},
        {2, "encoder.*", "was trained with --lora-rank 2, this run has the same for other weights"}}) {
    run.setup.optimizer.lora_rank = rank;
    run.setup.optimizer.freeze = {freeze};
    EXPECT_THAT(complaint(), AllOf(HasSubstr(said), HasSubstr("hint: give the same --lora-rank and --freeze again")));
  }
  run.setup.optimizer.lora_rank = 2;
  run.setup.optimizer.freeze = {"*.key.*"};
  EXPECT_THAT(complaint(),
              HasSubstr("has an update of encoder.0.self_attention.key.weight, which --freeze cannot keep"));
  run.setup.optimizer.freeze = {"*.lora_up"};
  EXPECT_THAT(complaint(), HasSubstr("--freeze *.lora_up: no parameter has such a name"));
  ToyRun whole;
  whole.train_until(2);
  whole.setup.optimizer.lora_rank = 2;
  EXPECT_THAT(message_of([&] { whole.train_until(3); }),
              HasSubstr("was trained with no --lora-rank, this run has --lora-rank 2"));
}

}  // namespace
}  // namespace dragoman
