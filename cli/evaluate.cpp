#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/grouped.h"
#include "base/line_reader.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/options.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"

namespace dragoman {
namespace {

using Json = nlohmann::ordered_json;

struct TextFile {
  std::string name;  // the path, or "stdin"
  std::vector<std::string> lines;
};

struct Figures {
  std::string system;
  std::optional<Bleu> bleu;
  std::optional<double> chrf;
};

TextFile read_text(const std::string& path) {
  LineReader reader(path);
  TextFile file{reader.name(), {}};
  for (std::string line; reader.next(line);) file.lines.push_back(line);
  return file;
}

std::string length_of(const TextFile& file) {
  const size_t lines = file.lines.size();
  return fmt::format("{} has {} {}", file.name, grouped(lines), lines == 1 ? "line" : "lines");
}

void require_equal_length(const TextFile& file, const TextFile& reference) {
  if (file.lines.size() == reference.lines.size()) return;
  throw Error(length_of(file) + ", " + length_of(reference),
              "line n of --hypotheses is compared with line n of --references: look for lines that were lost or split");
}

std::vector<TextFile> read_references(const std::vector<std::string>& paths) {
  std::vector<TextFile> files;
  for (const auto& path : paths) {
    files.push_back(read_text(path));
    require_equal_length(files.back(), files.front());
  }
  if (files.front().lines.empty())
    throw Error(fmt::format("{} has no lines", files.front().name), "--references names the translations by people");
  return files;
}

// Tokenising what is tokenised already gives figures that compare with nobody's. sacreBLEU warns at the same number.
void warn_of_tokenised_text(const TextFile& system, Tokenizer tokenizer) {
  const auto lines =
      std::count_if(system.lines.begin(), system.lines.end(), [](const auto& l) { return l.ends_with(" ."); });
  if (tokenizer == Tokenizer::none || lines < 100) return;
  spdlog::warn("{} looks tokenised: {} lines end in ' .'. Detokenise it, or compare with --tokenize none", system.name,
               grouped(lines));
}

Figures evaluate(const EvaluateOptions& options, const TextFile& system, const std::vector<TextFile>& references) {
  const auto wanted = [&](CorpusMetric m) { return std::ranges::find(options.metrics, m) != options.metrics.end(); };
  const Case letters = options.lowercase ? Case::lower : Case::mixed;
  std::vector<Segments> sets;
  for (const auto& reference : references) sets.push_back(reference.lines);

  Figures figures{.system = system.name};
  if (wanted(CorpusMetric::bleu)) {
    warn_of_tokenised_text(system, options.tokenize);
    figures.bleu = bleu(system.lines, sets, options.tokenize, letters);
  }
  if (wanted(CorpusMetric::chrf)) figures.chrf = chrf(system.lines, sets, letters);
  return figures;
}

// What a figure depends on, in the form that sacreBLEU gave the field: to be quoted with the figure.
std::string bleu_signature(const EvaluateOptions& options) {
  return fmt::format("nrefs:{}|case:{}|eff:no|tok:{}|smooth:exp|version:dragoman-{}", options.references.size(),
                     options.lowercase ? "lc" : "mixed", name_of(options.tokenize), DRAGOMAN_VERSION);
}

std::string chrf_signature(const EvaluateOptions& options) {
  return fmt::format("nrefs:{}|case:{}|eff:yes|nc:{}|nw:0|space:no|version:dragoman-{}", options.references.size(),
                     options.lowercase ? "lc" : "mixed", chrf_character_order, DRAGOMAN_VERSION);
}

void add_signatures(Json& json, const EvaluateOptions& options, const Figures& figures) {
  if (figures.bleu) json["bleu_signature"] = bleu_signature(options);
  if (figures.chrf) json["chrf_signature"] = chrf_signature(options);
}

Json to_json(const Figures& figures) {
  Json json{{"system", figures.system}};
  if (figures.bleu) {
    json["bleu"] = figures.bleu->score;
    json["bleu_precisions"] = figures.bleu->precisions;
    json["bleu_brevity_penalty"] = figures.bleu->brevity_penalty;
    json["bleu_length_ratio"] = figures.bleu->ratio();
  }
  if (figures.chrf) json["chrf"] = *figures.chrf;
  return json;
}

std::string json_page(const EvaluateOptions& options, const std::vector<Figures>& systems) {
  Json page = systems.size() == 1 ? to_json(systems.front()) : Json::object();
  if (systems.size() > 1)
    for (const auto& figures : systems) page["systems"].push_back(to_json(figures));
  add_signatures(page, options, systems.front());
  return page.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";  // file names may be any bytes
}

std::string text_page(const EvaluateOptions& options, const std::vector<Figures>& systems) {
  const bool with_bleu = systems.front().bleu.has_value(), with_chrf = systems.front().chrf.has_value();
  size_t width = 6;
  for (const auto& figures : systems) width = std::max(width, figures.system.size());

  std::string page = fmt::format("{:<{}}", "system", width);
  if (with_bleu) page += "    BLEU  1-gram  2-gram  3-gram  4-gram  brevity  length";
  if (with_chrf) page += "   chrF2";
  for (const auto& [system, bleu, chrf] : systems) {
    page += fmt::format("\n{:<{}}", system, width);
    if (bleu) {
      page += fmt::format("  {:6.2f}", bleu->score);
      for (const double precision : bleu->precisions) page += fmt::format("  {:6.1f}", precision);
      page += fmt::format("  {:7.3f}  {:6.3f}", bleu->brevity_penalty, bleu->ratio());
    }
    if (chrf) page += fmt::format("  {:6.2f}", *chrf);
  }
  page += "\n\n";
  if (with_bleu) page += fmt::format("BLEU   {}\n", bleu_signature(options));
  if (with_chrf) page += fmt::format("chrF2  {}\n", chrf_signature(options));
  return page;
}

}  // namespace

int evaluate_command(const EvaluateOptions& options) {
  const std::vector<TextFile> references = read_references(options.references);
  std::vector<Figures> systems;
  for (const auto& path : options.hypotheses) {
    const TextFile system = read_text(path);
    require_equal_length(system, references.front());
    systems.push_back(evaluate(options, system, references));
  }
  print_page(options.json ? json_page(options, systems) : text_page(options, systems));
  return 0;
}

}  // namespace dragoman
