#include "base/error.h"
#include "options/shared_flags.h"
#include "options/train_table.h"

namespace dragoman {

using O = TrainOptions;

namespace {

// Configuration files, also Marian's, have it as a switch.
Field<O> keep_best_field() {
  return {[](O& o, const Strings& words, Bounds bounds) {
            const std::string& word = words.at(0);
            if (const auto keep = switch_word(word)) {
              o.keep_best = *keep ? 1 : 0;
              return;
            }
            require(!word.empty() && word.find_first_not_of("-0123456789") == word.npos,
                    "'{}' is neither a whole number nor true or false", word);
            read_word(o.keep_best, word, bounds);
          },
          [](const O& o) { return show_words(o.keep_best); }, "", false};
}

}  // namespace

std::vector<Flag<O>> file_flags() {
  return {
      {.name = "model",
       .letter = 'm',
       .field = &O::model,
       .value = "FILE",
       .group = "Files",
       .help = "model file to write, such as model.safetensors; a stopped run resumes from it",
       .required = true,
       .use = FileUse::written},
      {.name = "train-sets",
       .letter = 't',
       .field = &O::train_sets,
       .value = "SOURCE TARGET...",
       .group = "Files",
       .help = "training text, one sentence per line; .gz, .xz and .zst are decompressed; further corpora may follow",
       .required = true},
      {.name = "tsv",
       .field = &O::tsv,
       .group = "Files",
       .help = "each file of --train-sets and --valid-sets holds both sides: SOURCE tab TARGET on each line"},
      {.name = "stream",
       .field = &O::stream,
       .value = "N",
       .group = "Files",
       .help = "read --train-sets once, N lines at a time, each of which is an epoch, and end with the text, which may "
               "be written meanwhile; 0: off for files, while stdin (-) and pipes are always read this way; without a "
               "value: 1000000",
       .range = {0, 1'000'000'000},
       .implicit = "1000000"},
      {.name = "corpus-weights",
       .field = &O::corpus_weights,
       .value = "W...",
       .group = "Files",
       .help = "how often an epoch uses each pair, one number per corpus, such as 1 0.5 3; with 0.5, each epoch draws "
               "a random half of the pairs",
       .range = {0, 1000}},
      {.name = "data-weighting",
       .field = &O::data_weighting,
       .value = "FILE...",
       .group = "Files",
       .help = "one file per corpus with one number per line: the weight of that pair in the loss; with --tsv also the "
               "number of a column, from 0"},
      {.name = "guided-alignment",
       .field = &O::guided_alignment,
       .value = "FILE...",
       .group = "Files",
       .help = "one file per corpus with the word alignment of each pair, as dragoman align prints it (0-0 1-2 2-1): "
               "attention learns it; with --tsv also the number of a column, from 0"},
      {.name = "guided-alignment-weight",
       .field = &O::guided_alignment_weight,
       .value = "X",
       .group = "Files",
       .help = "weight of the loss of --guided-alignment",
       .range = {0, 1000}},
      {.name = "vocabs",
       .letter = 'v',
       .field = &O::vocabs,
       .value = "SOURCE TARGET",
       .group = "Files",
       .help = "SentencePiece (subword) vocabularies, or lists of tokens (.yml, .json, .txt) for text that is "
               "tokenised; created from --train-sets if missing; the same name twice makes a joint vocabulary",
       .required = true},
      {.name = "overwrite",
       .field = &O::overwrite,
       .group = "Files",
       .help =
           "keep only the model itself and no numbered checkpoints; this is the default unless --keep-last is given"},
      {.name = "pretrained-model",
       .field = &O::pretrained_model,
       .value = "FILE",
       .group = "Files",
       .help = "start a new run from the weights of this model (to fine-tune it), with its architecture and "
               "vocabularies; missing files "
               "of --vocabs are written from the model",
       .use = FileUse::read_model},
      {.name = "no-restore-corpus",
       .field = &O::no_restore_corpus,
       .group = "Files",
       .help = "when resuming, restart the epoch; allows other training text"},
      {.name = "no-optimizer-reload",
       .field = &O::no_optimizer_reload,
       .group = "Files",
       .help = "when resuming, reset Adam's moments to zero; the learning rate still follows the number of updates"},
      {.name = "no-reload",
       .field = &O::no_reload,
       .group = "Files",
       .help = "start from scratch even if the model file exists, and overwrite it"},
      {.name = "keep-last",
       .field = &O::keep_last,
       .value = "N",
       .group = "Files",
       .help = "keep the last N checkpoints next to the model, for averaging",
       .range = {0, 10000}},
      {.name = "keep-best",
       .field = keep_best_field(),
       .value = "N",
       .group = "Files",
       .help = "keep the best model by each of --valid-metrics; N > 1: also the N best by the first, for averaging",
       .range = {0, 10000},
       .implicit = "1"},
  };
}

std::vector<Flag<O>> vocabulary_flags() {
  return {
      {.name = "dim-vocabs",
       .field = &O::dim_vocabs,
       .value = "N...",
       .group = "Vocabulary",
       .help = "vocabulary size in pieces, one number for both sides or one each; by default, new vocabularies get "
               "32000 and existing ones keep their size; for a list of tokens, the maximum (default: all)",
       .range = {least_pieces, most_pieces}},
      {.name = "vocab-type",
       .field = &O::vocabulary_type,
       .value = "TYPE",
       .group = "Vocabulary",
       .help = "algorithm that learns a new vocabulary"},
      {.name = "vocab-normalization",
       .field = &O::normalization,
       .value = "RULE",
       .group = "Vocabulary",
       .help = "SentencePiece's normalisation of a new vocabulary: nmt_nfkc, nmt_nfkc_cf, nfkc, nfkc_cf or identity"},
      vocabulary_lines_flag<O>("Vocabulary"),
      sentencepiece_options_flag<O>("Vocabulary"),
      {.name = "protected-symbols",
       .field = &O::protected_symbols,
       .value = "PIECE...",
       .group = "Vocabulary",
       .help = "pieces that are never split, such as language tags: <2de> <2fr>; an existing vocabulary must have "
               "them; a new one gets them; to add them to the vocabulary of --pretrained-model, give --vocabs a new "
               "name"},
      {.name = "sentencepiece-alphas",
       .field = &O::sentencepiece_alphas,
       .value = "A...",
       .group = "Vocabulary",
       .help = "sample segmentations during training (unigram: 0.1 is usual; bpe: dropout of merges), one number for "
               "both sides or one each; 0: off",
       .range = {0, 10}},
      no_spm_encode_flag<O>("Vocabulary"),
  };
}

std::vector<Flag<O>> batch_flags() {
  static constexpr auto group = "Batches";
  return {
      {.name = "mini-batch-words",
       .field = &O::mini_batch_words,
       .value = "N",
       .group = group,
       .help = "target tokens per batch, ends of sentences included; 0: no limit (Marian counts source tokens)",
       .range = {0, 10'000'000}},
      {.name = "mini-batch-fit",
       .field = &O::mini_batch_fit,
       .group = group,
       .help = "make batches as large as the GPU's memory allows, instead of --mini-batch-words"},
      {.name = "mini-batch",
       .field = &O::mini_batch,
       .value = "N",
       .group = group,
       .help = "sentences per batch; 0: no limit (Marian: 64)",
       .range = {0, 1'000'000}},
      {.name = "maxi-batch",
       .field = &O::maxi_batch,
       .value = "N",
       .group = group,
       .help = "number of batches to read ahead and sort by length",
       .range = {1, 1'000'000}},
      {.name = "max-length",
       .field = &O::max_length,
       .value = "N",
       .group = group,
       .help = "skip and count pairs with more than N pieces on a side (Marian: 50)",
       .range = {1, 65'000}},
      {.name = "max-length-crop",
       .field = &O::max_length_crop,
       .group = group,
       .help = "crop such pairs at --max-length pieces instead"},
      {.name = "optimizer-delay",
       .field = &O::optimizer_delay,
       .value = "N",
       .group = group,
       .help = "number of batches whose gradients are summed for one update (gradient accumulation)",
       .range = {1, 10'000}},
      {.name = "ram",
       .field = &O::ram,
       .value = "SIZE",
       .group = group,
       .help =
           "memory for the encoded text and its order, such as 512M or 4G, of all processes on a machine together; the "
           "rest goes to a temporary file; 0: no limit"},
      {.name = "tempdir",
       .letter = 'T',
       .field = &O::tempdir,
       .value = "FOLDER",
       .group = group,
       .help = "folder of the temporary file; default: TMPDIR, else /tmp",
       .use = FileUse::temporary,
       .per_process = true},
      {.name = "no-shuffle",
       .field = &O::no_shuffle,
       .group = group,
       .help = "keep the order of the corpus in every epoch"},
  };
}

}  // namespace dragoman
