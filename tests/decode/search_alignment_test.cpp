#include <gmock/gmock.h>

#include "align/model_alignment.h"
#include "decode/translator.h"
#include "tests/align_pairs.h"
#include "tests/decode/aligned_search.h"
#include "tests/decode/tiny_translator.h"

namespace dragoman {
namespace {

using testing::FloatNear;
using testing::IsEmpty;
using testing::Not;
using testing::Pointwise;

/// Alignments are taken from what the search has computed, when a sentence ends: one batch in each step.
class SearchAlignment : public testing::Test {
 protected:
  TextRequest request(bool alignment) const {
    return {.text = "Where is the castle? How much is a ticket?",
            .search = {.beam_size = hypotheses, .max_length_add = 3, .n_best = hypotheses},
            .alignment = alignment};
  }
  Translator::Ticket submit(Translator& translator, TextRequest request, std::vector<Translation>& found) {
    return translator.submit(
        std::move(request), [&found](std::vector<Translation> best) { found = std::move(best); },
        [](std::exception_ptr) { FAIL(); });
  }
  int steps(bool alignment) {
    Translator translator(tiny.cx, *tiny.model, tiny.vocabularies, options, {});
    std::vector<Translation> found;
    submit(translator, request(alignment), found);
    int steps = 0;
    for (; !translator.idle(); ++steps) translator.step(1);
    return steps;
  }

