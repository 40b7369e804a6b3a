#include "optim/frozen.h"

#include <gmock/gmock.h>

#include "optim/adam.h"
#include "optim/average.h"
#include "tests/optim/toy_parameters.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// One buffer of three parts and one of its own.
struct Fused {
  Fused() {
    parameters.matrix({{"x.query", 2, Init::zeros()}, {"x.key", 3, Init::zeros()}, {"x.value", 1, Init::zeros()}}, 4);
    parameters.vector({{"y.bias", 5, Init::zeros()}});
  }
  /// "buffer: first row + rows" of each piece.
  std::vector<std::string> trained(const std::vector<std::string>& frozen) {
    std::vector<std::string> pieces;
    for (const TrainedRows& t : trained_rows(parameters, frozen))
      pieces.push_back(fmt::format("{}: {}+{}", t.buffer, t.first, t.rows));
    return pieces;
  }
  std::string complaint(const std::vector<std::string>& frozen) {
    try {
      trained(frozen);
    } catch (const Error& error) {
      return std::string(error.what()) + "\nhint: " + error.hint();
    }
    return "";
  }

  Arena arena;
  Parameters parameters{backend("reference"), arena, DType::f32, Parameters::Flat{2 * Parameters::flat_block}};
};

TEST(TrainedRows, AreWholeBuffersWithoutPatterns) { EXPECT_THAT(Fused().trained({}), ElementsAre("0: 0+6", "1: 0+5")); }

TEST(TrainedRows, LeaveOutThePartsThatAPatternMatches) {
  EXPECT_THAT(Fused().trained({"x.key"}), ElementsAre("0: 0+2", "0: 5+1", "1: 0+5"));
  EXPECT_THAT(Fused().trained({"x.value", "y.*"}), ElementsAre("0: 0+5"));
  EXPECT_THAT(Fused().trained({"*.[qkv]*"}), ElementsAre("1: 0+5"));
  EXPECT_THAT(Fused().trained({"?.bias"}), ElementsAre("0: 0+6"));
}

TEST(TrainedRows, NameWhatAPatternMayHaveMeant) {
  EXPECT_THAT(Fused().complaint({"x.*", "x.qeury"}),
              AllOf(HasSubstr("--freeze x.qeury: no parameter has such a name"), HasSubstr("did you mean 'x.query'?")));
  EXPECT_THAT(Fused().complaint({"z.*"}), HasSubstr("did you mean 'x.*'?"));
  EXPECT_THAT(Fused().complaint({"elephants"}), HasSubstr("names look like x.query and y.bias"));
}

TEST(TrainedRows, MustNotBeNone) {
  EXPECT_THAT(Fused().complaint({"x.*", "*.bias"}), HasSubstr("--freeze x.* *.bias leaves no parameter to train"));
}

// Of the gradient (3, 4 | 1e30) only the first two count: norm 5. Adam's first step is the rate against the sign, and
// decay takes 0.1 · 0.5 of a weight, but of no frozen one.
TEST(Frozen, ParametersAreLeftAloneByAdamAndMissingInTheNorm) {
  ToyParameters t;
  t.set({1, 2, 3});
  Adam adam(t.backend, t.arena, t.parameters, {.epsilon = 1e-9, .weight_decay = 0.5, .clip_norm = 0, .freeze = {"b"}});
  t.gradients({3, 4, 1e30});
  EXPECT_DOUBLE_EQ(t.step(adam, 0.1, 1), 5);
  EXPECT_THAT(t.values(), near({1 - 0.1 - 0.05, 2 - 0.1 - 0.1, 3}));
  EXPECT_EQ(t.values()[2], 3);
  EXPECT_EQ(t.joined(adam.first_moments())[2], 0);
}

TEST(Frozen, AveragesStayWhereTheyAre) {
  ToyParameters t;
  t.set({10, 20, 30});
  MovingAverage average(t.backend, t.arena, t.parameters, 0.1, {"b"});
  t.set({20, 10, 31});
  average.update(80);  // by a tenth
  EXPECT_THAT(t.joined(average.averages()), near({11, 19, 30}));
}

// Adam has nothing to do with what training observes; averages follow it.
TEST(Statistics, AreLeftAloneByAdamAndFollowedByAverages) {
  ToyParameters t;
  const Tensor running = t.parameters.statistic({"norm.running_mean", 1, Init::ones()});
  running.as<double>()[0] = 10;
  Adam adam(t.backend, t.arena, t.parameters, {.epsilon = 1e-9, .weight_decay = 0.5, .clip_norm = 0});
  MovingAverage average(t.backend, t.arena, t.parameters, 0.1);
  t.gradients({3, 4, 0});
  EXPECT_DOUBLE_EQ(t.step(adam, 0.1, 1), 5);
  adam.restart();
  EXPECT_EQ(running.as<double>()[0], 10);
  EXPECT_EQ(t.parameters.part_of(adam.first_moments(), t.parameters.named()[2]).as<double>()[0], 0);
  running.as<double>()[0] = 20;
  average.update(80);  // by a tenth
  EXPECT_DOUBLE_EQ(t.parameters.part_of(average.averages(), t.parameters.named()[2]).as<double>()[0], 11);
  average.swap(average.room());
  EXPECT_DOUBLE_EQ(running.as<double>()[0], 11);
}

TEST(Statistics, CannotBeFrozen) {
  ToyParameters t;
  t.parameters.statistic({"norm.running_mean", 1, Init::ones()});
  EXPECT_NO_THROW(trained_rows(t.parameters, {"a"}));
  try {
    trained_rows(t.parameters, {"a", "norm.*"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("--freeze norm.*: norm.running_mean is a batch-norm statistic"));
  }
}

// After a restart the first step is again the rate against the sign of the gradient.
TEST(Adam, RestartsAsBeforeItsFirstUpdate) {
  ToyParameters t;
  Adam adam(t.backend, t.arena, t.parameters, {.epsilon = 1e-9, .clip_norm = 0});
  for (int i = 0; i < 3; ++i) {
    t.gradients({5, 5, 5});
    t.step(adam, 0.1, 1);
  }
  adam.restart();
  EXPECT_EQ(adam.steps, 0);
  t.set({1, 1, 1});
  t.gradients({-2, 3, 4});
  t.step(adam, 0.1, 1);
  EXPECT_THAT(t.values(), near({1.1, 0.9, 0.9}));
}

}  // namespace
}  // namespace dragoman
