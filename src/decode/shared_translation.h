#pragma once
#include "comm/communicator.h"
#include "decode/translator.h"

namespace dragoman {

/// Where the lines of a shared translation come from and go to: on rank 0.
struct SharedFiles {
  LineReader& in;
  LineWriter& out;
  std::function<void(int64_t lines)> written = {};  // receives the number of lines written so far
};

/// Translates a file on all ranks, which call it together with the same models and options: rank 0 reads as many lines
/// as there are, up to `maxi_batch_lines` for each rank, and each rank translates neighbouring ones with about as many
/// bytes. The text is that of one process. Returns the number of lines, on rank 0. `files` is null on other ranks.
/// Error for a line that has to be read whole and is too long.
int64_t translate_on_ranks(Communicator& ranks, Translator& translator, const TranslateOptions& options,
                           const SearchOptions& search, const SharedFiles* files);

}  // namespace dragoman
