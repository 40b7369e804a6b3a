#include <gtest/gtest.h>

#include <new>
#include <random>

#include "decode/ensemble.h"
#include "decode/translator.h"
#include "tests/decode/recorded_decoding.h"
#include "tests/decode/tiny_translator.h"

namespace dragoman {
namespace {

/// Steps that a device begins before the search asks for them (Ensemble::begin).
class BegunStep : public RecordedDecoding {
 protected:
  Search search_on(Context& cx, int64_t tokens) {
    std::vector<Ensemble::Member> alone;
    alone.push_back({model->decode(cx)});
    return {Ensemble(cx, std::move(alone), conventions_of(model->config())), tokens};
  }
  std::vector<Hypothesis> alone(const Sentence& sentence, const Search::Options& options) {
    Context cx{.backend = plain, .arena = arena, .packed = &packed};
    std::vector<Hypothesis> found;
    Search search = search_on(cx, 1000);
    search.add(sentence, options, Wanted::log_probs, [&](std::vector<Hypothesis> best) { found = std::move(best); });
    while (!search.idle()) search.step();
    return found;
  }
};

Search::Options some_options(unsigned i) {
  SearchOptions options{.beam_size = 1 + int(i % 3), .max_length_add = 2 + int(i % 5)};
  if (i % 4 == 1) options.no_repeat_ngram = 2;
  if (i % 4 == 2) options.sampling = Sampling::topk, options.sampling_pieces = 3, options.seed = 7;
  if (i % 4 == 3) options.min_length = 3;
  return std::make_shared<const SearchOptions>(options);
}

TEST_F(BegunStep, IsOfNoSentenceThatIsCancelledOrAddedMeanwhile) {
  const Sources some = sources(16, 8);
  Context cx{.backend = device, .arena = arena, .packed = &packed};
  for (unsigned round = 0; round < 3; ++round) {
    std::mt19937 random(round);
    Search search = search_on(cx, 20);
    std::vector<Search::Ticket> tickets;
    std::vector<bool> cancelled(some.size()), ended(some.size());
    const auto add = [&] {
      const size_t i = tickets.size();
      const Sentence sentence{.source = some[i], .line = i};
      tickets.push_back(
          search.add(sentence, some_options(unsigned(i)), Wanted::log_probs, [&, i](std::vector<Hypothesis> best) {
            EXPECT_FALSE(cancelled[i] || ended[i]) << i;
            ended[i] = true;
            EXPECT_EQ(best, alone({.source = some[i], .line = i}, some_options(unsigned(i)))) << i;
          }));
    };
    while (tickets.size() < some.size() || !search.idle()) {
      for (unsigned count = random() % 3; count > 0 && tickets.size() < some.size(); --count) add();
      if (!tickets.empty() && random() % 4 == 0)
        if (const size_t i = random() % tickets.size(); search.cancel(tickets[i])) cancelled[i] = true;
      search.step();
    }
    for (size_t i = 0; i < some.size(); ++i) EXPECT_NE(cancelled[i], ended[i]) << i;
  }
}

TEST_F(BegunStep, LeavesTheSearchAsItIsWhereThereIsNoMemory) {
  static int call, without_memory;
  for (without_memory = 1; without_memory <= 4; ++without_memory) {
    Backend scarce = device;
    scarce.top_k = [](const Tensor& values, const Tensor& ids, const Tensor& lse, const Tensor& logits) {
      if (++call == without_memory) throw std::bad_alloc();
      gpu_on_host().top_k(values, ids, lse, logits);
    };
    call = 0;
    Context cx{.backend = scarce, .arena = arena, .packed = &packed};
    Search search = search_on(cx, 1000);
    int found = 0, failed = 0;
    for (int32_t s = 0; s < 3; ++s)
      search.add(
          {.source = {3, 4, 5 + s}}, some_options(0), Wanted::log_probs, [&](auto) { ++found; },
          [&](auto) { ++failed; });
    while (!search.idle()) search.step();
    EXPECT_EQ(found + failed, 3);
    EXPECT_LE(failed, 1);
  }
}

// While a device computes, few lines are read at a time, but as many as its next steps need.
TEST_F(BegunStep, FindsThatEnoughLinesHaveBeenRead) {
  static int steps;
  Backend counting = device;
  counting.top_k = [](const Tensor& values, const Tensor& ids, const Tensor& lse, const Tensor& logits) {
    ++steps;
    gpu_on_host().top_k(values, ids, lse, logits);
  };
  steps = 0;
  TinyModel tiny;
  const auto on_device = make_model(tiny.config, device, arena, DType::f32, false);
  const auto to = on_device->parameters().named(), from = tiny.model->parameters().named();
  for (size_t i = 0; i < to.size(); ++i) to[i].value.assign(from[i].value);
  const PackedWeights packed_weights = on_device->parameters().pack(DType::f32);
  Context cx{.backend = counting, .arena = arena, .packed = &packed_weights};
  const TranslateOptions options{.mini_batch_words = 2700, .no_spm_encode = true};
  const SearchOptions as_long{.beam_size = 1, .max_length_add = 0, .max_length_factor = 1};
  std::vector<std::string> lines;
  for (int i = 0; i < 3000; ++i) lines.push_back(i % 3 > 0 ? "a" : "a b");
  EXPECT_EQ(Translator(cx, *on_device, tiny.vocabularies, options, as_long).translate(lines).size(), lines.size());
  EXPECT_LE(steps, 12) << "with 16 lines a step it would be about 50";
}

}  // namespace
}  // namespace dragoman
