#include "comm/agreement.h"

#include <fmt/format.h>

namespace dragoman {

void together(Communicator& ranks, const std::function<void()>& work) {
  std::string failure;
  std::exception_ptr error;
  try {
    work();
  } catch (const RankLost&) {
    throw;
  } catch (const Error& e) {
    if (ranks.rank() > 0) throw;
    error = std::current_exception();
    failure = e.what();
  }
  failure = ranks.broadcast(failure);
  if (error) std::rethrow_exception(error);
  if (!failure.empty()) throw Error(failure);
}

void require_same(Communicator& ranks, const std::vector<SharedFact>& facts) {
  std::string difference;
  for (const auto& [what, own] : facts) {
    const std::vector<std::string> all = ranks.gather(own);
    for (size_t r = 1; r < all.size() && difference.empty(); ++r)
      if (all[r] != all[0])
        difference = fmt::format("rank {} has another {} than rank 0: {}, not {}", r, what, all[r], all[0]);
  }
  difference = ranks.broadcast(difference);
  if (!difference.empty())
    throw Error(difference,
                "all ranks need the same program, files and options, and processors with the same instructions");
}

}  // namespace dragoman
