#include "comm/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/log.h"
#include "tensor/arena.h"

namespace dragoman {
namespace {

constexpr const char* out_of_memory = "out of memory";

constexpr size_t most_named = 4;  // ranks in a message

// What a rank has sent: its name, then the values of its facts.
std::vector<std::string> split(const std::string& sent) {
  std::vector<std::string> texts;
  size_t begin = 0;
  for (size_t end = 0; (end = sent.find('\0', begin)) != sent.npos; begin = end + 1)
    texts.push_back(sent.substr(begin, end - begin));
  texts.push_back(sent.substr(begin));
  return texts;
}

// "a, b and c", or "a, b, c, d and 5 more".
std::string listed(const std::vector<std::string>& names) {
  const size_t shown = names.size() > most_named ? most_named : names.size() - 1;
  const std::string last = names.size() > most_named ? fmt::format("{} more", names.size() - most_named) : names.back();
  if (shown == 0) return last;
  return fmt::format("{} and {}", fmt::join(names.begin(), names.begin() + ptrdiff_t(shown), ", "), last);
}

// The first fact in which ranks differ from rank 0, and these ranks. `all` are the split texts of all ranks; a rank of
// another version may have sent fewer.
std::string difference_of(const std::vector<SharedFact>& facts, const std::vector<std::vector<std::string>>& all) {
  for (size_t f = 0; f < facts.size(); ++f) {
    std::vector<std::string> names, values;
    for (const std::vector<std::string>& rank : all) {
      const std::string value = f + 1 < rank.size() ? rank[f + 1] : "";
      if (value != facts[f].value) names.push_back(rank[0]), values.push_back(value);
    }
    if (names.empty()) continue;
    const std::string first = names[0];
    names.erase(names.begin());
    const std::string others =
        names.empty() ? "" : fmt::format("; so {} {}", names.size() > 1 ? "do" : "does", listed(names));
    return fmt::format("{} has another {} than rank 0: {}, not {}{}", first, facts[f].what, values[0], facts[f].value,
                       others);
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
  std::vector<std::vector<std::string>> all;
  for (const std::string& sent : ranks.gather(own)) all.push_back(split(sent));
  std::string difference;
  if (ranks.rank() == 0) difference = difference_of(facts, all);
  difference = ranks.broadcast(difference);
  if (!difference.empty())
    throw Error(difference,
                "all ranks need the same program, files and options, and processors with the same instructions");
}

void warn_of_other_arithmetic(Communicator& ranks, const std::string& arithmetic) {
  const std::vector<std::string> all = ranks.gather(arithmetic);
  std::map<std::string, std::vector<std::string>> others;  // ranks by their arithmetic
  for (size_t r = 1; r < all.size(); ++r)
    if (all[r] != arithmetic) others[all[r]].push_back(std::to_string(r));
  if (ranks.rank() > 0 || others.empty()) return;
  std::string list;
  for (const auto& [theirs, their_ranks] : others)
    list += fmt::format("{} {} {} with {}; ", their_ranks.size() > 1 ? "ranks" : "rank", listed(their_ranks),
                        their_ranks.size() > 1 ? "compute" : "computes", theirs);
  log_warning("{}rank 0 with {}: some results will differ slightly from those of one process", list, arithmetic);
}

}  // namespace dragoman
