#include "base/error.h"
#include "cli/align_options.h"
#include "cli/commands.h"
#include "data/parallel_text.h"
#include "options/flags.h"
#include "options/shared_flags.h"

namespace dragoman {
namespace {

using O = AlignCommandOptions;

std::vector<Flag<O>> file_flags() {
  static constexpr auto group = "Files";
  return {
      {.name = "train-sets",
       .letter = 't',
       .field = &O::train_sets,
       .value = "SOURCE TARGET...",
       .group = group,
       .help = "text to learn from and to align; .gz, .xz and .zst are decompressed",
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
       .help = "vocabularies, whose pieces are aligned"},
      {.name = "model",
       .letter = 'm',
       .field = &O::model,
       .value = "FILE",
       .group = group,
       .help = "take the vocabularies from this model instead",
       .use = FileUse::read_model},
      {.name = "output",
       .letter = 'o',
       .field = &O::output,
       .value = "FILE",
       .group = group,
       .help = "alignment links of each pair as 'i-j i-j …', source and target positions counted from 0; - is stdout; "
               "default: stdout, or none with --shortlist",
       .use = FileUse::written},
      {.name = "shortlist",
       .field = &O::shortlist,
       .value = "FILE",
       .group = group,
       .help = "write a shortlist for translate --shortlist",
       .use = FileUse::written},
      no_spm_encode_flag<O>(group),
  };
}

std::vector<Flag<O>> learning_flags() {
  static constexpr auto group = "Learning";
  return {
      {.name = "iterations",
       .field = &O::iterations,
       .value = "N",
       .group = group,
       .help = "number of passes of EM over the text",
       .range = {1, 100}},
      {.name = "reverse",
       .field = &O::reverse,
       .group = group,
       .help = "align each source token to a target token, instead of each target token to a source token; links are "
               "still written source first"},
      {.name = "symmetrize",
       .field = &O::symmetrize,
       .value = "NAME",
       .group = group,
       .help = "align in both directions and join their links, as fast_align's atools does"},
      {.name = "variational-bayes",
       .field = &O::alpha,
       .value = "A",
       .group = group,
       .help = "Dirichlet prior on translations, so that rare pieces do not attract too many links; 0: off",
       .range = {0, 100}},
      {.name = "null",
       .field = &O::nothing,
       .value = "P",
       .group = group,
       .help = "probability that a token is aligned to nothing",
       .range = {0.0001, 0.9999}},
      {.name = "tension",
       .field = &O::tension,
       .value = "X",
       .group = group,
       .help = "how strongly the first iteration favours links near the diagonal; later iterations learn it",
       .range = {0.1, 14}},
      {.name = "fixed-tension", .field = &O::fixed_tension, .group = group, .help = "do not learn --tension"},
      {.name = "max-length",
       .field = &O::max_length,
       .value = "N",
       .group = group,
       .help = "skip pairs with more than N pieces on a side; they get no links",
       .range = {1, 65'000}},
  };
}

std::vector<Flag<O>> shortlist_flags() {
  static constexpr auto group = "Shortlist";
  return {
      {.name = "first",
       .field = &O::first,
       .value = "N",
       .group = group,
       .help = "allow the N most frequent target pieces in every translation",
       .range = {0, 1'000'000}},
      {.name = "best",
       .field = &O::best,
       .value = "N",
       .group = group,
       .help = "allow the N most probable translations of each source piece",
       .range = {1, 1'000'000}},
  };
}

void check_symmetrize(const O& o, Findings& findings) {
  if (o.reverse)
    findings.add(Error("--symmetrize contradicts --reverse: it aligns in both directions", "leave out --reverse"));
  if (!o.shortlist.empty())
    findings.add(Error("--symmetrize contradicts --shortlist, which needs the translations of source pieces alone",
                       "make the links and the shortlist with two commands"));
}

void check(O& o, const Given& given, Findings& findings) {
  if (given("train-sets")) findings.attempt([&] { text_pairs("train-sets", o.train_sets, o.tsv); });
  check_pair("vocabs", o.vocabs, findings);
  if (o.vocabs.empty() == o.model.empty())
    findings.add(Error(o.model.empty() ? "--vocabs is missing: the vocabularies whose pieces to align"
                                       : "--vocabs and --model both name vocabularies: give one",
                       o.model.empty() ? "give --vocabs SOURCE TARGET, or --model to take them from a model" : ""));
  findings.expect(o.shortlist.empty() || !o.reverse,
                  "--reverse contradicts --shortlist, which needs the translations of source pieces");
  if (o.symmetrize != Symmetrization::none) check_symmetrize(o, findings);
  for (const char* option : {"first", "best"})
    findings.expect(!given.changed(option) || !o.shortlist.empty(), "--{} is for --shortlist, which is not given",
                    option);
  if (o.output.empty() && o.shortlist.empty()) o.output = "-";
}

}  // namespace

Table<O> align_table() {
  return {
      .about = {.name = "align",
                .summary = "learn word alignments, and make shortlists from them",
                .usage = "-t SOURCE TARGET -v VOCAB VOCAB [OPTION...]",
                .text = "Learns word alignments from parallel text like fast_align (Dyer et al. 2013), then prints the "
                        "links of each pair or writes a shortlist that makes translation faster."},
      .flags = joined(file_flags(), learning_flags(), shortlist_flags(), machine_flags<O>("Run")),
      .check = check};
}

}  // namespace dragoman
