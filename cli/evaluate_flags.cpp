#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/evaluate_options.h"
#include "metrics/evaluate_problems.h"
#include "options/flags.h"
#include "options/shared_flags.h"
#include "options/table_files.h"

namespace dragoman {
namespace {

std::string names_of(const std::vector<CorpusMetric>& metrics) {
  std::vector<std::string_view> names;
  for (const CorpusMetric metric : metrics) names.push_back(name_of(metric));
  return fmt::format("{}", fmt::join(names, " "));
}

void check_oracle(const EvaluateCommandOptions& o, const Given& given, Findings& findings) {
  if (o.references.size() != 1 || o.hypotheses.size() != 1)
    findings.add(Error(fmt::format("--oracle takes one file of --references and one of --hypotheses, found {} and {}",
                                   o.references.size(), o.hypotheses.size()),
                       "--hypotheses names an n-best list, as dragoman translate --n-best writes it"));
  findings.expect(!given.changed("metrics"), "--metrics contradicts --oracle, which prints translations, not metrics");
}

// The metric is chrF if none is given.
void check_mbr(EvaluateCommandOptions& o, const Given& given, Findings& findings) {
  findings.expect(!o.oracle, "--mbr and --oracle cannot be combined");
  if (!o.references.empty())
    findings.add(Error("--mbr chooses without references, found --references " + o.references[0],
                       "--oracle chooses by references"));
  if (o.hypotheses.size() != 1)
    findings.add(Error(fmt::format("--mbr takes one file of --hypotheses, found {}", o.hypotheses.size()),
                       "--hypotheses names an n-best list, as dragoman translate --n-best writes it"));
  if (!given("metrics")) o.metrics = {CorpusMetric::chrf};
  static constexpr std::array of_sentences = {CorpusMetric::bleu, CorpusMetric::chrf, CorpusMetric::chrf_plus_plus};
  findings.expect(o.metrics.size() == 1 && std::ranges::count(of_sentences, o.metrics[0]) > 0,
                  "--mbr takes one of --metrics chrf, chrf++ and bleu, found {}", names_of(o.metrics));
}

void check_list(EvaluateCommandOptions& o, const Given& given, Findings& findings) {
  o.mbr ? check_mbr(o, given, findings) : check_oracle(o, given, findings);
  for (const char* option : {"ter-case-sensitive", "rouge-stemmer", "json", "sentence-level", "confidence", "paired-bs",
                             "paired-ar", "samples", "seed"})
    findings.expect(!given.changed(option), "--{} contradicts --{}, which prints translations, not metrics", option,
                    o.mbr ? "mbr" : "oracle");
}

void check_scoring(const EvaluateCommandOptions& o, Findings& findings) {
  EvaluateOptions scoring = o;
  if (o.oracle || o.mbr)  // check_list refuses the rest
    scoring = {.metrics = o.metrics, .tokenize = o.tokenize, .lowercase = o.lowercase};
  for (const Error& problem : problems_of(scoring)) findings.add(problem);
}

void check_sentence_level(const EvaluateCommandOptions& o, const Given& given, Findings& findings) {
  for (const char* option : {"json", "confidence", "paired-bs", "paired-ar"})
    findings.expect(!given.changed(option), "--{} contradicts --sentence-level, which prints the scores of lines",
                    option);
  if (o.hypotheses.size() != 1)
    findings.add(Error(fmt::format("--sentence-level takes one file of --hypotheses, found {}", o.hypotheses.size()),
                       "evaluate one system after the other"));
}

void check_evaluate(EvaluateCommandOptions& o, const Given& given, Findings& findings) {
  if (o.oracle || o.mbr) check_list(o, given, findings);
  if (o.references.empty() && !o.mbr)
    findings.add(Error("--references FILE... is missing: reference translations; several files are alternatives"));
  const auto from_stdin = std::count(o.hypotheses.begin(), o.hypotheses.end(), "-") +
                          std::count(o.references.begin(), o.references.end(), "-");
  findings.expect(from_stdin <= 1, "only one file of --hypotheses and --references can be '-' (stdin), found {}",
                  from_stdin);
  findings.attempt([&] { require_tokenizer_model(o.tokenize, o.tokenize_model); });
  findings.expect(!o.metrics.empty(), "--metrics needs a value");
  check_scoring(o, findings);
  if (o.sentence_level) check_sentence_level(o, given, findings);
}

}  // namespace

Table<EvaluateCommandOptions> evaluate_table() {
  using O = EvaluateCommandOptions;
  static constexpr auto files = "Files", metrics = "Metrics", significance = "Significance";
  return {
      .about =
          {.name = "evaluate",
           .summary = "evaluate translations: BLEU, chrF, TER, ROUGE, EVALB",
           .usage = "(--references FILE... | --mbr) [--hypotheses FILE...] [OPTION...]",
           .text =
               "Prints corpus BLEU, chrF2, chrF2++ or TER for each file of translations. Scores and significance tests "
               "equal sacreBLEU's. There is also ROUGE for summaries, exact match for code, and EVALB's F1 for trees."},
      .flags =
          {
              {.name = "references",
               .letter = 'r',
               .field = &O::references,
               .value = "FILE...",
               .group = files,
               .help =
                   "reference translations, required except with --mbr; several files are alternatives for each line"},
              {.name = "hypotheses",
               .letter = 'i',
               .field = &O::hypotheses,
               .value = "FILE...",
               .group = files,
               .help = "translations to evaluate, one file per system; - is stdin"},
              {.name = "metrics",
               .field = &O::metrics,
               .value = "NAME...",
               .group = metrics,
               .help = "metrics to compute; rouge: ROUGE-1, -2 and -L; exact: percentage of equal lines; evalb: "
                       "labelled F1 of bracketed trees"},
              {.name = "tokenize",
               .field = &O::tokenize,
               .value = "NAME",
               .group = metrics,
               .help = "tokenizer for BLEU: 13a: WMT's default; zh: WMT's for Chinese; none: for text that is already "
                       "tokenised; spm: spBLEU"},
              {.name = "tokenize-model",
               .field = &O::tokenize_model,
               .value = "FILE",
               .group = metrics,
               .help = "SentencePiece model for --tokenize spm, such as that of FLORES-200"},
              {.name = "lowercase",
               .field = &O::lowercase,
               .group = metrics,
               .help = "ignore case in BLEU, chrF and exact"},
              {.name = "ter-case-sensitive",
               .field = &O::ter_case_sensitive,
               .group = metrics,
               .help = "respect case in TER"},
              {.name = "rouge-stemmer",
               .field = &O::rouge_stemmer,
               .group = metrics,
               .help = "compare words by their Porter stems in ROUGE, as most published results do"},
              {.name = "json", .field = &O::json, .group = metrics, .help = "print one JSON object"},
              {.name = "sentence-level",
               .field = &O::sentence_level,
               .group = metrics,
               .help =
                   "print instead the scores of each line, separated by tabs, always in the order BLEU, chrF, chrF++, "
                   "TER, ROUGE-1, ROUGE-2, ROUGE-L, exact, evalb; BLEU of a line is smoothed, of n-grams no longer "
                   "than the line"},
              {.name = "oracle",
               .field = &O::oracle,
               .group = metrics,
               .help = "read --hypotheses as an n-best list ('line ||| translation ||| features') and print, instead "
                       "of metrics, each line's translation with the best sentence BLEU"},
              {.name = "mbr",
               .field = &O::mbr,
               .group = metrics,
               .help = "read --hypotheses as an n-best list and print each line's translation of minimum Bayes risk: "
                       "that with the highest mean of --metrics (chrf, chrf++ or bleu; chrf if not given) against the "
                       "line's others"},
              {.name = "confidence",
               .field = &O::confidence,
               .group = significance,
               .help = "print 95 % confidence intervals by bootstrap resampling"},
              {.name = "paired-bs",
               .field = &O::paired_bs,
               .group = significance,
               .help = "compare each system with the first by paired bootstrap resampling; also prints intervals"},
              {.name = "paired-ar",
               .field = &O::paired_ar,
               .group = significance,
               .help = "compare each system with the first by paired approximate randomisation"},
              {.name = "samples",
               .field = &O::samples,
               .value = "N",
               .group = significance,
               .help = "number of bootstrap resamples; with --paired-ar, of randomisations, while intervals still take "
                       "1,000 resamples; 0: 1,000 resamples or 10,000 randomisations",
               .range = {0, 10'000'000}},
              {.name = "seed",
               .field = &O::seed,
               .value = "N",
               .group = significance,
               .help = "random seed of the resampling"},
          },
      .check = check_evaluate,
      .files = prints<O>};
}

}  // namespace dragoman
