#include "align/symmetrize.h"

#include <algorithm>
#include <set>

namespace dragoman {
namespace {

using Links = std::set<TokenLink>;

/// The links so far, and which tokens have one.
class Growing {
 public:
  void add(const TokenLink& link) {
    links_.insert(link);
    sources_.insert(link.source);
    targets_.insert(link.target);
  }
  bool links_source(const TokenLink& link) const { return sources_.contains(link.source); }
  bool links_target(const TokenLink& link) const { return targets_.contains(link.target); }
  bool links_neighbour(const TokenLink& link) const {
    for (int64_t source = link.source - 1; source <= link.source + 1; ++source)
      for (int64_t target = link.target - 1; target <= link.target + 1; ++target)
        if (links_.contains({source, target})) return true;  // never the link itself, which is not yet here
    return false;
  }
  std::vector<TokenLink> links() const { return {links_.begin(), links_.end()}; }

 private:
  Links links_;
  std::set<int64_t> sources_, targets_;
};

void grow(Growing& result, Links candidates) {
  const auto fits = [&](const TokenLink& link) {
    const bool added = !(result.links_source(link) && result.links_target(link)) && result.links_neighbour(link);
    if (added) result.add(link);
    return added;
  };
  while (std::erase_if(candidates, fits) > 0) {}
}

// A link that is already in the result has two linked tokens, so no rule adds it again.
void add_final(Growing& result, const Links& candidates, Symmetrization how) {
  for (const TokenLink& link : candidates) {
    const bool source = result.links_source(link), target = result.links_target(link);
    if (how == Symmetrization::grow_diag_final ? !(source && target) : !(source || target)) result.add(link);
  }
}

}  // namespace

std::vector<TokenLink> symmetrize(std::span<const TokenLink> forward, std::span<const TokenLink> reverse,
                                  Symmetrization how) {
  const Links there(forward.begin(), forward.end()), back(reverse.begin(), reverse.end());
  Links either = there;
  either.insert(back.begin(), back.end());
  if (how == Symmetrization::links_of_either) return {either.begin(), either.end()};
  Growing result;
  for (const TokenLink& link : there)
    if (back.contains(link)) result.add(link);
  if (how == Symmetrization::intersection) return result.links();
  grow(result, either);
  if (how != Symmetrization::grow_diag) {
    add_final(result, there, how);
    add_final(result, back, how);
  }
  return result.links();
}

}  // namespace dragoman
