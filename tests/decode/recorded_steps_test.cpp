#include <gmock/gmock.h>

#include <algorithm>
#include <stdexcept>

#include "backend/recorder.h"
#include "tests/decode/recorded_decoding.h"
#include "tests/special_ids.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// With few tokens in flight, sentences leave and others enter; with many, the caches grow during decoding. Some
// translations are longer than the shortest past for which steps are recorded.
TEST_F(RecordedDecoding, FindsWhatStepsFindThatRunAsTheyAreCalled) {
  const Sources some = sources(6, 16);
  for (const auto& [beam, tokens] : {std::pair(1, 40), std::pair(4, 1000)}) {
    const SearchOptions options{.beam_size = beam, .max_length_add = 50, .n_best = beam};
    const DeviceCounts before = counts();
    const auto found = find(device, options, some, tokens);
    const DeviceCounts after = counts();
    EXPECT_GE(after.recordings - before.recordings, 2) << "steps of several sizes";
    EXPECT_GT(after.replays - before.replays, 3 * (after.recordings - before.recordings));
    EXPECT_EQ(found, find(plain, options, some, tokens)) << beam;
    EXPECT_EQ(counts().replays, after.replays);
  }
}

TEST_F(RecordedDecoding, FollowsWhatASentenceMaySay) {
  Shortlist shortlist{.first = {eos_id}, .begins = {0}, .target_vocabulary = golden.config().target_vocabulary};
  std::mt19937 random(3);
  for (int piece = 0; piece < golden.config().source_vocabulary; ++piece) {
    for (int i = 0; i < 3; ++i)
      shortlist.best.push_back(int32_t(3 + random() % size_t(shortlist.target_vocabulary - 3)));
    shortlist.begins.push_back(int32_t(shortlist.best.size()));
  }
  const SearchOptions options{.beam_size = 2, .max_length_add = 10, .n_best = 2};
  const Sources some = sources(8, 8);
  const int64_t before = counts().replays;
  const auto found = find(device, options, some, 30, &shortlist);
  EXPECT_GT(counts().replays, before);
  EXPECT_EQ(found, find(plain, options, some, 30, &shortlist));
}

/// Steps of one decoding, whose rows continue with arbitrary pieces.
class Steps {
 public:
  Steps(Model& model, Context& cx) : decoding_(model.decode(cx)) {}
  void add(int sentences, int32_t length) {
    PackedIds source{{}, Spans::of_lengths(std::vector<int32_t>(size_t(sentences), length))};
    for (int32_t i = 0; i < source.spans.rows(); ++i) source.ids.push_back(3 + i % 7);
    decoding_->add(next_, source, 1);
    for (int s = 0; s < sentences; ++s) rows_.push_back({next_++, -1, bos_id});
  }
  void remove_last() {
    decoding_->remove(rows_.back().sentence);
    rows_.pop_back();
  }
  Tensor next() {
    const Tensor logits = decoding_->step(rows_);
    decoding_->keep();
    for (size_t r = 0; r < rows_.size(); ++r) rows_[r] = {rows_[r].sentence, int(r), int32_t(3 + (r + ++pieces_) % 5)};
    return logits;
  }
  std::vector<float> next_values() {
    const Tensor logits = next().on_host();
    return {logits.as<float>(), logits.as<float>() + logits.elements()};
  }
  Decoding& operator*() { return *decoding_; }

 private:
  int next_ = 0;
  std::unique_ptr<Decoding> decoding_;
  std::vector<StepRow> rows_;
  size_t pieces_ = 0;
};

TEST_F(RecordedDecoding, IsOneCopyAndOneRunAStepOnceItsSizeIsKnown) {
  Context cx{.backend = device, .arena = arena, .packed = &packed};
  Steps steps(*model, cx);
  steps.add(5, 4);
  const auto asked = [&] {
    const DeviceCounts before = counts();
    steps.next();
    const DeviceCounts now = counts();
    EXPECT_EQ(now.waits, before.waits) << "nobody waits for what a step computes but who reads it";
    EXPECT_EQ(now.uploads, before.uploads + 1);
    return std::array{now.recordings - before.recordings, now.replays - before.replays};
  };
  using Is = std::array<int64_t, 2>;
  EXPECT_EQ(asked(), Is({0, 0})) << "as it is called";
  EXPECT_EQ(asked(), Is({1, 1})) << "recorded, and run";
  const int64_t allocations = counts().allocations;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(asked(), Is({0, 1}));
  steps.remove_last();
  EXPECT_EQ(asked(), Is({0, 1})) << "4 rows are as many as 5";
  EXPECT_EQ(counts().allocations, allocations);
}

