#include <gmock/gmock.h>

#include "decode/translator.h"
#include "tests/decode/tiny_translator.h"

namespace dragoman {
namespace {

using testing::IsEmpty;

/// Alignments are computed between steps of the search, one batch in each.
class StepwiseAlignment : public testing::Test {
 protected:
  StepwiseAlignment() { options.mini_batch_words = 4; }  // a batch has one hypothesis

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

TEST_F(StepwiseAlignment, TakesAStepForEachBatch) {
  EXPECT_EQ(steps(true), steps(false) + hypotheses - 1) << "the step that ends the search aligns the first one";
}

TEST_F(StepwiseAlignment, LetsOtherRequestsBeTranslatedMeanwhile) {
  Translator translator(tiny.cx, *tiny.model, tiny.vocabularies, options, {});
  std::vector<Translation> large, small, aligned;
  submit(translator, request(true), large);
  for (int left = steps(false); left > 0; --left) translator.step(1);
  submit(translator, {.text = "the", .search = {.beam_size = 1, .max_length_add = 1}}, small);
  submit(translator, {.text = "a", .search = {.beam_size = 1, .max_length_add = 1}, .alignment = true}, aligned);
  while (small.empty() || aligned.empty()) translator.step(1);
  EXPECT_THAT(large, IsEmpty());
  while (!translator.idle()) translator.step(1);
  EXPECT_EQ(large.size(), size_t(hypotheses));
}

TEST_F(StepwiseAlignment, EndsIfTheRequestIsCancelled) {
  Translator translator(tiny.cx, *tiny.model, tiny.vocabularies, options, {});
  std::vector<Translation> found;
  const auto ticket = submit(translator, request(true), found);
  for (int left = steps(false) + 1; left > 0; --left) translator.step(1);
  EXPECT_TRUE(translator.cancel(ticket));
  EXPECT_TRUE(translator.idle());
  EXPECT_THAT(found, IsEmpty());
}

// Also in segments, and in batches of several hypotheses.
TEST_F(StepwiseAlignment, IsThatOfALine) {
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

// Lines share a forced pass with others, unless a batch has no room for them.
TEST_F(StepwiseAlignment, OfALineDoesNotDependOnOtherLines) {
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

TEST_F(StepwiseAlignment, DoesNotWaitForLinesThatAreNotThere) {
  options = {.alignment = {AlignmentStyle::hard}};
  Translator translator(tiny.cx, *tiny.model, tiny.vocabularies, options, {.beam_size = 2});
  expect_lines_written_before_the_next([&](const Translator::Flow& flow) { translator.run(flow); });
}

}  // namespace
}  // namespace dragoman
