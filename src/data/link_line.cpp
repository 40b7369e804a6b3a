#include "data/link_line.h"

#include <algorithm>
#include <charconv>

#include "base/grouped.h"
#include "base/line_reader.h"
#include "data/pair_store.h"

namespace dragoman {
namespace {

// Reads a number and moves `begin` behind it; -1 if there is none.
int64_t take_number(const char*& begin, const char* end) {
  int64_t number = -1;
  const auto [after, error] = std::from_chars(begin, end, number);
  if (error != std::errc{} || number < 0) return -1;
  begin = after;
  return number;
}

}  // namespace

void LinkLine::require_tokens(int64_t source, int64_t target) const {
  for (const TokenLink& link : links)
    if (link.source >= source || link.target >= target)
      throw Error(
          fmt::format("{}, line {}: the link {}-{} is beyond the pair, which has {} source and {} target pieces, "
                      "</s> included",
                      file, grouped(line), link.source, link.target, source, target),
          "links count the pieces that dragoman vocab encode prints, from 0; dragoman align -v VOCAB VOCAB "
          "prints such links");
}

LinkLine parse_links(std::string_view line, const LineReader& reader) {
  LinkLine parsed{.links = {}, .file = reader.name(), .line = reader.lines()};
  const char *at = line.data(), *const end = at + line.size();
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (true) {
    at = std::find_if_not(at, end, blank);
    if (at == end) break;
    const char* const word = at;
    const int64_t source = take_number(at, end);
    const bool dash = source >= 0 && at < end && *at == '-';
    const int64_t target = dash ? take_number(++at, end) : -1;
    if (target < 0 || (at < end && !blank(*at)))
      fail("{}, line {}: '{}' is not a link, expected numbers such as 0-0", reader.name(), grouped(reader.lines()),
           std::string_view(word, std::find_if(word, end, blank)));
    parsed.links.push_back({source, target});
  }
  std::ranges::sort(parsed.links);
  const auto again = std::ranges::unique(parsed.links);
  parsed.links.erase(again.begin(), again.end());
  require(int64_t(parsed.links.size()) <= PairStore::longest, "{}, line {}: has {} links, expected at most {}",
          reader.name(), grouped(reader.lines()), grouped(int64_t(parsed.links.size())),
          grouped(int64_t{PairStore::longest}));
  return parsed;
}

}  // namespace dragoman
