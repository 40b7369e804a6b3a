#include "dragoman/evaluate.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/grouped.h"
#include "base/line_reader.h"
#include "base/log.h"
#include "dragoman/engine.h"
#include "io/xxhash64.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "metrics/evalb.h"
#include "metrics/evaluate_problems.h"
#include "metrics/exact.h"
#include "metrics/rouge.h"
#include "metrics/signature.h"
#include "metrics/ter.h"

namespace dragoman {
namespace {

struct Work {
  const EvaluateOptions& options;
  LineTokenizer tokenizer;           // for BLEU
  std::vector<EvaluatedText> texts;  // one per system
  std::vector<Segments> references;  // refer to the texts
};

EvaluatedText read_text(const std::string& path) {
  LineReader reader(path);
  EvaluatedText file{reader.name(), {}};
  for (std::string line; reader.next(line);) file.lines.push_back(line);
  return file;
}

// The model of spm may have any name, so its checksum stands for it.
std::string signature_of(const LineTokenizer& tokenizer) {
  if (!tokenizer.model()) return std::string(name_of(tokenizer.name()));
  XxHash64 hash;
  hash.add(std::as_bytes(std::span(tokenizer.model()->bytes())));
  return fmt::format("{}-{:016x}", name_of(tokenizer.name()), hash.digest());
}

std::string length_of(const EvaluatedText& file) {
  const size_t lines = file.lines.size();
  return fmt::format("{} has {}", file.name, counted(lines, "line"));
}

void require_equal_length(const EvaluatedText& file, const EvaluatedText& reference) {
  if (file.lines.size() == reference.lines.size()) return;
  throw Error(length_of(file) + ", " + length_of(reference),
              "line i of --hypotheses is compared with line i of --references: look for lines that were lost or split");
}

std::vector<EvaluatedText> read_texts(const std::vector<std::string>& paths) {
  std::vector<EvaluatedText> files;
  for (const auto& path : paths) files.push_back(read_text(path));
  return files;
}

// Scores of text tokenised twice are not comparable. sacreBLEU warns at the same number of lines.
void warn_of_tokenised_text(const EvaluatedText& system, Tokenizer tokenizer) {
  const auto lines =
      std::count_if(system.lines.begin(), system.lines.end(), [](const auto& l) { return l.ends_with(" ."); });
  if (tokenizer == Tokenizer::none || lines < 100) return;
  log_warning("{} looks tokenised: {} lines end in ' .'. Detokenise it, or use --tokenize none", system.name,
              grouped(lines));
}

// Computes one metric for all systems: `lines_of(text)` returns the stats of each line, `score` the metric of their
// sum, and `of_line` that of a line. Returns each system's sum.
template <class LinesOf, class Score, class OfLine>
auto judge(const MetricScore& named, const Work& work, std::vector<SystemScores>& systems, LinesOf lines_of,
           Score score, OfLine of_line) {
  const EvaluateOptions& options = work.options;
  const auto baseline = lines_of(work.texts.front().lines);
  std::vector<double> baseline_scores;
  auto sums = std::vector{sum_of(baseline)};
  for (size_t s = 0; s < systems.size(); ++s) {
    const auto lines = s == 0 ? baseline : lines_of(work.texts[s].lines);
    if (s > 0) sums.push_back(sum_of(lines));
    MetricScore& figure = systems[s].scores.emplace_back(named);
    figure.score = score(sums[s]);
    if (options.confidence || options.paired_bs) {
      const auto scores = bootstrap_scores(lines, score, bootstrap_of(options));
      figure.interval = interval_of(scores);
      if (s == 0) baseline_scores = scores;
      if (s > 0 && options.paired_bs)
        figure.p_value = bootstrap_p_value(baseline_scores, scores, figure.score - score(sums[0]));
    }
    if (s > 0 && options.paired_ar)
      figure.p_value = randomization_p_value(baseline, lines, score, randomization_of(options));
    if (figure.p_value && lines == baseline)
      log_warning("{} and {} have the same {} on every line, so their p-value is meaningless", systems[0].system,
                  systems[s].system, named.title);
    if (options.sentence_level)
      for (const auto& line : lines) figure.lines.push_back(of_line(line));
  }
  return sums;
}

// The same for metrics of which a line is a text of one line.
template <class LinesOf, class Score>
auto judge(const MetricScore& named, const Work& work, std::vector<SystemScores>& systems, LinesOf lines_of,
           Score score) {
  return judge(named, work, systems, lines_of, score, score);
}

BleuParts parts_of(const Bleu& bleu) { return {bleu.precisions, bleu.brevity_penalty, bleu.ratio()}; }

EvalbParts parts_of(const Evalb& evalb) {
  return {evalb.precision, evalb.recall, evalb.complete, evalb.stats.malformed, evalb.stats.other_words};
}

void judge_bleu(const Work& work, Case letters, std::vector<SystemScores>& systems) {
  for (const auto& text : work.texts) warn_of_tokenised_text(text, work.options.tokenize);
  const auto sums = judge(
      {"bleu", "BLEU"}, work, systems,
      [&](Segments lines) { return bleu_of_lines(lines, work.references, work.tokenizer, letters); },
      [](const BleuStats& stats) { return bleu(stats).score; }, sentence_bleu);
  for (size_t s = 0; s < systems.size(); ++s) systems[s].scores.back().bleu = parts_of(bleu(sums[s]));
}

void judge_rouge(const Work& work, std::vector<SystemScores>& systems) {
  const Stemmer stemmer = work.options.rouge_stemmer ? Stemmer::porter : Stemmer::none;
  const std::tuple<Rouge, const char*, const char*> kinds[] = {{Rouge::rouge_1, "rouge1", "ROUGE-1"},
                                                               {Rouge::rouge_2, "rouge2", "ROUGE-2"},
                                                               {Rouge::rouge_l, "rougeL", "ROUGE-L"}};
  for (const auto& [kind, name, title] : kinds)
    judge(
        {name, title}, work, systems,
        [&, k = kind](Segments lines) { return rouge_of_lines(lines, work.references, k, stemmer); }, rouge);
}

void judge_trees(const Work& work, std::vector<SystemScores>& systems) {
  constexpr double skipped = std::numeric_limits<double>::quiet_NaN();
  const auto references = read_trees(work.references.front(), work.options.references.front());
  const auto sums = judge(
      {"evalb", "EVALB"}, work, systems, [&](Segments lines) { return evalb_of_lines(lines, references); },
      [](const EvalbStats& stats) { return evalb(stats).f1; },
      [](const EvalbStats& line) { return line.other_words > 0 ? skipped : evalb(line).f1; });
  for (size_t s = 0; s < systems.size(); ++s) {
    systems[s].scores.back().evalb = parts_of(evalb(sums[s]));
    const auto& [name, lines] = work.texts[s];
    if (const auto malformed = sums[s].malformed)
      log_warning("{}: {} of {} lines are not bracketed trees; they are scored as trees without constituents", name,
                  grouped(malformed), grouped(lines.size()));
    if (const auto other = sums[s].other_words)
      log_warning("{}: {} of {} lines differ in words from their reference; they are skipped, as EVALB does", name,
                  grouped(other), grouped(lines.size()));
  }
}

void judge_metric(CorpusMetric metric, const Work& work, std::vector<SystemScores>& systems) {
  const EvaluateOptions& options = work.options;
  const Case letters = options.lowercase ? Case::lower : Case::mixed;
  const auto judge_by = [&](const MetricScore& named, auto lines_of, auto score) {
    judge(named, work, systems, lines_of, score);
  };
  switch (metric) {
    case CorpusMetric::bleu:
      return judge_bleu(work, letters, systems);
    case CorpusMetric::chrf:
      return judge_by(
          {"chrf", "chrF2"}, [&](Segments lines) { return chrf_of_lines(lines, work.references, letters); },
          [](const ChrfStats& stats) { return chrf(stats); });
    case CorpusMetric::chrf_plus_plus:
      return judge_by(
          {"chrf++", "chrF2++"},
          [&](Segments lines) { return chrf_of_lines(lines, work.references, letters, chrf_longest_word_order); },
          [](const ChrfStats& stats) { return chrf(stats); });
    case CorpusMetric::ter: {
      const Case ter_letters = options.ter_case_sensitive ? Case::mixed : Case::lower;
      return judge_by(
          {"ter", "TER"}, [&](Segments lines) { return ter_of_lines(lines, work.references, ter_letters); }, ter);
    }
    case CorpusMetric::rouge:
      return judge_rouge(work, systems);
    case CorpusMetric::exact:
      return judge_by(
          {"exact", "exact"}, [&](Segments lines) { return exact_of_lines(lines, work.references, letters); }, exact);
    case CorpusMetric::evalb:
      judge_trees(work, systems);
  }
}

void require_references(const std::vector<EvaluatedText>& references) {
  require(!references.empty(), "there is nothing to evaluate");
  for (const EvaluatedText& reference : references) require_equal_length(reference, references.front());
  if (references.front().lines.empty())
    throw Error(fmt::format("{} has no lines", references.front().name),
                "--references names the reference translations");
}

void check(const EvaluateOptions& options) {
  require_enumerator("tokenize", options.tokenize, Tokenizer::spm);
  for (const CorpusMetric metric : options.metrics) require_enumerator("metric", metric, CorpusMetric::evalb);
  require(options.samples >= 0 && options.samples <= 10'000'000,
          "--samples: {} is out of range, expected from 0 to 10000000", options.samples);
  for (const Error& problem : problems_of(options)) throw Error(problem);
}

std::vector<std::string> names_of(const std::vector<EvaluatedText>& texts) {
  std::vector<std::string> names;
  for (const EvaluatedText& text : texts) names.push_back(text.name);
  return names;
}

}  // namespace

Evaluation evaluate(Engine& engine, const EvaluateOptions& options) {
  const Engine::Scope scope(engine);
  check(options);
  auto references = read_texts(options.references);
  require_references(references);  // before stdin is read
  return evaluate(engine, options, std::move(references), read_texts(options.hypotheses));
}

Evaluation evaluate(Engine& engine, EvaluateOptions options, std::vector<EvaluatedText> references,
                    std::vector<EvaluatedText> hypotheses) {
  const Engine::Scope scope(engine);
  require_references(references);
  require(!hypotheses.empty(), "there is nothing to evaluate");
  options.references = names_of(references);  // signatures contain their number, messages their names
  options.hypotheses = names_of(hypotheses);
  check(options);
  for (const EvaluatedText& text : hypotheses) require_equal_length(text, references.front());
  Work work{
      .options = options, .tokenizer = {options.tokenize, options.tokenize_model}, .texts = std::move(hypotheses)};
  for (const auto& reference : references) work.references.push_back(reference.lines);
  Evaluation evaluation;
  for (const auto& text : work.texts) evaluation.systems.push_back({.system = text.name});
  for (const CorpusMetric metric : metrics_of(options)) {
    judge_metric(metric, work, evaluation.systems);
    evaluation.signatures.push_back(signature_of(metric, options, signature_of(work.tokenizer)));
  }
  return evaluation;
}

}  // namespace dragoman
