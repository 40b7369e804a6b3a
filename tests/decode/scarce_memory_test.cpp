#include <gtest/gtest.h>

#include <algorithm>

#include "decode/beam_search.h"
#include "model/model.h"
#include "tests/decode/tiny_translator.h"

namespace dragoman {
namespace {

using Pieces = std::vector<int32_t>;
using Found = std::vector<std::vector<Hypothesis>>;

struct Outcome {
  Found found;
  int failed_at_first = 0, failed_later = 0;  // before and after the first token of a translation was decided
};

/// Translates with no more memory than that.
class Scarce {
 public:
  explicit Scarce(const ModelConfig& config) : model_(make_model(config, cpu_, weights_, DType::f32, false)) {
    model_->parameters().initialise(11);
    packed_ = model_->parameters().pack();
  }

  Outcome translate(const std::vector<Pieces>& sources, int64_t bytes) {
    Arena arena(Arena::Reserve::memory, bytes);
    Context cx{.backend = cpu_, .arena = arena, .packed = &packed_};
    std::vector<Ensemble::Member> members;
    members.push_back({model_->decode(cx)});
    Search search(Ensemble(cx, std::move(members), conventions_of(model_->config())), 1 << 20);
    const auto options = std::make_shared<const SearchOptions>(SearchOptions{.beam_size = 3, .max_length_add = 3});
    Outcome outcome{.found = Found(sources.size())};
    std::vector<char> begun(sources.size());
    for (size_t i = 0; i < sources.size(); ++i)
      search.add(
          {.source = sources[i], .prefix = {5}}, options, Wanted::log_probs,
          [&, i](std::vector<Hypothesis> best) { outcome.found[i] = std::move(best); },
          [&, i](std::exception_ptr error) {
            EXPECT_THROW(std::rethrow_exception(error), OutOfMemory);
            ++(begun[i] ? outcome.failed_later : outcome.failed_at_first);
          },
          [&, i](std::span<const int32_t>) { begun[i] = true; });
    while (!search.idle()) search.step();
    return outcome;
  }

 private:
  const Backend& cpu_ = backend("cpu");
  Arena weights_;
  const std::unique_ptr<Model> model_;
  PackedWeights packed_;
};

// From too little for any to enough for all: what is found is always the same, and memory that ends in the middle of
// translations ends only some of them.
void expect_that_some_fail(const ModelConfig& config) {
  Scarce scarce(config);
  std::vector<Pieces> sources;
  for (int32_t i = 0; i < 12; ++i) {
    sources.emplace_back();
    for (int32_t k = 0; k < 3 + 5 * i % 37; ++k) sources.back().push_back(4 + (7 * i + 5 * k) % 300);
  }
  const Found expected = scarce.translate(sources, 1 << 26).found;
  int failed_later_alone = 0;
  for (int64_t kibibytes = 40; kibibytes < 2000; kibibytes += kibibytes / 8) {
    const Outcome outcome = scarce.translate(sources, kibibytes << 10);
    int found = 0;
    for (size_t i = 0; i < sources.size(); ++i) {
      if (outcome.found[i].empty()) continue;
      ++found;
      EXPECT_EQ(outcome.found[i], expected[i]) << "sentence " << i << ", " << kibibytes << " KiB";
    }
    EXPECT_EQ(found + outcome.failed_at_first + outcome.failed_later, int(sources.size())) << kibibytes << " KiB";
    failed_later_alone += outcome.failed_later > 0 && found > 0;
  }
  EXPECT_GT(failed_later_alone, 0);
}

ModelConfig tiny_config() { return TinyModel().config; }

TEST(ScarceMemory, FailsSomeTranslationsOfATransformer) { expect_that_some_fail(tiny_config()); }

TEST(ScarceMemory, FailsSomeTranslationsOfARecurrentModel) {
  ModelConfig config = tiny_config();
  config.type = ModelType::s2s;
  config.rnn.dim = 16;
  expect_that_some_fail(config);
}

// Sentences that have ended are aligned together: one without memory for its own alignments must not fail the others.
TEST(ScarceMemory, FailsSomeAlignmentsAndThoseAlone) {
  TinyModel tiny;
  const std::vector<std::string> lines = {"the", "Where is the castle? How much is a ticket? Where is it?", "a",
                                          "is it"};
  using Links = std::vector<std::vector<TokenLink>>;
  const auto translate = [&](int64_t bytes, bool alignment) {
    Arena arena(Arena::Reserve::memory, bytes);
    Context cx{.backend = tiny.cx.backend, .arena = arena, .packed = &tiny.packed};
    Translator translator(cx, *tiny.model, tiny.vocabularies, {}, {});
    std::vector<Links> found(lines.size());
    for (size_t i = 0; i < lines.size(); ++i)
      translator.submit(
          {.text = lines[i], .search = {.beam_size = 4, .max_length_add = 3, .n_best = 4}, .alignment = alignment},
          [&, i](const std::vector<Translation>& best) {
            for (const Translation& t : best) found[i].push_back(t.alignment.links);
          },
          [](std::exception_ptr error) { EXPECT_THROW(std::rethrow_exception(error), OutOfMemory); });
    while (!translator.idle()) translator.step();
    return found;
  };
  const std::vector<Links> expected = translate(1 << 26, true);
  int some = 0;
  for (int64_t kibibytes = 20; kibibytes < 2000; kibibytes += 1 + kibibytes / 16) {
    const std::vector<Links> found = translate(kibibytes << 10, true), without = translate(kibibytes << 10, false);
    size_t there = 0;
    for (size_t i = 0; i < lines.size(); ++i) {
      if (found[i].empty()) continue;
      ++there;
      EXPECT_EQ(found[i], expected[i]) << i << ", " << kibibytes << " KiB";
    }
    const bool searched = std::ranges::none_of(without, &Links::empty);
    EXPECT_TRUE(!searched || there > 0) << kibibytes << " KiB are enough for the short lines";
    some += searched && there > 0 && there < lines.size();
  }
  EXPECT_GT(some, 0);
}

}  // namespace
}  // namespace dragoman
