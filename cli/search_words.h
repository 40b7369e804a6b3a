#pragma once
#include <string>
#include <vector>

namespace dragoman {

/// Options of the search whose words become several members. Their rows are in cli/search_flags.h.
struct SearchWords {
  std::vector<std::string> length_penalty_words;  // {"gnmt", "0.6"}, becomes length_penalty
  std::vector<std::string> shortlist_words;       // {FILE, "100", "50", "0"}, becomes shortlist and its limits
};

}  // namespace dragoman
