#include "base/error.h"
#include "cli/tables.h"
#include "data/parallel_text.h"

namespace dragoman {
namespace {

using O = AlignOptions;

std::vector<Flag<O>> file_flags() {
  static constexpr auto group = "Files";
  return {
      {.name = "train-sets",
       .letter = 't',
       .field = &O::train_sets,
       .value = "SOURCE TARGET...",
       .group = group,
       .help = "text to learn from and to align; .gz, .xz and .zst are read as they are",
       .required = true},
      {.name = "tsv",
       .field = &O::tsv,
       .group = group,
       .help = "each file has both sides: lines are SOURCE tab TARGET"},
      {.name = "vocabs",
       .letter = 'v',
       .field = &O::vocabs,
       .value = "SOURCE TARGET",
       .group = group,
       .help = "SentencePiece vocabularies, whose pieces are aligned"},
      {.name = "model",
       .letter = 'm',
       .field = &O::model,
       .value = "FILE",
       .group = group,
       .help = "take the vocabularies from this model instead"},
      {.name = "output",
       .letter = 'o',
       .field = &O::output,
       .value = "FILE",
       .group = group,
       .help = "links of each pair as 'i-j i-j …', source and target pieces counted from 0; - is stdout; otherwise "
               "stdout, with --shortlist none"},
      {.name = "shortlist",
       .field = &O::shortlist,
       .value = "FILE",
       .group = group,
       .help = "write a shortlist for translate --shortlist"},
      {.name = "no-spm-encode",
       .field = &O::no_spm_encode,
       .group = group,
       .help = "the text is already pieces, separated by blanks"},
  };
}

std::vector<Flag<O>> learning_flags() {
  static constexpr auto group = "Learning";
  return {
      {.name = "iterations",
       .field = &O::iterations,
       .value = "N",
       .group = group,
       .help = "times that the text is looked at",
       .range = {1, 100}},
      {.name = "reverse",
       .field = &O::reverse,
       .group = group,
       .help = "find for each source piece the target piece it comes from, instead of the other way round; links are "
               "written source first all the same"},
      {.name = "variational-bayes",
       .field = &O::alpha,
       .value = "A",
       .group = group,
       .help = "Dirichlet prior on translations, which keeps rare pieces from taking all; 0: none",
       .range = {0, 100}},
      {.name = "null",
       .field = &O::nothing,
       .value = "P",
       .group = group,
       .help = "probability that a piece comes from none",
       .range = {0.0001, 0.9999}},
      {.name = "tension",
       .field = &O::tension,
       .value = "X",
       .group = group,
       .help = "how near to the diagonal links are at first; learned from the second iteration on",
       .range = {0.1, 14}},
      {.name = "fixed-tension", .field = &O::fixed_tension, .group = group, .help = "keep it as it is"},
      {.name = "max-length",
       .field = &O::max_length,
       .value = "N",
       .group = group,
       .help = "pairs with more pieces on a side are left out and have no links",
       .range = {1, 65'000}},
  };
}

std::vector<Flag<O>> shortlist_flags() {
  static constexpr auto group = "Shortlist";
  static constexpr auto run = "Run";
  return {
      {.name = "first",
       .field = &O::first,
       .value = "N",
       .group = group,
       .help = "the N most frequent target pieces may come in every translation",
       .range = {0, 1'000'000}},
      {.name = "best",
       .field = &O::best,
       .value = "N",
       .group = group,
       .help = "… and the N most probable translations of each piece of its source",
       .range = {1, 1'000'000}},
      {.name = "cpu-threads",
       .field = &O::cpu_threads,
       .value = "N",
       .group = run,
       .help = "threads; 0: one a core",
       .range = {0, 1024}},
      {.name = "quiet", .field = &O::quiet, .group = run, .help = "report only warnings and errors"},
  };
}

void check(O& o, const Given& given) {
  if (given("train-sets")) text_pairs("train-sets", o.train_sets, o.tsv);
  check_pair("vocabs", o.vocabs);
  if (o.vocabs.empty() == o.model.empty())
    throw Error(o.model.empty() ? "--vocabs is missing: pieces of which vocabularies are to be aligned?"
                                : "--vocabs and --model both name vocabularies: give one",
                o.model.empty() ? "give --vocabs SOURCE TARGET, or --model with the model that they belong to" : "");
  require(o.shortlist.empty() || !o.reverse,
          "--reverse contradicts --shortlist, which needs the translations of source pieces");
  for (const char* option : {"first", "best"})
    require(!given.changed(option) || !o.shortlist.empty(), "--{} is for --shortlist, which is not given", option);
  if (o.output.empty() && o.shortlist.empty()) o.output = "-";
}

}  // namespace

Table<O> align_table() {
  Table<O> table{
      .about = {.name = "align",
                .summary = "learn which pieces translate which",
                .usage = "-t SOURCE TARGET -v VOCAB VOCAB [OPTION...]",
                .text = "Learns from parallel text which target pieces come from which source pieces, as fast_align "
                        "does (Dyer et al. 2013), and prints the links of each pair, or writes a shortlist that makes "
                        "translating faster."},
      .check = check};
  for (auto part : {file_flags, learning_flags, shortlist_flags})
    for (auto& flag : part()) table.flags.push_back(std::move(flag));
  return table;
}

}  // namespace dragoman
