#include "dragoman/evaluate.h"

#include <gmock/gmock.h>

#include "dragoman/engine.h"
#include "dragoman/error.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class EvaluateTest : public testing::Test {
 protected:
  TemporaryFolder folder;
  const std::string reference = folder.make("ref", "The cat sat on a mat.\nIt rained all day.\n");
  const std::string hypothesis = folder.make("hyp", "The cat sat on the mat.\nIt rained, all day.\n");
  Engine engine{{.threads = 1}};
};

TEST_F(EvaluateTest, GivesTheFiguresOfSacrebleu) {
  const Evaluation e = evaluate(engine, {.references = {reference}, .hypotheses = {hypothesis, reference}});
  ASSERT_EQ(e.systems.size(), 2u);
  EXPECT_EQ(e.systems[0].system, hypothesis);
  ASSERT_EQ(e.systems[0].scores.size(), 2u);
  const MetricScore &bleu = e.systems[0].scores[0], &chrf = e.systems[0].scores[1];
  EXPECT_EQ(bleu.name, "bleu");
  EXPECT_EQ(chrf.title, "chrF2");
  EXPECT_NEAR(bleu.score, 40.016016, 1e-6);  // sacrebleu 2.6.0: sacrebleu ref -i hyp -m bleu chrf -w 6
  EXPECT_NEAR(chrf.score, 73.843119, 1e-6);
  EXPECT_TRUE(bleu.bleu && !chrf.bleu && !bleu.interval && !bleu.p_value);
  EXPECT_NEAR(e.systems[1].scores[0].score, 100, 1e-9);
  ASSERT_EQ(e.signatures.size(), 2u);
  EXPECT_THAT(e.signatures[0].text, HasSubstr("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"));
}

TEST_F(EvaluateTest, TakesTextsInMemoryAsItTakesFiles) {
  const Evaluation files = evaluate(engine, {.references = {reference}, .hypotheses = {hypothesis}});
  const Evaluation texts =
      evaluate(engine, EvaluateOptions{}, {{"reference", {"The cat sat on a mat.", "It rained all day."}}},
               {{"hypothesis", {"The cat sat on the mat.", "It rained, all day."}}});
  EXPECT_EQ(texts.systems[0].system, "hypothesis");
  EXPECT_EQ(texts.systems[0].scores[0].score, files.systems[0].scores[0].score);
  EXPECT_EQ(texts.systems[0].scores[1].score, files.systems[0].scores[1].score);
  EXPECT_EQ(texts.signatures[0].text, files.signatures[0].text);
  EXPECT_THAT(
      [&] {
        evaluate(engine, EvaluateOptions{}, {{"r", {"a"}}}, {{"h", {"a", "b"}}});
      },
      ThrowsMessage<Error>(HasSubstr("h has 2 lines, r has 1 line")));
}

TEST_F(EvaluateTest, TestsSignificanceOnRequest) {
  const Evaluation e =
      evaluate(engine, {.references = {reference}, .hypotheses = {hypothesis, reference}, .paired_bs = true});
  EXPECT_TRUE(e.systems[0].scores[0].interval && !e.systems[0].scores[0].p_value);
  EXPECT_TRUE(e.systems[1].scores[0].interval && e.systems[1].scores[0].p_value);
}

TEST_F(EvaluateTest, RefusesANumberOfSamplesOutOfRange) {
  for (const int samples : {-1, 2'000'000'000})
    EXPECT_THAT([&] { evaluate(engine, {.references = {reference}, .hypotheses = {hypothesis}, .samples = samples}); },
                ThrowsMessage<Error>(HasSubstr("--samples: ")));
}

TEST_F(EvaluateTest, RefusesOptionsThatWouldHaveNoEffect) {
  using enum CorpusMetric;
  const auto refuses = [&](EvaluateOptions options, const std::string& message) {
    options.references = {reference}, options.hypotheses.front() = hypothesis;
    EXPECT_THAT([&] { evaluate(engine, options); }, ThrowsMessage<Error>(message));
  };
  refuses({.metrics = {chrf}, .tokenize = Tokenizer::none}, "--tokenize is for --metrics bleu, not for chrf");
  refuses({.metrics = {ter}, .lowercase = true}, "--lowercase is for --metrics bleu chrf chrf++ exact, not for ter");
  refuses({.ter_case_sensitive = true}, "--ter-case-sensitive is for --metrics ter, not for bleu chrf");
  refuses({.rouge_stemmer = true}, "--rouge-stemmer is for --metrics rouge, not for bleu chrf");
  const std::string no_test = " is for --confidence, --paired-bs and --paired-ar, none of which is given";
  refuses({.samples = 9}, "--samples" + no_test);
  refuses({.seed = 9}, "--seed" + no_test);
  refuses({.hypotheses = {"", hypothesis}, .paired_bs = true, .paired_ar = true},
          "--paired-bs and --paired-ar cannot be combined");
  refuses({.paired_ar = true}, "--paired-ar compares systems, but --hypotheses names only one");
}

TEST_F(EvaluateTest, RefusesSeveralReferencesOfTrees) {
  const EvaluatedText tree{"t", {"(S (NN a))"}};
  EXPECT_THAT(
      [&] {
        evaluate(engine, {.metrics = {CorpusMetric::evalb}}, {tree, tree}, {tree});
      },
      ThrowsMessage<Error>(HasSubstr("--metrics evalb takes one file of --references, found 2")));
}

TEST_F(EvaluateTest, RefusesTextsThatDoNotPair) {
  const std::string one = folder.make("one", "a\n");
  EXPECT_THAT([&] { evaluate(engine, {.references = {reference}, .hypotheses = {one}}); },
              ThrowsMessage<Error>(HasSubstr("has 1 line, ")));
  EXPECT_THAT([&] { evaluate(engine, {.hypotheses = {one}}); }, ThrowsMessage<Error>(HasSubstr("nothing to evaluate")));
}

}  // namespace
}  // namespace dragoman
