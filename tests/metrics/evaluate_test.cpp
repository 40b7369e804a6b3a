#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/evaluate_options.h"
#include "tests/engine.h"
#include "tests/temporary_folder.h"

// The subcommand as users run it: files in, a page on stdout.
namespace dragoman {
namespace {

using nlohmann::json;
using testing::EndsWith;
using testing::HasSubstr;

class Evaluate : public testing::Test {
 protected:
  std::string file(const std::string& name, std::string_view text) const { return folder_.make(name, text); }

  static std::string output_of(const EvaluateCommandOptions& options) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(evaluate_command(engine, options), 0);
    return testing::internal::GetCapturedStdout();
  }
  static std::string page_of(const EvaluateOptions& options) { return output_of({options}); }
  static json json_of(const EvaluateOptions& options) {
    EvaluateCommandOptions all{options};
    all.json = true;
    return json::parse(output_of(all));
  }

  const TemporaryFolder folder_;
};

constexpr auto hypothesis = "The cat sat on the mat.\nIt rained, all day.\n";
constexpr auto reference = "The cat sat on a mat.\nIt rained all day.\n";
constexpr double expected_bleu = 40.016016,
                 expected_chrf = 73.843119;  // sacrebleu 2.6.0: sacrebleu ref -i hyp -m bleu chrf -w 6

}  // namespace

TEST_F(Evaluate, PrintsOneObjectForOneSystem) {
  const auto page = json_of({.references = {file("ref", reference)}, .hypotheses = {file("hyp", hypothesis)}});
  EXPECT_NEAR(page.at("bleu").get<double>(), expected_bleu, 1e-6);
  EXPECT_NEAR(page.at("chrf").get<double>(), expected_chrf, 1e-6);
  EXPECT_THAT(page.at("system").get<std::string>(), EndsWith("/hyp"));
  EXPECT_THAT(page.at("bleu_signature").get<std::string>(), HasSubstr("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"));
}

TEST_F(Evaluate, PrintsAnArrayForSeveralSystems) {
  const std::string ref = file("ref", reference);
  const auto page = json_of({.references = {ref}, .hypotheses = {file("hyp", hypothesis), ref}});
  ASSERT_EQ(page.at("systems").size(), 2u);
  EXPECT_NEAR(page.at("systems")[0].at("bleu").get<double>(), expected_bleu, 1e-6);
  EXPECT_NEAR(page.at("systems")[1].at("bleu").get<double>(), 100, 1e-6);
  EXPECT_NEAR(page.at("systems")[1].at("chrf").get<double>(), 100, 1e-6);
}

TEST_F(Evaluate, ComputesOnlyTheMetricsThatWereNamed) {
  EvaluateOptions options{.references = {file("ref", reference)}, .hypotheses = {file("hyp", hypothesis)}};
  options.metrics = {CorpusMetric::chrf};
  const auto page = json_of(options);
  EXPECT_TRUE(page.contains("chrf"));
  EXPECT_FALSE(page.contains("bleu"));
}

TEST_F(Evaluate, PrintsATableWithARowForEachSystem) {
  const std::string page =
      page_of({.references = {file("ref", reference)}, .hypotheses = {file("hyp", hypothesis), file("h", reference)}});
  EXPECT_THAT(page, HasSubstr("BLEU  1-gram  2-gram  3-gram  4-gram  brevity  length   chrF2\n"));
  EXPECT_THAT(page, HasSubstr("/hyp   "));
  EXPECT_THAT(page, HasSubstr(" 100.00 "));
}

// sacrebleu 2.6.0: sacrebleu ref -i hyp -m chrf ter, with --chrf-word-order 2 for chrF++ and --ter-case-sensitive for
// the last.
TEST_F(Evaluate, HasChrfWithWordsAndTerWhichIgnoresCaseByDefault) {
  EvaluateOptions options{.references = {file("ref", reference)},
                          .hypotheses = {file("hyp", "the cat sat on the mat.\nIt rained, all day.\n")},
                          .metrics = {CorpusMetric::ter, CorpusMetric::chrf_plus_plus}};
  const auto page = json_of(options);
  EXPECT_NEAR(page.at("ter").get<double>(), 20, 1e-9);  // "the" for "a" and "rained," for "rained", of ten words
  EXPECT_NEAR(page.at("chrf++").get<double>(), 70.114844, 1e-6);
  EXPECT_THAT(page.at("ter_signature").get<std::string>(), HasSubstr("case:lc|tok:tercom"));
  options.ter_case_sensitive = true;
  EXPECT_NEAR(json_of(options).at("ter").get<double>(), 30, 1e-9);
}

