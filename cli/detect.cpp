#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/line_reader.h"
#include "base/line_writer.h"
#include "base/writable.h"
#include "cli/commands.h"
#include "cli/detect_options.h"
#include "options/flags.h"
#include "options/shared_flags.h"
#include "options/table_files.h"
#include "text/language_detector.h"

namespace dragoman {
namespace {

using O = DetectOptions;

Strings files_to_learn(const O& options) {
  Strings files;
  for (auto& [language, file] : texts_to_learn(options)) files.push_back(std::move(file));
  return files;
}

void check(O& o, const Given& given, Findings& findings) {
  findings.expect(o.model.empty() || o.learn.empty(),
                  "--model names profiles to detect with, and --learn learns them for --output: give one");
  findings.expect(!o.model.empty() || !o.learn.empty(),
                  "expected --model FILE to detect languages, or --learn LANGUAGE=FILE... to write such a file");
  findings.expect(o.learn.empty() || (!given("input") && !o.all),
                  "--input and --all are for detecting, not for --learn");
  check_stdin("input", o.inputs, findings);
  findings.attempt([&] { check_stdin("learn", files_to_learn(o), findings); });
}

std::string words_of(const std::vector<DetectedLanguage>& languages, bool all) {
  std::string line;
  for (const auto& [language, confidence] : languages) {
    line += fmt::format("{}{}\t{:.2f}", line.empty() ? "" : "\t", language, confidence);
    if (!all) break;
  }
  return line;
}

// Writes one line per input line; flushes before waiting for input.
void detect(const O& options) {
  const auto detector = LanguageDetector::load(options.model);
  LineWriter writer(options.output);
  for (const auto& path : options.inputs.empty() ? std::vector<std::string>{"-"} : options.inputs) {
    LineReader reader(path);
    for (std::string line; reader.next(line);) {
      writer.write(words_of(detector.detect(line), options.all));
      if (!reader.ready()) writer.flush();
    }
  }
  writer.close();
}

// Learning reads its texts alone.
void correct_files(const O& o, CommandFiles& files) {
  if (o.learn.empty()) {
    if (o.inputs.empty()) files.read.push_back({"--input", {"-"}});
    return;
  }
  files.read = {{"--learn", files_to_learn(o)}};
}

}  // namespace

std::vector<std::pair<std::string, std::string>> texts_to_learn(const O& options) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const std::string& word : options.learn) {
    const size_t equals = word.find('=');
    require(equals != word.npos && equals > 0 && equals + 1 < word.size(),
            "--learn: '{}' is not of the form LANGUAGE=FILE, such as en=text.en", word);
    texts.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return texts;
}

Table<O> detect_table() {
  static constexpr auto group = "Options";
  return {
      .about = {.name = "detect",
                .summary = "detect the language of each line",
                .usage = "--model FILE < TEXT | --learn LANGUAGE=FILE... --output FILE",
                .text = "Prints the most likely language of each line, a tab and a confidence from 0 to 1. Language "
                        "profiles are learned from text in each language (docs/text.md)."},
      .flags =
          {
              {.name = "model",
               .letter = 'm',
               .field = &O::model,
               .value = "FILE",
               .group = group,
               .help = "language profiles, written by --learn"},
              {.name = "learn",
               .field = &O::learn,
               .value = "LANGUAGE=FILE...",
               .group = group,
               .help = "text in each language to learn, such as en=text.en de=text.de; .gz, .xz and .zst are "
                       "decompressed; a language may have several files"},
              {.name = "input",
               .letter = 'i',
               .field = &O::inputs,
               .value = "FILE...",
               .group = group,
               .help = "text whose language to detect (default: stdin)"},
              {.name = "output",
               .letter = 'o',
               .field = &O::output,
               .value = "FILE",
               .group = group,
               .help = "languages, one line per input line; with --learn, the profiles; - is stdout",
               .use = FileUse::written},
              {.name = "all", .field = &O::all, .group = group, .help = "print all languages, the most likely first"},
          },
      .check = check,
      .files = correct_files};
}

int detect_command(Engine&, const O& options) {
  if (options.learn.empty()) {
    detect(options);
    return 0;
  }
  if (options.output != "-") require_replaceable("output", options.output);
  const std::string profiles = learn_languages(texts_to_learn(options)).to_bytes();
  if (options.output == "-") {
    LineWriter writer("-");
    writer.write(profiles);
    writer.close();
  } else {
    write_atomically(options.output, [&](FileWriter& file) { file.write(profiles); });
  }
  return 0;
}

}  // namespace dragoman
