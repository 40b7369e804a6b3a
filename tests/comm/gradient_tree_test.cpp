#include "comm/gradient_tree.h"

#include <cmath>

#include "backend/registry.h"
#include "tests/comm/on_ranks.h"

namespace dragoman {
namespace {

constexpr int64_t block = 64, elements = 20 * block;

// Gradients of a shard that round differently in any other order of additions.
float gradient(int shard, int64_t i) {
  return std::ldexp(1.0f + float((i * 7 + shard * 13) % 101) / 101, (shard * 5) % 9);
}

float tree(int begin, int end, int64_t i) {
  if (end - begin == 1) return gradient(begin, i);
  return tree(begin, (begin + end) / 2, i) + tree((begin + end) / 2, end, i);
}

// The sums of this rank's elements.
std::vector<float> sums(Communicator& ranks, const std::vector<bool>& has_sentences,
                        std::vector<int>* learned = nullptr) {
  const Backend& b = backend("cpu");
  Arena arena(Arena::Reserve::memory, int64_t{1} << 22);
  const Ownership ownership(ranks, int(has_sentences.size()), elements, block);
  const Tensor gradients = arena.allocate({elements}, DType::f32);
  GradientTree tree(b, arena, ownership, gradients);
  std::vector<float> result;
  for (int times = 0; times < 2; ++times) {  // memory of the first sum is that of the second
    tree.sum(has_sentences, [&](int shard, const Tensor& of_shard) {
      if (learned && times == 0) learned->push_back(shard);
      for (int64_t i = 0; i < elements; ++i) of_shard.as<float>()[i] = gradient(shard, i);
    });
    const Range own = ownership.own();
    result.assign(gradients.as<float>() + own.begin, gradients.as<float>() + own.end);
  }
  return result;
}

TEST(GradientTree, AddsShardsUpAsABinaryTreeDoes) {
  const auto alone = single_process();
  const auto result = sums(*alone, std::vector<bool>(8, true));
  bool differs_from_a_chain = false;
  for (int64_t i = 0; i < elements; ++i) {
    EXPECT_EQ(result[size_t(i)], tree(0, 8, i));
    float chain = 0;
    for (int s = 0; s < 8; ++s) chain += gradient(s, i);
    differs_from_a_chain = differs_from_a_chain || chain != result[size_t(i)];
  }
  EXPECT_TRUE(differs_from_a_chain);  // or the test could not fail
}

TEST(GradientTree, GivesTheSameBitsOnAnyNumberOfRanks) {
  for (int count = 1; count <= 8; ++count)
    on_ranks(count, [](Communicator& ranks) {
      const auto result = sums(ranks, std::vector<bool>(8, true));
      const Ownership ownership(ranks, 8, elements, block);
      ASSERT_EQ(int64_t(result.size()), length(ownership.own()));
      for (size_t i = 0; i < result.size(); ++i) EXPECT_EQ(result[i], tree(0, 8, ownership.own().begin + int64_t(i)));
    });
}

TEST(GradientTree, LetsARankLearnItsOwnNeighbouringShards) {
  on_ranks(3, [](Communicator& ranks) {
    const std::vector<std::vector<int>> expected = {{0, 1}, {2, 3, 4}, {5, 6, 7}};
    std::vector<int> learned;
    sums(ranks, std::vector<bool>(8, true), &learned);
    EXPECT_EQ(learned, expected[size_t(ranks.rank())]);
  });
}

// (1 + 2) + ((4 + 5)): what is empty is left out, and its place in the tree with it.
TEST(GradientTree, LeavesOutShardsWithoutSentences) {
  for (int count : {1, 2, 3, 4, 8})
    on_ranks(count, [](Communicator& ranks) {
      const std::vector<bool> has_sentences = {false, true, true, false, true, true, false, false};
      const auto result = sums(ranks, has_sentences);
      const Ownership ownership(ranks, 8, elements, block);
      for (size_t i = 0; i < result.size(); ++i) {
        const int64_t at = ownership.own().begin + int64_t(i);
        EXPECT_EQ(result[i], (gradient(1, at) + gradient(2, at)) + (gradient(4, at) + gradient(5, at)));
      }
    });
}

TEST(GradientTree, IsZeroWithoutAnySentences) {
  on_ranks(2, [](Communicator& ranks) { EXPECT_THAT(sums(ranks, std::vector<bool>(4, false)), testing::Each(0.0f)); });
}

TEST(GradientTree, EndsOnAllRanksIfOneHasTooLittleMemory) {
  on_ranks(3, [](Communicator& ranks) {
    Arena arena(Arena::Reserve::memory, int64_t{1} << 22);
    const Ownership ownership(ranks, 4, elements, block);
    GradientTree tree(backend("cpu"), arena, ownership, arena.allocate({elements}, DType::f32));
    const auto learn = [&](int, const Tensor&) {
      if (ranks.rank() == 1) throw OutOfMemory("no room here");
    };
    EXPECT_THROW(tree.sum(std::vector<bool>(4, true), learn), OutOfMemory);
    EXPECT_FALSE(ranks.any(false));  // and they are still in step
  });
}

TEST(GradientTree, EndsOnAllRanksIfOneHasTooLittleMemoryToReceive) {
  on_ranks(2, [](Communicator& ranks) {
    const int64_t buffer = elements * 4;
    Arena arena(Arena::Reserve::memory, ranks.rank() == 1 ? buffer + buffer / 2 : 4 * buffer);
    const Ownership ownership(ranks, 2, elements, block);
    GradientTree tree(backend("cpu"), arena, ownership, arena.allocate({elements}, DType::f32));
    EXPECT_THROW(tree.sum({true, true}, [](int, const Tensor&) {}), OutOfMemory);
    EXPECT_FALSE(ranks.any(false));  // and they are still in step
  });
}

TEST(Ownership, CutsFlatBuffersIntoSlicesOfWholeBlocks) {
  const auto alone = single_process();
  const Ownership ownership(*alone, 8, 20 * block, block);
  int64_t end = 0;
  for (int s = 0; s < 8; ++s) {
    EXPECT_EQ(ownership.slice(s).begin, end);
    EXPECT_EQ(ownership.slice(s).begin % block, 0);
    end = ownership.slice(s).end;
  }
  EXPECT_EQ(end, 20 * block);
}

TEST(Ownership, SharesAndGathersFlatBuffers) {
  on_ranks(3, [](Communicator& ranks) {
    const Ownership ownership(ranks, 8, elements, block);
    std::vector<float> values(size_t(elements), -1);
    for (int64_t i = ownership.own().begin; i < ownership.own().end; ++i) values[size_t(i)] = float(i);
    const Tensor flat = Tensor::borrow(values.data(), {elements});
    const Tensor whole = ownership.gathered(flat.row_range(ownership.own().begin, length(ownership.own())));
    ownership.share(flat);
    for (int64_t i = 0; i < elements; ++i) {
      EXPECT_EQ(values[size_t(i)], float(i));
      if (ranks.rank() == 0) {
        EXPECT_EQ(whole.as<float>()[i], float(i));
      }
    }
    std::vector<double> numbers(8, 0);
    for (int64_t s = ownership.own_slices().begin; s < ownership.own_slices().end; ++s) numbers[size_t(s)] = double(s);
    ownership.share(numbers);
    EXPECT_THAT(numbers, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  });
}

}  // namespace
}  // namespace dragoman
