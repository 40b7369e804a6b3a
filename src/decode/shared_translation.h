#pragma once
#include "comm/communicator.h"
#include "decode/translator.h"

namespace dragoman {

/// Input and output of a shared translation, on rank 0.
struct SharedFiles {
  LineReader& in;
  LineWriter& out;
  std::function<void(int64_t lines)> written = {};  // receives the number of lines written so far
};

/// Numbers of lines: all, those longer than any training sentence of a model, and those whose translations lack a
/// required phrase.
struct TranslatedLines {
  int64_t all = 0, beyond_training = 0, lacking = 0;
};

/// Translates a file on all ranks, which call it together with the same models and options: rank 0 reads the available
/// lines, up to `maxi_batch_lines` and about a mebibyte per rank, and each rank translates consecutive lines with about
/// equally many bytes. The output is the same as with one process, but a rank gets whole lines, so with several ranks
/// those of more than LineReader::longest_line bytes are an Error. Returns the numbers of lines of all ranks, on rank
/// 0. `files` is null on other ranks.
TranslatedLines translate_on_ranks(Communicator& ranks, Translator& translator, const TranslateOptions& options,
                                   const SearchOptions& search, const SharedFiles* files);

}  // namespace dragoman
