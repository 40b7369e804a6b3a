#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "backend/reference/families.h"
#include "backend/rows.h"

namespace dragoman::reference {
namespace {

struct Candidate {
  double log_prob;
  int32_t parent, id;
  bool operator<(const Candidate& c) const {
    return std::tuple(-log_prob, parent, id) < std::tuple(-c.log_prob, c.parent, c.id);
  }
};

// What may follow the rows of a sentence, best first.
template <class T>
std::vector<Candidate> candidates_of(const RowKernels::NextRows& n, Range rows, int64_t step_first) {
  const auto ids = n.best.view<const int32_t>();
  const auto scores = n.scores.view<const T>();
  const auto* suppressed = n.suppressed.as<const int32_t>();
  std::vector<Candidate> all;
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const int64_t q = step_first + r - rows.begin;
    const T normaliser = n.lse ? n.lse.as<const T>()[q] : T(0);
    for (int64_t i = 0; i < ids.cols; ++i) {
      if (std::find(suppressed, suppressed + n.suppressed.elements(), ids(q, i)) !=
          suppressed + n.suppressed.elements())
        continue;
      const T score = scores(q, i) - normaliser;
      if (std::isnan(score)) continue;
      const T log_prob = n.lse ? std::min(T(0), score) : score;
      all.push_back({n.log_probs.as<const double>()[r] + double(log_prob), int32_t(r), ids(q, i)});
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

void write_row(const RowKernels::NextRows& n, int64_t r, int32_t parent, int32_t token) {
  const auto past = n.past.view<const int32_t>();
  const int32_t length = n.length.as<const int32_t>()[r];
  int32_t* table = n.table.view<int32_t>().row(r);
  n.tokens.as<int32_t>()[r] = n.ids.as<int32_t>()[r] = token;
  n.parents.as<int32_t>()[r] = parent;
  std::copy_n(past.row(parent), length - 1, table);
  table[length - 1] = past(r, length - 1);
}

void next_rows(const RowKernels::NextRows& n) {
  const auto* first = n.first.as<const int32_t>();
  for (int64_t s = 0; s + 1 < n.first.elements(); ++s) {
    std::vector<Candidate> best;
    for_dtype(n.scores.dtype(), [&]<class T>() {
      best = candidates_of<T>(n, {first[s], first[s + 1]}, n.step_first.as<const int32_t>()[s]);
    });
    best.resize(std::min(best.size(), size_t(n.compared.as<const int32_t>()[s])));
    std::erase_if(best, [&](const Candidate& c) { return c.id == n.end; });
    for (int32_t r = first[s]; r < first[s + 1]; ++r) {
      const auto i = size_t(r - first[s]);
      i < best.size() ? write_row(n, r, best[i].parent, best[i].id) : write_row(n, r, first[s], n.end);
    }
  }
}

}  // namespace

void install_next_rows(RowKernels& b) { b.next_rows = next_rows; }

}  // namespace dragoman::reference