TEST_F(RecordedDecoding, LosesNoMemoryIfNobodyReadsItsResults) {
  Context cx{.backend = device, .arena = arena, .packed = &packed};
  Steps steps(*model, cx);
  steps.add(5, 4);
  for (int i = 0; i < 2; ++i) static_cast<void>(steps.next().fetch());
  const int64_t allocations = counts().allocations;
  for (int i = 0; i < 3; ++i) static_cast<void>(steps.next().fetch());
  EXPECT_EQ(counts().allocations, allocations);
}

TEST_F(RecordedDecoding, IsRecordedAnewWhenCachesGrewOrOtherPiecesAreRequested) {
  Context cx{.backend = device, .arena = arena, .packed = &packed};
  const Context without{.backend = plain, .arena = arena, .packed = &packed};
  Context as_called = without;
  Steps steps(*model, cx), same(*model, as_called);
  const auto agree = [&](int times) {
    for (int i = 0; i < times; ++i) EXPECT_EQ(steps.next_values(), same.next_values());
  };
  const auto both = [&](const auto& change) { change(steps), change(same); };
  const auto recorded_anew = [&] {
    const int64_t before = counts().recordings;
    agree(4);
    return counts().recordings - before == 1;
  };
  both([](Steps& s) { s.add(3, 60); });
  EXPECT_TRUE(recorded_anew());
  EXPECT_FALSE(recorded_anew());
  both([](Steps& s) { s.add(2, 60); });
  EXPECT_TRUE(recorded_anew()) << "the cache of sources has grown";
  both([](Steps& s) { (*s).restrict(std::vector<int32_t>{1, 4, 9}); });
  EXPECT_TRUE(recorded_anew());
  both([](Steps& s) { (*s).restrict({}); });
  EXPECT_TRUE(recorded_anew());
  agree(60);  // past the first 64 positions
  EXPECT_FALSE(recorded_anew());
}

TEST_F(RecordedDecoding, WritesToNoMemoryThatOthersTookMeanwhile) {
  Context cx{.backend = device, .arena = arena, .packed = &packed};
  Steps steps(*model, cx);
  steps.add(5, 4);
  for (int i = 0; i < 3; ++i) steps.next();
  const Tensor others = arena.allocate({1 << 16}, DType::f32);
  device.fill(others, 7);
  const int64_t before = counts().replays;
  steps.next();
  EXPECT_EQ(counts().replays, before + 1);
  const Tensor values = others.on_host();
  EXPECT_EQ(std::count(values.as<float>(), values.as<float>() + values.elements(), 7.f), values.elements());
}

// As in training, whose arena has taken all free memory.
TEST_F(RecordedDecoding, RunsAsItIsCalledWhereThereIsNoMemoryForIt) {
  static bool none_left;
  none_left = false;
  DeviceMemory scarce = *device.memory;
  scarce.commit = [](void* base, int64_t from, int64_t to) {
    return !none_left && gpu_on_host().memory->commit(base, from, to);
  };
  Backend full = device;
  full.memory = &scarce;
  Context cx{.backend = full, .arena = arena, .packed = &packed};
  Context as_called{.backend = plain, .arena = arena, .packed = &packed};
  Steps steps(*model, cx), same(*model, as_called);
  steps.add(3, 5);
  same.add(3, 5);
  none_left = true;
  const int64_t before = counts().replays;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(steps.next_values(), same.next_values());
  EXPECT_EQ(counts().replays, before);
}

