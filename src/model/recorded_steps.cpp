#include "model/recorded_steps.h"

#include <algorithm>
#include <bit>

#include "backend/backend.h"
#include "backend/recorder.h"

namespace dragoman {
namespace {

constexpr size_t most_sizes =
    64;  // that are kept: up to 8,192 rows there are 20 sizes, for each length of past and source

// In quarters of the next power of two, but at least 8 at a time: 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, …
int64_t rounded_rows(int64_t rows) {
  const int64_t unit = std::max<int64_t>(8, int64_t(std::bit_ceil(uint64_t(rows))) / 4);
  return (rows + unit - 1) / unit * unit;
}

// So most sentences have equal sizes.
int64_t rounded_length(int64_t tokens) { return std::max<int64_t>(64, int64_t(std::bit_ceil(uint64_t(tokens)))); }

// Copies a table to the first rows and columns of a larger one and fills the remaining elements with `rest`.
void put(const Tensor& to, const Tensor& from, int32_t rest) {
  const auto larger = to.view<int32_t>();
  const auto smaller = from.view<const int32_t>();
  std::fill_n(larger.data, to.elements(), rest);
  for (int64_t r = 0; r < smaller.rows; ++r) std::copy_n(smaller.row(r), smaller.cols, larger.row(r));
}

}  // namespace

RecordedSteps::Step::Step(const Size& size) : values(size_t(size.rows * (8 + size.past))) {
  const int64_t R = size.rows;
  mirror = {values.data(), int64_t(values.size() * sizeof(int32_t))};
  int32_t* free = values.data();
  const auto table = [&](Shape shape) {
    int32_t* const data = std::exchange(free, free + shape.elements());
    return Tensor::borrow(data, shape).mirrored_by(&mirror);
  };
  tables = {.ids = table({R}),
            .positions = table({R, 2}),
            .cached = table({R}),
            .past = {.length = table({R}), .table = table({R, size.past})},
            .source = {.length = table({R}), .begin = table({R}), .position = table({R})},
            .longest_past = size.past,
            .longest_source = size.source};
}

void RecordedSteps::Step::take(const StepTables& exact, int32_t scrap) {
  put(tables.ids, exact.ids, 0);
  put(tables.positions, exact.positions, 0);
  put(tables.cached, exact.cached, scrap);
  put(tables.past.length, exact.past.length, 1);
  put(tables.past.table, exact.past.table, scrap);
  put(tables.source.length, exact.source.length, 1);
  put(tables.source.begin, exact.source.begin, 0);
  put(tables.source.position, exact.source.position, 0);
}

RecordedSteps::RecordedSteps(const Context& cx, int32_t scrap)
    : arena_(*cx.backend.memory),
      cx_{.backend = cx.backend, .arena = arena_, .packed = cx.packed, .rounded = cx.rounded},
      scrap_(scrap) {}

RecordedSteps::Size RecordedSteps::size_of(const StepTables& tables) {
  return {rounded_rows(tables.ids.elements()), rounded_length(tables.longest_past),
          rounded_length(tables.longest_source)};
}

RecordedSteps::Step& RecordedSteps::step_of(const Size& size) {
  if (steps_.size() >= most_sizes && !steps_.contains(size)) steps_.clear();
  return steps_.try_emplace(size, size).first->second;
}

void RecordedSteps::forget_if_moved(std::span<const Tensor> memory) {
  std::vector<Address> addresses;
  for (const Tensor& m : memory) addresses.push_back({m.data(), m.shape()});
  if (addresses == memory_) return;
  steps_.clear();
  memory_ = std::move(addresses);
}

void RecordedSteps::record(Step& step, const Compute& compute) {
  const Recorder& recorder = *cx_.backend.recorder;
  Tensor logits;
  recorder.begin();
  try {
    logits = compute(cx_, step.tables);
  } catch (const OutOfMemory&) {
    recorder.abandon();
    throw;
  } catch (const Error& error) {  // the step has run without recording
    recorder.abandon();
    throw RecordingFailed(error.what());
  } catch (...) {
    recorder.abandon();
    throw;
  }
  step.recording = recorder.end();
  step.logits = Tensor(nullptr, logits.data(), logits.shape(), logits.dtype(), logits.memory());
}

Tensor RecordedSteps::run(const StepTables& tables, std::span<const Tensor> memory, const Compute& compute,
                          const Prepare& prepare) {
  const Recorder& recorder = *cx_.backend.recorder;
  forget_if_moved(memory);
  Step& step = step_of(size_of(tables));
  step.take(tables, scrap_);
  recorder.renew(step.mirror);
  if (prepare) prepare(step.tables);
  if (!step.recording && std::exchange(step.met, true)) record(step, compute);
  if (step.recording) recorder.run(step.recording);
  const Tensor logits = step.recording ? step.logits : compute(cx_, step.tables);
  return logits.row_range(0, tables.ids.elements());
}

}  // namespace dragoman
