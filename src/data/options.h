#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/memory_size.h"
#include "vocab/options.h"

namespace dragoman {

constexpr int64_t usual_stream_lines = 1'000'000;

constexpr int usual_dim_vocab = 32000;  // default number of pieces of a vocabulary that is created

/// Where training text comes from and how it becomes batches. Pairs of values are {source, target}.
struct DataOptions {
  std::vector<std::string> train_sets;  // source, target, and so on for further corpora; with tsv, one per corpus
  bool tsv = false;                     // a file has both sides: lines are SOURCE tab TARGET
  int64_t stream = 0;   // read the text once, in parts of so many lines, each of which is an epoch; 0: as a whole
  MemorySize ram;       // for encoded text and its order; the rest is on disk; 0: no limit
  std::string tempdir;  // folder for that; empty: TMPDIR, else /tmp
  std::vector<double> corpus_weights;  // how often an epoch uses a pair of each corpus; empty: once
  // For each corpus a file with one weight per line, or with tsv the number of a column; empty: all weights are 1.
  std::vector<std::string> data_weighting;
  std::vector<std::string> guided_alignment;   // the same for the links of each pair; empty: none
  double guided_alignment_weight = 0.1;        // of their loss
  std::vector<std::string> vocabs;             // created from train_sets if missing; the same name twice: a joint one
  bool decoder_start_by_vocabulary = false;    // begin with zeros if the target vocabulary has no <s>
  std::vector<int> dim_vocabs;                 // pieces: one number, or one per side; empty: usual_dim_vocab
  std::vector<std::string> protected_symbols;  // pieces that are never split, such as <2de>; in both vocabularies
  std::vector<std::string> sentence_marks = {".",  "!",  "?", "…",
                                             "。", "！", "？"};  // for --encoder-pooling hierarchical
  VocabularyType vocabulary_type = VocabularyType::bpe;
  // Random lines of the text that a vocabulary is learned from; 0: all.
  int64_t vocabulary_lines = usual_sample_lines;
  std::string normalization = "nmt_nfkc";    // SentencePiece rule of a vocabulary that is created
  std::string sentencepiece_options;         // of SentencePiece's trainer, as trainer_options() reads them
  std::vector<double> sentencepiece_alphas;  // subword sampling while training, one per side; empty or 0: off
  bool no_spm_encode = false;                // the text is already pieces, split at blanks
  int max_length = 256;                      // pieces per side; longer pairs are dropped and counted …
  bool max_length_crop = false;              // … or cropped
  int64_t mini_batch_words = 4096;           // target tokens, end of sentence included; 0: no limit
  bool mini_batch_fit = false;               // instead, as many target tokens as fit into the GPU's memory
  int64_t mini_batch = 0;                    // sentences; 0: no limit
  int64_t maxi_batch = 1000;                 // mini-batches' worth of sentences sorted by length together
  bool no_shuffle = false;                   // keep the order of the corpus in every epoch
};

/// What a survey of text counts.
struct SurveyOptions {
  int max_length = 256;        // pieces per side
  bool crops = false;          // longer pairs are kept, cropped to that
  int64_t sample = 100'000;    // pairs to encode, chosen at random when there are more; 0: all
  bool no_spm_encode = false;  // lines are already pieces, split at blanks
  uint64_t seed = 1;           // of the choice
};

}  // namespace dragoman
