#include "base/json_text.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/data_options.h"
#include "cli/survey_page.h"
#include "data/parallel_text.h"
#include "options/shared_flags.h"
#include "options/table_files.h"

namespace dragoman {
namespace {

void check_data_command(DataCommandOptions& o, const Given& given, Findings& findings) {
  findings.attempt([&] { text_pairs("train-sets", o.train_sets, o.tsv); });
  check_pair("vocabs", o.vocabs, findings);
  for (const char* option : {"max-length", "sample", "no-spm-encode"})
    findings.expect(!given.changed(option) || !o.vocabs.empty(),
                    "--{} is for --vocabs, which is not given: only words are counted", option);
}

}  // namespace

Table<DataCommandOptions> data_table() {
  using O = DataCommandOptions;
  static constexpr auto group = "Options";
  return {.about = {.name = "data",
                    .summary = "report on parallel text before training on it",
                    .usage = "-t SOURCE TARGET [-v VOCAB VOCAB] [OPTION...]",
                    .text = "Counts pairs, words and what training would skip, and lists suspicious lines: duplicates, "
                            "copies, very uneven pairs, broken UTF-8."},
          .flags = {{.name = "train-sets",
                     .letter = 't',
                     .field = &O::train_sets,
                     .value = "SOURCE TARGET...",
                     .group = group,
                     .help = "text, one sentence per line; .gz, .xz and .zst are decompressed; line numbers continue "
                             "from one corpus to the next",
                     .required = true},
                    {.name = "tsv",
                     .field = &O::tsv,
                     .group = group,
                     .help = "each file holds both sides: SOURCE tab TARGET on each line"},
                    {.name = "vocabs",
                     .letter = 'v',
                     .field = &O::vocabs,
                     .value = "SOURCE TARGET",
                     .group = group,
                     .help = "vocabularies, to count pieces"},
                    {.name = "max-length",
                     .field = &O::max_length,
                     .value = "N",
                     .group = group,
                     .help = "longest sentence, in pieces, that training would use",
                     .range = {1, 65'000}},
                    {.name = "sample",
                     .field = &O::sample,
                     .value = "N",
                     .group = group,
                     .help = "count pieces in at most N randomly chosen pairs; 0: in all",
                     .range = {0, 1e12}},
                    no_spm_encode_flag<O>(group),
                    {.name = "json", .field = &O::json, .group = group, .help = "print one JSON object"},
                    cpu_threads_flag<O>(group)},
          .check = check_data_command,
          .files = prints<O>};
}

int data_command(Engine&, const DataCommandOptions& o) {
  std::vector<Vocabulary> vocabularies;
  for (const std::string& path : o.vocabs) vocabularies.push_back(Vocabulary::load(path));
  const auto texts = text_pairs("train-sets", o.train_sets, o.tsv);
  const CorpusSurvey survey = survey_corpus(texts, vocabularies, o);
  if (o.json) {
    print_page(json_text(to_json(survey), 2) + "\n");
    return 0;
  }
  FactPage page(text_name(texts));
  add_survey(page, survey, o.max_length);
  print_page(page.text());
  return 0;
}

}  // namespace dragoman
