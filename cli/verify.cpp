#include "cli/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/grouped.h"
#include "base/line_reader.h"
#include "base/line_writer.h"
#include "base/log.h"
#include "base/number.h"
#include "base/shell.h"
#include "base/utf8.h"
#include "cli/verify_program.h"
#include "dragoman/scorer.h"
#include "dragoman/text_translator.h"
#include "interop/marian_files.h"
#include "io/model_file.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

const char* program_of_folder(const std::string& model) {
  if (!fs::is_directory(model)) FileDescriptor::to_read(model);  // or throws
  if (fs::exists(fs::path(model) / "model.bin")) return "ctranslate2";
  if (fs::exists(fs::path(model) / "config.json")) return "transformers";
  throw Error(fmt::format("--verify cannot compare {} with another program", model),
              "it compares models of Marian, transformers and CTranslate2");
}

}  // namespace

// Marian's own commands take the model itself and its vocabularies, not the configuration that names them.
Verification::Verification(ConvertCommandOptions options) : options_(std::move(options)) {
  ConvertCommandOptions& o = options_;
  if (const std::optional<MarianFiles> files = find_marian_files(o.input)) {
    program_ = "marian";
    if (o.vocabs.empty()) o.vocabs = files->vocabs.empty() ? vocabularies_beside(files->model) : files->vocabs;
    o.input = files->model;
  } else {
    program_ = program_of_folder(o.input);
  }
  sources_ = sources_of(o.verify);
  write_lines(folder_.file("verify.py"), {verify_program});
  ask({});
}

Verification::Sources Verification::sources_of(const std::string& path) {
  LineReader in(path);
  Sources sources;
  size_t number = 0;
  for (std::string line; in.next(line);) {
    ++number;
    if (!line.empty()) sources.lines.push_back(line), sources.numbers.push_back(number);
  }
  require(!sources.lines.empty(), "--verify: {} has no lines", path);
  return sources;
}

// Without arguments: whether the other program is there.
std::string Verification::ask(const std::vector<std::string>& arguments) const {
  std::vector<std::string> words = {"python3", folder_.file("verify.py"), program_};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::string command;
  for (const std::string& word : words) command += quoted_for_shell(word) + " ";
  ShellOutput output = run_in_shell(command);
  require(output.status != -1, "--verify: python3 cannot be run");
  if (output.status != 0)
    throw Error("--verify: the other program failed, with the messages above",
                "is it installed for python3? pip install pymarian, transformers or ctranslate2, and sentencepiece");
  return std::move(output.text);
}

std::vector<Verification::Verdict> Verification::verdicts_of(std::string_view output, size_t lines) {
  std::vector<Verdict> verdicts;
  for (size_t at = 0; at < output.size();) {
    const size_t tab = output.find('\t', at), end = output.find('\n', at);
    const auto score = tab < end ? parse_number<double>(output.substr(at, tab - at)) : std::nullopt;
    require(score && end != output.npos, "--verify: the other program printed '{}', expected NUMBER<tab>TRANSLATION",
            beginning_of(output.substr(at, end - at)));
    verdicts.push_back({*score, std::string(output.substr(tab + 1, end - tab - 1))});
    at = end + 1;
  }
  require(verdicts.size() == lines, "--verify: the other program printed {} lines, expected {}", verdicts.size(),
          lines);
  return verdicts;
}

// The converted model puts the language before each source; the other program has to find it there.
std::vector<std::string> Verification::sources_with_language() const {
  const ModelFile model(options_.output);
  const GenerationConfig& g = model.config().generation;
  std::vector<std::string> lines = sources_.lines;
  if (g.target_language == TargetLanguage::source && g.target_language_id >= 0)
    for (std::string& line : lines) line = model.vocabularies().source.piece(g.target_language_id) + " " + line;
  return lines;
}

std::vector<Verification::Verdict> Verification::ask_for_verdicts(const std::vector<std::string>& ours) const {
  const std::string source = folder_.file("source"), target = folder_.file("target");
  write_lines(source, sources_with_language()), write_lines(target, ours);
  std::vector<std::string> arguments = {options_.input, source, target, options_.source_lang, options_.target_lang};
  arguments.insert(arguments.end(), options_.vocabs.begin(), options_.vocabs.end());
  return verdicts_of(ask(arguments), ours.size());
}

void Verification::compare(Engine& engine) const {
  const auto& [lines, numbers] = sources_;
  SearchOptions greedy;
  greedy.beam_size = 1;
  TextTranslator translator(engine, {.models = {options_.output}, .precision = Precision::float32, .search = greedy});
  const std::vector<std::string> ours = translator.translate(lines);
  const auto scores = Scorer(engine, {.model = options_.output}).score(lines, ours);
  const auto theirs = ask_for_verdicts(ours);

  double largest = 0;
  size_t line_of_largest = numbers[0], same = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    const double difference = std::abs(scores[i].log_prob - theirs[i].score) / double(scores[i].token_log_probs.size());
    if (difference > largest) largest = difference, line_of_largest = numbers[i];
    same += ours[i] == theirs[i].translation;
  }
  log_info(
      "Compared with {}: {}; log-probabilities of the same translations differ by at most {:.1e} for each token "
      "(line {}); greedy translations are the same for {}",
      program_, counted(int64_t(lines.size()), "line"), largest, line_of_largest, grouped(int64_t(same)));
  LineWriter out("-");
  for (size_t i = 0; i < lines.size(); ++i) {
    if (ours[i] == theirs[i].translation) continue;
    out.write(fmt::format("{}\tdragoman\t{}", numbers[i], ours[i]));
    out.write(fmt::format("{}\t{}\t{}", numbers[i], program_, theirs[i].translation));
  }
  out.close();
}

}  // namespace dragoman
