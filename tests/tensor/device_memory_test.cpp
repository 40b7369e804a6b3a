#include <gmock/gmock.h>
#include <sys/mman.h>

#include <cstring>

#include "tensor/arena.h"
#include "tensor/spans.h"

namespace dragoman {
namespace {

constexpr int64_t MiB = 1 << 20;

// A device whose memory is the host's, under addresses that only tensors know.
int64_t committed = 0, there = 0, copies = 0;

void* reserve(int64_t bytes) {
  return mmap(nullptr, size_t(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}
bool commit(void*, int64_t from, int64_t to) {
  EXPECT_EQ(from, committed) << "memory is added where it ends";
  if (to > there) return false;
  committed = to;
  return true;
}
void release(void* base, int64_t reserved, int64_t bytes) {
  EXPECT_EQ(bytes, committed);
  munmap(base, size_t(reserved));
}
void move(void* to, const void* from, int64_t bytes) {
  ++copies;
  std::memcpy(to, from, size_t(bytes));
}

PendingBytes send(const void* device, int64_t bytes) {
  ++copies;
  const auto* first = static_cast<const char*>(device);
  return [now = std::vector<char>(first, first + bytes)](void* host) { std::memcpy(host, now.data(), now.size()); };
}

constexpr DeviceMemory memory{[] { return 1024 * MiB; }, reserve, commit, release, move, [] {}, move, send};

class OnDevice : public testing::Test {
 protected:
  OnDevice() {
    committed = copies = 0;
    there = 128 * MiB;
  }
};

TEST_F(OnDevice, AnArenaTakesMemoryInStepsAndKeepsIt) {
  Arena arena(memory);
  EXPECT_EQ(committed, 0);
  {
    const Tensor x = arena.allocate({40 * MiB}, DType::u8);
    EXPECT_EQ(committed, 64 * MiB);
  }
  const Tensor again = arena.allocate({64 * MiB}, DType::u8);
  EXPECT_EQ(committed, 64 * MiB) << "what was given back serves";
}

// The shared range is then unused, so tools detect every access beyond the end of a tensor.
TEST_F(OnDevice, EachTensorHasMemoryOfItsOwnOnRequest) {
  static std::vector<int64_t> asked;
  static int given_back;
  asked.clear(), given_back = 0;
  DeviceMemory alone = memory;
  alone.alone = [](int64_t bytes) {
    asked.push_back(bytes);
    return std::shared_ptr<void>(new char[size_t(bytes)], [](void* p) {
      ++given_back;
      delete[] static_cast<char*>(p);
    });
  };
  Arena arena(alone);
  {
    const Tensor x = arena.allocate({3, 5}, DType::f32), part = x.columns(1, 2);
    EXPECT_EQ(asked, std::vector<int64_t>{60});
    EXPECT_GT(arena.in_use(), 0);
  }
  EXPECT_EQ(given_back, 1);
  EXPECT_EQ(arena.in_use(), 0);
  EXPECT_EQ(committed, 0);
}

TEST_F(OnDevice, AnArenaReportsAFullDeviceAndRemainsUsable) {
  Arena arena(memory);
  const Tensor x = arena.allocate({100 * MiB}, DType::u8);
  EXPECT_THROW(arena.allocate({40 * MiB}, DType::u8), Error);
  EXPECT_EQ(arena.in_use(), 100 * MiB);
  EXPECT_NO_THROW(arena.allocate({20 * MiB}, DType::u8));
}

TEST_F(OnDevice, ATensorIsReadAndWrittenThroughCopies) {
  Arena arena(memory);
  const Tensor x = arena.allocate({3, 5}, DType::f32), values = x.on_host();
  EXPECT_NE(values.data(), x.data());
  EXPECT_EQ(values.memory(), nullptr);
  for (int i = 0; i < 15; ++i) values.as<float>()[i] = float(i);
  x.assign(values);
  const Tensor part = x.columns(1, 2).on_host();
  EXPECT_EQ(part.view<float>()(2, 1), 12) << "a view of some columns keeps its stride";
  EXPECT_EQ(x.reshaped({15}).row_range(4, 3).on_host().as<float>()[0], 4);
  EXPECT_EQ(copies, 4);
}

TEST_F(OnDevice, RoomForNewValuesIsNotCopiedFromTheDevice) {
  Arena arena(memory), of_host;
  const Tensor x = arena.allocate({3, 5}, DType::f32), values = x.room_on_host();
  EXPECT_EQ(values.memory(), nullptr);
  EXPECT_EQ(values.shape(), x.shape());
  EXPECT_EQ(copies, 0);
  for (int i = 0; i < 15; ++i) values.as<float>()[i] = float(i);
  x.assign(values);
  EXPECT_EQ(x.as<float>()[14], 14);
  const Tensor here = of_host.allocate({2}, DType::f32);
  EXPECT_EQ(here.room_on_host().data(), here.data());
}

// Also for host tensors.
TEST_F(OnDevice, ANumberIsSentAsItIsThen) {
  Arena arena(memory), of_host;
  for (Arena* a : {&arena, &of_host}) {
    const Tensor x = a->allocate({3}, DType::f64), one = x.row_range(1, 1);
    *one.as<double>() = 5;
    const PendingNumber five = one.send();
    *one.as<double>() = 6;
    EXPECT_EQ(five(), 5);
  }
  EXPECT_EQ(copies, 1);
}

TEST_F(OnDevice, ATensorIsFetchedAsItIsThen) {
  Arena arena(memory);
  const Tensor bytes = arena.allocate({64}, DType::u8), x = bytes.from_bytes(16, {2, 3}, DType::i32);
  EXPECT_EQ(x.data(), bytes.as<uint8_t>() + 16);
  x.view<int32_t>()(1, 2) = 5;
  const std::function<Tensor()> five = x.columns(1, 2).fetch();
  x.view<int32_t>()(1, 2) = 6;
  const Tensor found = five();
  EXPECT_EQ(found.memory(), nullptr);
  EXPECT_EQ(found.view<int32_t>()(1, 1), 5);
  EXPECT_EQ(x.view<int32_t>()(1, 2), 6);
  EXPECT_THROW(bytes.from_bytes(48, {5}, DType::i32), std::logic_error);
}

TEST_F(OnDevice, ATensorOfTheHostIsItsOwnCopy) {
  Arena arena;
  const Tensor x = arena.allocate({2}, DType::f32);
  EXPECT_EQ(x.on_host().data(), x.data());
  const Tensor other = arena.allocate({2}, DType::f32);
  other.as<float>()[1] = 7;
  x.assign(other);
  EXPECT_EQ(x.as<float>()[1], 7);
  EXPECT_EQ(copies, 0);
}

TEST_F(OnDevice, WhatTheHostMakesHasOneMirrorHoweverItIsLookedAt) {
  const Spans spans({0, 2, 5});
  const Spans same = spans;  // NOLINT(performance-unnecessary-copy-initialization): the copy is what is tested
  ASSERT_NE(spans.offsets().mirror(), nullptr);
  EXPECT_EQ(spans.offsets().mirror(), same.offsets().mirror());
  EXPECT_EQ(spans.offsets().row_range(1, 2).mirror(), spans.offsets().mirror());
  EXPECT_EQ(spans.offsets().mirror()->host, spans.offsets().data());
  EXPECT_EQ(spans.offsets().mirror()->bytes, 12);
}

}  // namespace
}  // namespace dragoman
