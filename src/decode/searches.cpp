#include "decode/searches.h"

#include <algorithm>

#include "base/threads.h"

namespace dragoman {
namespace {

// Until threads wait for each other, and what is found is written.
constexpr int steps_at_once = 16;

Ensemble ensemble_of(std::span<const TranslatingModel> models, std::deque<Arena>& arena,
                     std::deque<Context>& contexts) {
  std::vector<Ensemble::Member> members;
  std::vector<Context*> of_member;
  for (const TranslatingModel& m : models) {
    Context* cx = m.cx;
    if (!arena.empty())
      cx = &contexts.emplace_back(Context{.backend = m.cx->backend, .arena = arena.front(), .packed = m.cx->packed});
    of_member.push_back(cx);
    members.push_back({m.model->decode(*cx), m.weight});
  }
  return {*of_member[0], std::move(members)};
}

}  // namespace

Searches::Member::Member(std::span<const TranslatingModel> models, bool apart, const SearchOptions& options,
                         int64_t words, const Shortlist* shortlist, Search::Wanted wanted)
    : arena(apart ? 1 : 0), search(ensemble_of(models, arena, contexts), options, words, shortlist, wanted) {}

Searches::Searches(int count, std::span<const TranslatingModel> models, const SearchOptions& options, int64_t words,
                   const Shortlist* shortlist, Search::Wanted wanted) {
  for (int i = 0; i < count; ++i) members_.emplace_back(models, count > 1, options, words, shortlist, wanted);
}

Search& Searches::next() {
  return std::ranges::min_element(members_, {}, [](const Member& m) { return m.search.words(); })->search;
}

void Searches::step() {
  std::vector<Search*> busy;
  for (Member& m : members_)
    if (!m.search.idle()) busy.push_back(&m.search);
  if (busy.size() == 1) return busy[0]->step();
  const auto some_steps = [&](int i) {
    const AloneHere alone;
    for (int step = 0; step < steps_at_once && !busy[size_t(i)]->idle(); ++step) busy[size_t(i)]->step();
  };
  run_parts(
      int(busy.size()), [](const void* f, int i) { (*static_cast<decltype(&some_steps)>(f))(i); }, &some_steps);
}

}  // namespace dragoman
