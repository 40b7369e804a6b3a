#include "metrics/segments.h"

#include "base/error.h"

namespace dragoman {

void require_parallel(Segments hypotheses, const std::vector<Segments>& references) {
  require(!references.empty(), "no reference to compare {} lines with", hypotheses.size());
  for (size_t r = 0; r < references.size(); ++r)
    require(references[r].size() == hypotheses.size(), "reference {} has {} lines, the hypotheses have {}", r + 1,
            references[r].size(), hypotheses.size());
}

std::vector<std::string_view> references_of(const std::vector<Segments>& references, size_t line) {
  std::vector<std::string_view> lines;
  for (const Segments& set : references) lines.push_back(set[line]);
  return lines;
}

}  // namespace dragoman