TEST_F(RecordedDecoding, RunsAsItIsCalledWhereTheDeviceHasNoRoom) {
  DeviceMemory taken = *device.memory;
  taken.capacity = [] { return int64_t{1} << 20; };
  Backend full = device;
  full.memory = &taken;
  Context cx{.backend = full, .arena = arena, .packed = &packed};
  Steps steps(*model, cx);
  steps.add(3, 5);
  const int64_t before = counts().recordings;
  for (int i = 0; i < 4; ++i) steps.next();
  EXPECT_EQ(counts().recordings, before);
}

TEST_F(RecordedDecoding, RunsKernelByKernelAfterOneFailedWhileRecorded) {
  static int calls;  // of the encoder, of the first step, of the second, which is recorded
  calls = 0;
  Backend failing = device;
  failing.embedding = [](const Tensor& y, const Embedding& e) {
    if (++calls == 3) throw OutOfMemory("as if", "");
    gpu_on_host().embedding(y, e);
  };
  Context cx{.backend = failing, .arena = arena, .packed = &packed};
  Context as_called{.backend = plain, .arena = arena, .packed = &packed};
  Steps steps(*model, cx), same(*model, as_called);
  steps.add(3, 5);
  same.add(3, 5);
  const DeviceCounts before = counts();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(steps.next_values(), same.next_values());
  EXPECT_GE(calls, 6);
  EXPECT_EQ(counts().replays, before.replays);
  EXPECT_EQ(counts().recordings, before.recordings);
  Context again{.backend = device, .arena = arena, .packed = &packed};
  Steps others(*model, again);
  others.add(3, 5);
  for (int i = 0; i < 3; ++i) others.next();
  EXPECT_EQ(counts().recordings, before.recordings + 1) << "what was begun has been given up";
}

// A driver may refuse to capture, or to instantiate what it captured, and a library may refuse to be captured.
TEST_F(RecordedDecoding, RunsKernelByKernelIfTheDeviceCannotRecord) {
  Recorder no_begin = *device.recorder, no_end = no_begin, no_run = no_begin;
  no_begin.begin = [] { throw RecordingFailed("as if"); };
  no_end.end = []() -> std::shared_ptr<void> {
    gpu_on_host().recorder->abandon();
    throw RecordingFailed("as if");
  };
  no_run.run = [](const std::shared_ptr<void>&) { throw RecordingFailed("as if"); };
  static int calls;
  Backend refusing = device;
  refusing.embedding = [](const Tensor& y, const Embedding& e) {
    if (++calls == 3) fail("as if it was not permitted while a stream is captured");
    gpu_on_host().embedding(y, e);
  };
  for (const Recorder* recorder :
       std::initializer_list<const Recorder*>{&no_begin, &no_end, &no_run, device.recorder}) {
    calls = recorder == device.recorder ? 0 : 100;
    Backend failing = refusing;
    failing.recorder = recorder;
    Context cx{.backend = failing, .arena = arena, .packed = &packed};
    Context as_called{.backend = plain, .arena = arena, .packed = &packed};
    Steps steps(*model, cx), same(*model, as_called);
    steps.add(3, 5);
    same.add(3, 5);
    const int64_t before = counts().replays;
    for (int i = 0; i < 4; ++i) EXPECT_EQ(steps.next_values(), same.next_values());
    EXPECT_EQ(counts().replays, before);
  }
}

TEST_F(RecordedDecoding, MayNotFreezeWhatTheHostMakesNorWaitForTheDevice) {
  const auto recording = [&](const auto& kernels) {
    device.recorder->begin();
    kernels();
    device.recorder->end();
  };
  const Tensor x = arena.allocate({2, 3}, DType::f32), y = arena.allocate({2, 3}, DType::f32);
  const Tensor rows = int_tensor({1, 0}, {2});
  const auto breaks = [](const char* invariant) { return ThrowsMessage<std::logic_error>(HasSubstr(invariant)); };
  device.recorder->begin();
  EXPECT_THAT([&] { device.gather_rows(y, x, rows); }, breaks("must be on the device before"));
  EXPECT_THAT([&] { x.on_host(); }, breaks("must not wait"));
  device.recorder->abandon();
  device.recorder->renew(*rows.mirror());
  recording([&] { device.gather_rows(y, x, rows); });
}

}  // namespace
}  // namespace dragoman
