#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/token_link.h"

namespace dragoman {

class LineReader;

/// The links of a pair, as a line of a file of word alignments gives them: "0-0 1-2 2-1", source-target.
struct LinkLine {
  std::vector<TokenLink> links;  // in ascending order, none twice
  std::string_view file = {};    // valid as long as its reader
  int64_t line = 0;              // from 1

  /// Error, with file and line, if a link has a token beyond these numbers of tokens.
  void require_tokens(int64_t source, int64_t target) const;
};

/// Reads the line that `reader` has read last. Error, with file and line, for a word that is not a link.
LinkLine parse_links(std::string_view line, const LineReader& reader);

}  // namespace dragoman