// sacrebleu 2.6.0: sacrebleu ref -i hyp -sl -b -w 4, with -m bleu, chrf, chrf --chrf-word-order 2 and ter.
TEST_F(Evaluate, ScoresEachLineByItself) {
  EvaluateCommandOptions options{
      {.references = {file("ref", std::string(reference) + "yes we can\n")},
       .hypotheses = {file("hyp", std::string(hypothesis) + "Yes\n")},
       .metrics = {CorpusMetric::ter, CorpusMetric::chrf_plus_plus, CorpusMetric::chrf, CorpusMetric::bleu},
       .sentence_level = true}};
  EXPECT_EQ(output_of(options),
            "48.8923\t71.4225\t72.6591\t16.6667\n"
            "37.9918\t76.4774\t78.3474\t25.0000\n"
            "0.0000\t15.0980\t11.3235\t66.6667\n");
}

TEST_F(Evaluate, SaysThatSystemsDoNotDiffer) {
  const std::string ref = file("ref", reference);
  for (const bool by_bootstrap : {false, true}) {
    std::string warnings;
    Engine logging({.log = [&](LogLevel, std::string_view message) { warnings += message; }});
    evaluate(logging, {.references = {ref},
                       .hypotheses = {file("one", hypothesis), file("same", hypothesis), file("other", reference)},
                       .metrics = {CorpusMetric::chrf},
                       .paired_bs = by_bootstrap,
                       .paired_ar = !by_bootstrap,
                       .samples = 9});
    EXPECT_THAT(warnings, HasSubstr("same have the same chrF2 on every line"));
    EXPECT_THAT(warnings, testing::Not(HasSubstr("other have")));
  }
}

TEST_F(Evaluate, GivesIntervalsAndComparesWithTheFirstSystem) {
  EvaluateOptions options{.references = {file("ref", reference)},
                          .hypotheses = {file("hyp", hypothesis), file("other", "A cat.\nRain all day.\n")},
                          .paired_bs = true};
  const auto systems = json_of(options).at("systems");
  EXPECT_GT(systems[0].at("bleu_confidence").at("half_width").get<double>(), 0);
  EXPECT_FALSE(systems[0].contains("bleu_p_value"));
  EXPECT_LE(systems[1].at("chrf_p_value").get<double>(), 1);
  EXPECT_THAT(page_of(options), HasSubstr("95 % confidence  p (as good as " + options.hypotheses[0] + ")\n"));
}

TEST_F(Evaluate, ComparesByRandomizationWithoutIntervals) {
  const auto page = json_of({.references = {file("ref", reference)},
                             .hypotheses = {file("hyp", hypothesis), file("other", reference)},
                             .paired_ar = true,
                             .samples = 99});
  EXPECT_FALSE(page.at("systems")[1].contains("bleu_confidence"));
  EXPECT_TRUE(page.at("systems")[1].contains("bleu_p_value"));
  EXPECT_THAT(page.at("bleu_signature").get<std::string>(), HasSubstr("nrefs:1|ar:99|seed:12345"));
}

TEST_F(Evaluate, NamesBothFilesAndTheirLinesWhenTheyDoNotPair) {
  const std::string ref = file("ref", "a\nb\nc\n"), hyp = file("hyp", "a\n");
  try {
    evaluate_command(engine, {{.references = {ref}, .hypotheses = {hyp}}});
    FAIL() << "files of different lengths were accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), fmt::format("{} has 1 line, {} has 3 lines", hyp, ref));
    EXPECT_THAT(error.hint(), HasSubstr("--hypotheses"));
  }
}

TEST_F(Evaluate, RefusesReferencesWithoutLines) {
  EXPECT_THROW(evaluate_command(engine, {{.references = {file("ref", "")}, .hypotheses = {file("hyp", "")}}}), Error);
}

}  // namespace dragoman
