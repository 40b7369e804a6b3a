#include "cli/search_flags.h"

#include <fmt/ranges.h>

namespace dragoman {

void read_length_penalty(SearchOptions& search, const SearchWords& words, const Given& given, Findings& findings) {
  const auto& penalty = words.length_penalty_words;
  if (penalty.empty()) return;
  findings.attempt([&] {
    require(penalty.size() == 2 && penalty[0] == "gnmt", "--length-penalty: expected gnmt and a number, found {}",
            fmt::join(penalty, " "));
    search.length_penalty = number_of<double>("length-penalty gnmt", penalty[1], search_bounds("length_penalty"));
  });
  findings.expect(!given("normalize") || search.normalize == 0,
                  "--length-penalty and --normalize {} are two ways to divide scores by length: give one",
                  search.normalize);
  search.normalize = 0;
}

// FILE false is how configurations of Marian's forks leave out the checksum; here it is always verified.
void read_shortlist(EnsembleOptions& ensemble, const SearchWords& words) {
  const auto& shortlist = words.shortlist_words;
  if (shortlist.empty()) return;
  ensemble.shortlist = shortlist[0];
  if (shortlist.size() == 2 && (shortlist[1] == "true" || shortlist[1] == "false")) return;
  require(shortlist.size() <= 4, "--shortlist: expected a file and up to three numbers, found {}",
          fmt::join(shortlist, " "));
  ShortlistLimits& limits = ensemble.shortlist_limits;
  if (shortlist.size() > 1) limits.first = number_of<int>("shortlist FILE", shortlist[1], {0, 1'000'000});
  if (shortlist.size() > 2) limits.best = number_of<int>("shortlist FILE", shortlist[2], {0, 1'000'000});
  if (shortlist.size() > 3) limits.threshold = float(number_of<double>("shortlist FILE", shortlist[3], {0, 1}));
}

}  // namespace dragoman
