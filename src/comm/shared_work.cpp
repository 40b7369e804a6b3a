#include "comm/shared_work.h"

#include <algorithm>
#include <array>

#include "comm/agreement.h"

namespace dragoman {
namespace {

// All bytes are divided equally; an item belongs to the rank in whose part it begins.
std::vector<Share> shares_of(const std::vector<std::string>& items, uint64_t first, int ranks) {
  size_t all = 0, before = 0;
  for (const std::string& item : items) all += item.size();
  std::vector<Share> shares(static_cast<size_t>(ranks));
  for (const std::string& item : items) {
    Share& share = shares[before * size_t(ranks) / all];
    if (share.text.empty()) share.first = first;
    share.text += item;
    before += item.size();
    ++first;
  }
  return shares;
}

// Rank 0 sends each rank its items.
Share scattered(Communicator& ranks, std::vector<Share> shares) {
  using Head = std::array<uint64_t, 2>;  // first item, bytes
  std::vector<Head> heads(size_t(ranks.size()));
  if (ranks.rank() > 0) {
    const Incoming head{0, std::as_writable_bytes(std::span(heads[0]))};
    ranks.exchange({}, {&head, 1});
    Share own{heads[0][0], std::string(heads[0][1], ' ')};
    const Incoming text{0, std::as_writable_bytes(std::span(own.text))};
    ranks.exchange({}, {&text, 1});
    return own;
  }
  std::vector<Outgoing> out;
  for (int r = 1; r < ranks.size(); ++r) {
    heads[size_t(r)] = {shares[size_t(r)].first, shares[size_t(r)].text.size()};
    out.push_back({r, std::as_bytes(std::span(heads[size_t(r)]))});
    out.push_back({r, std::as_bytes(std::span(shares[size_t(r)].text))});
  }
  ranks.exchange(out, {});
  return std::move(shares[0]);
}

using Work = std::function<void(const Share&, std::string& result)>;

// Its error; null: none.
std::exception_ptr error_of(const Work& work, const Share& own, std::string& result) {
  try {
    if (!own.text.empty()) work(own, result);
  } catch (const RankLost&) {
    throw;
  } catch (const Error&) {
    return std::current_exception();
  }
  return nullptr;
}

// On rank 0, the results up to the first rank that failed; the others are empty.
std::vector<std::string> gathered(Communicator& ranks, const std::string& result, bool failed) {
  std::vector<std::string> results = ranks.gather(result);
  const std::vector<std::string> failures = ranks.gather(failed ? "failed" : "");
  const auto first = std::ranges::find(failures, "failed") - failures.begin();
  for (size_t r = size_t(first) + 1; r < results.size(); ++r) results[r].clear();
  return results;
}

}  // namespace

void share_work(Communicator& ranks, const Rounds* rounds, const Work& work) {
  for (uint64_t first = 0;;) {
    std::vector<std::string> items;
    if (rounds) items = rounds->next();
    if (!ranks.broadcast(!items.empty())) return;
    std::vector<Share> shares;
    if (rounds) shares = shares_of(items, first, ranks.size());
    const Share own = scattered(ranks, std::move(shares));
    std::string result;
    const std::exception_ptr error = error_of(work, own, result);
    const std::vector<std::string> results = gathered(ranks, result, bool(error));
    first += items.size();
    if (rounds) rounds->finish(results);
    fail_together(ranks, error);
  }
}

}  // namespace dragoman
