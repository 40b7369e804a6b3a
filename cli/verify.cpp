#include "cli/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/grouped.h"
#include "base/line_reader.h"
#include "base/line_writer.h"
#include "base/log.h"
#include "base/scratch_folder.h"
#include "base/shell.h"
#include "cli/verify_program.h"
#include "dragoman/scorer.h"
#include "dragoman/text_translator.h"
#include "interop/marian_files.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

struct Verdict {
  double score = 0;  // log-probability of our translation
  std::string translation;
};

const char* program_of(const std::string& model) {
  if (model.ends_with(".pt") || model.ends_with(".argosmodel"))
    throw Error(fmt::format("--verify cannot compare {} with another program", model),
                "it compares models of Marian, transformers and CTranslate2");
  if (!fs::is_directory(model)) return "marian";
  return fs::exists(fs::path(model) / "model.bin") ? "ctranslate2" : "transformers";
}

// The lines to compare, without empty ones, and their numbers in the file.
struct Sources {
  std::vector<std::string> lines;
  std::vector<size_t> numbers;  // from 1
};

Sources sources_of(const std::string& path) {
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

std::string output_of(const std::vector<std::string>& words) {
  std::string command;
  for (const std::string& word : words) command += quoted_for_shell(word) + " ";
  ShellOutput output = run_in_shell(command);
  require(output.status != -1, "--verify: python3 cannot be run");
  if (output.status != 0)
    throw Error("--verify: the other program failed, with the messages above",
                "is it installed for python3? pip install pymarian, transformers or ctranslate2, and sentencepiece");
  return std::move(output.text);
}

std::vector<Verdict> verdicts_of(const std::string& output, size_t lines) {
  std::vector<Verdict> verdicts;
  for (size_t at = 0; at < output.size();) {
    const size_t tab = output.find('\t', at), end = output.find('\n', at);
    require(tab < end && end != output.npos, "--verify: the other program printed '{}'", output.substr(at, end - at));
    verdicts.push_back({std::stod(output.substr(at, tab - at)), output.substr(tab + 1, end - tab - 1)});
    at = end + 1;
  }
  require(verdicts.size() == lines, "--verify: the other program printed {} lines, expected {}", verdicts.size(),
          lines);
  return verdicts;
}

// Marian's own commands take the model itself and its vocabularies, not the configuration that names them.
void name_files_of_marian(ConvertCommandOptions& o) {
  const std::optional<MarianFiles> files = find_marian_files(o.input);
  if (!files) return;
  if (o.vocabs.empty()) o.vocabs = files->vocabs.empty() ? vocabularies_beside(files->model) : files->vocabs;
  o.input = files->model;
}

}  // namespace

void verify_conversion(Engine& engine, ConvertCommandOptions o) {
  name_files_of_marian(o);
  const std::string program = program_of(o.input);
  const auto& [sources, numbers] = sources_of(o.verify);
  SearchOptions greedy;
  greedy.beam_size = 1;
  TextTranslator translator(engine, {.models = {o.output}, .precision = Precision::float32, .search = greedy});
  const std::vector<std::string> ours = translator.translate(sources);
  const auto scores = Scorer(engine, {.model = o.output}).score(sources, ours);

  const ScratchFolder folder;
  write_lines(folder.file("source"), sources), write_lines(folder.file("target"), ours);
  write_lines(folder.file("verify.py"), {verify_program});
  std::vector<std::string> words = {"python3",
                                    folder.file("verify.py"),
                                    program,
                                    o.input,
                                    folder.file("source"),
                                    folder.file("target"),
                                    o.source_lang,
                                    o.target_lang};
  words.insert(words.end(), o.vocabs.begin(), o.vocabs.end());
  const auto theirs = verdicts_of(output_of(words), sources.size());

  double largest = 0;
  size_t line_of_largest = numbers[0], same = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    const double difference = std::abs(scores[i].log_prob - theirs[i].score) / double(scores[i].token_log_probs.size());
    if (difference > largest) largest = difference, line_of_largest = numbers[i];
    same += ours[i] == theirs[i].translation;
  }
  log_info(
      "Compared with {}: {}; log-probabilities of the same translations differ by at most {:.1e} for each token "
      "(line {}); greedy translations are the same for {}",
      program, counted(int64_t(sources.size()), "line"), largest, line_of_largest, grouped(int64_t(same)));
  for (size_t i = 0; i < sources.size(); ++i)
    if (ours[i] != theirs[i].translation)
      fmt::print("{}\tdragoman\t{}\n{}\t{}\t{}\n", numbers[i], ours[i], numbers[i], program, theirs[i].translation);
}

}  // namespace dragoman