  static constexpr int hypotheses = 12;
  TinyModel tiny;
  TranslateOptions options;
};

// In a frame with tokens before the translation, of one head, also of hypotheses without </s> (by Marian's rule).
TEST_F(SearchAlignment, IsThatOfAForcedPass) {
  ModelConfig config = tiny.config;
  config.decoder_layers = 2;
  config.generation.target_language = TargetLanguage::target;
  config.generation.target_language_id = 7;
  config.alignment.heads = 1;
  const SentenceFrames frames = frames_of(config);
  int ended = 0, at_limit = 0;
  for (const ModelType type : {ModelType::transformer, ModelType::s2s}) {
    config.type = type, config.rnn.dim = 16;
    const auto model = make_model(config, backend("cpu"), tiny.arena, DType::f32, false);
    model->parameters().initialise(11);
    const std::vector<std::vector<int32_t>> sources = {{30, 40, 50}, {60}, {}, {70, 80, 90, 100, 110, 120, 130}};
    for (const auto& [tokens, rule] : {std::pair(4, SearchRule::huggingface), {1000, SearchRule::marian}}) {
      const auto found = aligned_search(
          tiny.cx, *model, {.beam_size = 4, .rule = rule, .max_length_add = 20, .n_best = 3}, tokens, sources);
      for (size_t s = 0; s < sources.size(); ++s) {
        ASSERT_EQ(found[s].best.size(), 3u);
        ASSERT_EQ(found[s].alignments.size(), 3u);
        for (size_t rank = 0; rank < 3; ++rank) {
          const Hypothesis& h = found[s].best[rank];
          const Alignment& alignment = found[s].alignments[rank];
          ++(h.length > std::ssize(h.ids) ? ended : at_limit);
          const IdPair pair(frames.source.around(sources[s]), target_of(h, frames.target));
          Alignment expected = align_pairs(tiny.cx, *model, {&pair, 1})[0];
          drop_targets(expected, 1);
          ASSERT_EQ(alignment.sources, expected.sources);
          EXPECT_EQ(alignment.targets(), h.length);
          EXPECT_THAT(alignment.weights, Pointwise(FloatNear(1e-5f), expected.weights));
        }
      }
    }
  }
  EXPECT_GT(ended, 0);
  EXPECT_GT(at_limit, 0);
}

TEST_F(SearchAlignment, TakesNoFurtherStepUnlessABatchHasNoRoom) {
  EXPECT_EQ(steps(true), steps(false));
  options.mini_batch_words = 4;  // a batch has one hypothesis
  EXPECT_EQ(steps(true), steps(false) + hypotheses - 1) << "the step that ends the search aligns the first one";
}

TEST_F(SearchAlignment, LetsOtherRequestsBeTranslatedMeanwhile) {
  options.mini_batch_words = 4;
  Translator translator(tiny.cx, *tiny.model, tiny.vocabularies, options, {});
  std::vector<Translation> large, small;
  submit(translator, request(true), large);
  for (int left = steps(false); left > 0; --left) translator.step(1);
  submit(translator, {.text = "the", .search = {.beam_size = 1, .max_length_add = 1}}, small);
  for (int left = hypotheses - 2; left > 0; --left) {
    EXPECT_THAT(large, IsEmpty());
    translator.step(1);
  }
  while (!translator.idle()) translator.step(1);
  EXPECT_EQ(large.size(), size_t(hypotheses));
  EXPECT_EQ(small.size(), 1u);
}

TEST_F(SearchAlignment, IsOnlyOfThoseThatRequestIt) {
  Translator translator(tiny.cx, *tiny.model, tiny.vocabularies, options, {});
  std::vector<Translation> before, without, with;
  submit(translator, request(false), before);
  translator.step(1);
  submit(translator, request(true), with);
  submit(translator, request(false), without);
  while (!translator.idle()) translator.step(1);
  for (size_t rank = 0; rank < size_t(hypotheses); ++rank) {
    EXPECT_THAT(before[rank].alignment.links, IsEmpty());
    EXPECT_THAT(without[rank].alignment.links, IsEmpty());
    EXPECT_THAT(with[rank].alignment.links, Not(IsEmpty()));
    EXPECT_EQ(before[rank].text, with[rank].text);
  }
}

TEST_F(SearchAlignment, EndsIfTheRequestIsCancelled) {
  options.mini_batch_words = 4;
  Translator translator(tiny.cx, *tiny.model, tiny.vocabularies, options, {});
  std::vector<Translation> found;
  const auto ticket = submit(translator, request(true), found);
  for (int left = steps(false) + 1; left > 0; --left) translator.step(1);
  EXPECT_TRUE(translator.cancel(ticket)) << "while it is aligned";
  EXPECT_TRUE(translator.idle());
  EXPECT_THAT(found, IsEmpty());
}

// Also in segments, and in batches of several hypotheses.
TEST_F(SearchAlignment, IsThatOfALine) {
  for (const int64_t words : {4, 60, 1000})
    for (const int longest : {1000, 6}) {
      options = {.mini_batch_words = words, .max_length = longest, .alignment = {AlignmentStyle::hard}};
      Translator translator(tiny.cx, *tiny.model, tiny.vocabularies, options, request(true).search);
      std::vector<Translation> of_request, of_line;
      submit(translator, request(true), of_request);
      while (!translator.idle()) translator.step();
      bool read = false;
      translator.run({.ready = [] { return true; },
                      .next =
                          [&](std::string& text, bool&) {
                            text = request(true).text;
                            return !std::exchange(read, true);
                          },
                      .write = [&](std::vector<Translation> best, bool) { of_line = std::move(best); },
                      .flush = [] {}});
      ASSERT_EQ(of_request.size(), size_t(hypotheses));
      ASSERT_EQ(of_line.size(), size_t(hypotheses));
      for (size_t rank = 0; rank < of_line.size(); ++rank) {
        EXPECT_EQ(of_request[rank].text, of_line[rank].text);
        EXPECT_EQ(of_request[rank].alignment.links, of_line[rank].alignment.links);
        EXPECT_FALSE(of_line[rank].alignment.links.empty());
      }
    }
}

// Lines that end in the same step are aligned together, unless a batch has no room for them.
TEST_F(SearchAlignment, OfALineDoesNotDependOnOtherLines) {
  const std::vector<std::string> lines = {"Where is the castle?", "", "the", "How much is a ticket? Where is it?", "a"};
  const auto links_of = [&](const std::vector<std::string>& some, int64_t words) {
    options = {.mini_batch_words = words, .alignment = {AlignmentStyle::hard}};
    Translator translator(tiny.cx, *tiny.model, tiny.vocabularies, options, {.beam_size = 2, .n_best = 2});
    std::vector<std::vector<TokenLink>> links;
    size_t next = 0;
    translator.run({.ready = [] { return true; },
                    .next = [&](std::string& text, bool&) { return next < some.size() && (text = some[next++], true); },
                    .write =
                        [&](const std::vector<Translation>& best, bool) {
                          for (const Translation& t : best) links.push_back(t.alignment.links);
                        },
                    .flush = [] {}});
    return links;
  };
  std::vector<std::vector<TokenLink>> alone;
  for (const std::string& line : lines)
    for (auto& links : links_of({line}, 1000)) alone.push_back(std::move(links));
  for (const int64_t words : {4, 20, 1000}) EXPECT_EQ(links_of(lines, words), alone) << words;
}

TEST_F(SearchAlignment, DoesNotWaitForLinesThatAreNotThere) {
  options = {.alignment = {AlignmentStyle::hard}};
  Translator translator(tiny.cx, *tiny.model, tiny.vocabularies, options, {.beam_size = 2});
  expect_lines_written_before_the_next([&](const Translator::Flow& flow) { translator.run(flow); });
}

}  // namespace
}  // namespace dragoman
