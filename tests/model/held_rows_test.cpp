#include "model/held_rows.h"

#include <gmock/gmock.h>

#include "backend/registry.h"
#include "model/decoded_past.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

std::vector<int32_t> ids(const Tensor& x) { return {x.as<int32_t>(), x.as<int32_t>() + x.elements()}; }

struct HeldRowsOfACache : testing::Test {
  int64_t first_free() {
    const int64_t row = cache.take(1);
    cache.give_back(row, 1);
    return row;
  }

  Arena arena{Arena::Reserve::memory, int64_t{1} << 24};
  Context cx{.backend = backend("reference"), .arena = arena};
  CacheRows cache{cx, 1, 2, DType::f64};
  HeldRows held{cache};
};

TEST_F(HeldRowsOfACache, AreFoundByTheSentencesOfAStep) {
  EXPECT_THAT(ids(held.add(4, Spans::of_lengths(std::vector<int32_t>{2, 0, 3}))), ElementsAre(0, 1, 2, 3, 4));
  const StepRow rows[] = {{6, -1, 0}, {6, -1, 0}, {4, -1, 0}};
  const HeldRows::Step step = held.step(rows);
  EXPECT_THAT(ids(step.keys.begin), ElementsAre(2, 2, 0));
  EXPECT_THAT(ids(step.keys.length), ElementsAre(3, 3, 2));
  EXPECT_EQ(step.longest, 3);
}

TEST_F(HeldRowsOfACache, ComeBackOnceHoweverOftenASentenceIsRemoved) {
  held.add(0, Spans::of_lengths(std::vector<int32_t>{2, 3}));
  held.remove(0);
  held.remove(0);
  held.remove(7);
  EXPECT_EQ(first_free(), 0);
  held.remove(1);
  EXPECT_EQ(cache.take(256), 0) << "all rows of the cache are free again";
}

// A decoding takes sentences back that it has only begun to add, so some may have held rows here and no past yet.
TEST_F(HeldRowsOfACache, AndAPastThatNeverBeganAreRemovedQuietly) {
  DecodedPast past(cache);
  past.add(0, 2, {});
  past.remove(0);
  past.remove(0);
  EXPECT_EQ(cache.take(256), 0);
}

}  // namespace
}  // namespace dragoman
