#include "decode/searches.h"

#include <algorithm>

#include "backend/backend.h"
#include "base/machine.h"
#include "base/threads.h"
#include "model/model.h"

namespace dragoman {
namespace {

Ensemble ensemble_of(std::span<const TranslatingModel> models, Arena* arena, std::deque<Context>& contexts) {
  std::vector<Ensemble::Member> members;
  std::vector<Context*> of_member;
  for (const TranslatingModel& m : models) {
    Context* cx = m.cx;
    if (arena)
      cx = &contexts.emplace_back(
          Context{.backend = cx->backend, .arena = *arena, .packed = cx->packed, .rounded = cx->rounded});
    of_member.push_back(cx);
    members.push_back({m.model->decode(*cx), m.weight});
  }
  return {*of_member[0], std::move(members), conventions_of(models[0].model->config()), models[0].mean};
}

}  // namespace

int searches_on(const Backend& backend) { return backend.concurrent ? thread_count() : 1; }

void Searches::Worker::GiveBack::operator()(Arena* arena) const {
  arena->reset_peak();
  delete arena;
}

Searches::Worker::Worker(std::span<const TranslatingModel> models, int64_t memory, int64_t tokens)
    : arena(memory > 0 ? new Arena(Arena::Reserve::memory, memory) : nullptr),
      search(ensemble_of(models, arena.get(), contexts), tokens) {}

Searches::Searches(int count, std::span<const TranslatingModel> models, int64_t tokens, int64_t memory)
    : on_device_(models[0].cx->backend.is_device()) {
  if (on_device_) memory = 0;
  if (count > 1 && memory == 0) memory = std::min(machine_memory(), addresses_left() / 2) / count;
  for (int i = 0; i < count; ++i) workers_.emplace_back(models, memory, tokens);
}

bool Searches::idle() const {
  return std::ranges::all_of(workers_, [](const Worker& w) { return w.search.idle(); });
}

int64_t Searches::active() const {
  int64_t active = 0;
  for (const Worker& w : workers_) active += w.search.active();
  return active;
}

Search& Searches::next() {
  return std::ranges::min_element(workers_, {}, [](const Worker& w) { return w.search.tokens(); })->search;
}

void Searches::step(int most) {
  std::vector<Search*> busy;
  for (Worker& w : workers_)
    if (!w.search.idle()) busy.push_back(&w.search);
  if (on_device_ || 2 * int64_t(busy.size()) <= thread_count()) {
    for (Search* search : busy) search->step();
    return;
  }
  const int steps = std::ranges::all_of(busy, &Search::queues) ? most : 1;
  const auto some_steps = [&](int i) {  // in a parallel region, so each search's kernels run on its own thread
    for (int step = 0; step < steps && !busy[size_t(i)]->idle(); ++step) busy[size_t(i)]->step();
  };
  run_chunks(
      int(busy.size()), [](const void* f, int i) { (*static_cast<decltype(&some_steps)>(f))(i); }, &some_steps);
}

}  // namespace dragoman
