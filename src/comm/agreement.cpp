#include "comm/agreement.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensor/arena.h"

namespace dragoman {
namespace {

constexpr const char* out_of_memory = "out of memory";

// Compares the facts that another rank has sent, and describes the first difference: the fact's name and values.
std::string difference_of(const std::vector<SharedFact>& facts, const std::string& other) {
  size_t end = other.find('\0');
  const std::string name = other.substr(0, end);
  for (const auto& [what, value] : facts) {
    const size_t begin = end + 1;
    end = std::min(other.find('\0', begin), other.size());
    const std::string other_value = other.substr(begin, end - begin);
    if (other_value != value)
      return fmt::format("{} has another {} than rank 0: {}, not {}", name, what, other_value, value);
  }
  return "";
}

}  // namespace

void together(Communicator& ranks, const std::function<void()>& work) {
  std::string failure;
  std::exception_ptr error;
  try {
    work();
  } catch (const RankLost&) {
    throw;
  } catch (const std::exception& e) {
    if (ranks.rank() > 0) throw;
    error = std::current_exception();
    failure = e.what();
  }
  failure = ranks.broadcast(failure);
  if (error) std::rethrow_exception(error);
  if (!failure.empty()) throw Error(failure);
}

void fail_together(Communicator& ranks, const std::exception_ptr& error) {
  std::string failure, hint, kind;
  try {
    if (error) std::rethrow_exception(error);
  } catch (const RankLost&) {
    throw;
  } catch (const Error& e) {
    failure = fmt::format("{}: {}", ranks.name(), e.what());
    hint = e.hint();
    if (dynamic_cast<const OutOfMemory*>(&e)) kind = out_of_memory;
  } catch (const std::bad_alloc&) {
    failure = fmt::format("{}: {}", ranks.name(), out_of_memory);
    kind = out_of_memory;
  } catch (const std::exception& e) {
    failure = fmt::format("{}: {}", ranks.name(), e.what());
  }
  const std::vector<std::string> failures = ranks.gather(failure), hints = ranks.gather(hint),
                                 kinds = ranks.gather(kind);
  if (const auto first = std::ranges::find_if(failures, [](const std::string& f) { return !f.empty(); });
      first != failures.end()) {
    failure = *first;
    hint = hints[size_t(first - failures.begin())];
    kind = kinds[size_t(first - failures.begin())];
  }
  failure = ranks.broadcast(failure);
  hint = ranks.broadcast(hint);
  kind = ranks.broadcast(kind);
  if (error) std::rethrow_exception(error);
  if (kind == out_of_memory) throw OutOfMemory(failure, hint);
  if (!failure.empty()) throw Error(failure, hint);
}

int64_t least_of(Communicator& ranks, int64_t value) {
  int64_t least = value;
  for (const std::string& other : ranks.gather(fmt::to_string(value)))
    if (!other.empty()) least = std::min(least, int64_t(std::stoll(other)));
  return std::stoll(ranks.broadcast(fmt::to_string(least)));
}

std::string first_text(Communicator& ranks, const std::string& text) {
  std::string first = text;
  for (const std::string& other : ranks.gather(text))
    if (first.empty()) first = other;
  return ranks.broadcast(first);
}

void require_same(Communicator& ranks, const std::vector<SharedFact>& facts) {
  std::string own = ranks.name();
  for (const SharedFact& fact : facts) own += '\0' + fact.value;
  const std::vector<std::string> all = ranks.gather(own);
  std::string difference;
  for (size_t r = 1; r < all.size() && difference.empty(); ++r) difference = difference_of(facts, all[r]);
  difference = ranks.broadcast(difference);
  if (!difference.empty())
    throw Error(difference,
                "all ranks need the same program, files and options, and processors with the same instructions");
}

}  // namespace dragoman
