#include "align/model_alignment.h"
#include "tests/align_pairs.h"

#include <gmock/gmock.h>

#include <numeric>

#include "base/error.h"
#include "base/philox.h"
#include "tests/special_ids.h"
#include "tests/toy_model.h"

namespace dragoman {
namespace {

using testing::IsEmpty;

// Three target pieces over two source pieces.
const Alignment example{2, {0.25f, 0.75f, 0.9f, 0.1f, 0.5f, 0.5f}};

std::string text_of(const Alignment& alignment, const AlignmentStyle& style) {
  return to_text({alignment, style}, style);
}

TEST(AlignmentText, HardHasOnePairATargetPieceSortedBySource) {
  EXPECT_EQ(text_of(example, {AlignmentStyle::hard}), "0-1 0-2 1-0");  // the first of equal weights, as in Marian
}

TEST(AlignmentText, AboveHasAllPairsAboveTheThreshold) {
  EXPECT_EQ(text_of(example, {AlignmentStyle::above, 0.2}), "0-0 0-1 0-2 1-0 1-2");
  EXPECT_EQ(text_of(example, {AlignmentStyle::above, 0.5}), "0-1 1-0");
  EXPECT_EQ(text_of(example, {AlignmentStyle::above, 0.95}), "");
}

TEST(AlignmentText, SoftHasBlanksBetweenTargetsAndCommasBetweenSources) {
  EXPECT_EQ(text_of(example, {AlignmentStyle::soft}), "0.25,0.75 0.9,0.1 0.5,0.5");
}

TEST(AlignmentText, OfNothingIsEmpty) {
  for (const auto kind : {AlignmentStyle::hard, AlignmentStyle::above, AlignmentStyle::soft})
    EXPECT_EQ(text_of({}, {kind}), "");
}

TEST(AlignmentStyles, ComeBackAsTheyWereWritten) {
  for (const char* word : {"none", "hard", "soft", "0.2", "0.05"})
    EXPECT_EQ(to_string(parse_alignment_style(word)), word);
  EXPECT_EQ(parse_alignment_style("1"), AlignmentStyle{AlignmentStyle::hard});
  for (const char* word : {"", "weich", "0", "-0.1", "1.5", "0.2x", "nan"})
    EXPECT_THROW(parse_alignment_style(word), Error) << word;
}

// Segments of one, no and two source pieces.
TEST(AlignmentsOfSegments, DoNotSeeEachOther) {
  const auto text_of = [](const AlignmentStyle& style) {
    LineAlignment line;
    append(line, {Alignment{1, {1}}, style});
    append(line, {});
    append(line, {Alignment{2, {0.25f, 0.75f, 1, 0}}, style});
    return to_text(line, style);
  };
  EXPECT_EQ(text_of({AlignmentStyle::soft}), "1,0,0 0,0.25,0.75 0,1,0");
  EXPECT_EQ(text_of({AlignmentStyle::hard}), "0-0 1-2 2-1");
  EXPECT_EQ(text_of({AlignmentStyle::above, 0.2}), "0-0 1-1 1-2 2-1");
}

// As one text, 1,000 segments of 10 by 10 pieces would take 200 MB.
TEST(AlignmentsOfSegments, AreWrittenRowByRow) {
  LineAlignment line;
  for (int i = 0; i < 1000; ++i) append(line, {Alignment{10, std::vector<float>(100, 0.1f)}, {AlignmentStyle::soft}});
  size_t longest = 0, all = 0;
  write_alignment(line, {AlignmentStyle::soft}, [&](std::string_view part) {
    longest = std::max(longest, part.size());
    all += part.size();
  });
  EXPECT_LE(longest, 1 + 2 * 10'000 + 2 * 10);
  EXPECT_EQ(all, 10'000 * (2 * 10'000 + 2 * 10) - 1);
}

// As matrices, 2,000 segments of 100 by 100 pieces would take 80 MB, and as one matrix 160 GB.
TEST(AlignmentsOfSegments, TakeMemoryForLinksAlone) {
  LineAlignment line;
  for (int i = 0; i < 2000; ++i)
    append(line, {Alignment{100, std::vector<float>(10'000, 0.01f)}, {AlignmentStyle::hard}});
  EXPECT_THAT(line.segments, IsEmpty());
  ASSERT_EQ(line.links.size(), 200'000u);
  EXPECT_EQ(line.links.back(), TokenLink(199'900, 199'999));
}

class Alignments : public testing::Test {
 protected:
  static std::vector<int32_t> sentence(PhiloxSequence& random, int64_t length) {
    std::vector<int32_t> ids(length);
    for (int32_t& id : ids) id = 3 + int32_t(random.below(330));
    ids.push_back(eos_id);
    return ids;
  }
  static std::vector<IdPair> random_pairs(int count) {
    PhiloxSequence random(7, 0);
    std::vector<IdPair> pairs;
    for (int i = 0; i < count; ++i) {
      auto source = sentence(random, int64_t(random.below(20)));
      pairs.push_back({std::move(source), sentence(random, int64_t(random.below(20)))});
    }
    return pairs;
  }
  std::vector<Alignment> of(std::span<const IdPair> pairs) {
    Context cx{.backend = backend("cpu"), .arena = arena, .packed = &packed};
    return align_pairs(cx, *model, pairs);
  }

  Arena arena;
  std::unique_ptr<Model> model = toy_model(arena, 1);
  PackedWeights packed = model->parameters().pack();
};

TEST_F(Alignments, HaveARowForEachTargetPieceThatSumsToOne) {
  const auto pairs = random_pairs(20);
  const auto found = of(pairs);
  for (size_t i = 0; i < pairs.size(); ++i) {
    ASSERT_EQ(found[i].sources, int64_t(pairs[i].source.size()));
    ASSERT_EQ(found[i].targets(), int64_t(pairs[i].target.size()));
    for (int64_t t = 0; t < found[i].targets(); ++t) {
      const auto row = found[i].row(t);
      EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-5);
    }
  }
}

TEST_F(Alignments, DoNotDependOnTheBatchToTheBit) {
  const auto pairs = random_pairs(30);
  const auto expected = of(pairs);
  for (const size_t together : {1, 3, 11})
    for (size_t from = 0; from < pairs.size(); from += together) {
      const auto found = of(std::span(pairs).subspan(from, std::min(together, pairs.size() - from)));
      for (size_t i = 0; i < found.size(); ++i)
        EXPECT_EQ(found[i].weights, expected[from + i].weights) << from + i << " " << together;
    }
}

TEST_F(Alignments, OfAnEmptyTargetAreEmpty) {
  const std::vector<IdPair> pairs = {{{5, eos_id}, {}}, {{5, 6, eos_id}, {7, eos_id}}};
  EXPECT_EQ(of(std::span(pairs).first(1))[0].targets(), 0);
  const auto both = of(pairs);
  EXPECT_EQ(both[0].targets(), 0);
  EXPECT_EQ(both[1].targets(), 2);
}

// The observer records the last layer's mean over heads, computed here from all observed weights.
TEST_F(Alignments, AreTheMeanOverHeadsOfTheLastLayer) {
  ModelConfig config = toy_config();
  config.decoder_layers = 3;
  model = toy_model(arena, 2, config);
  packed = model->parameters().pack();
  const auto pairs = random_pairs(1);
  const int64_t T = int64_t(pairs[0].target.size()), S = int64_t(pairs[0].source.size());
  std::vector<double> expected(T * S);
  const AttentionObserver observer = [&](const ObservedAttention& a) {
    if (a.name != "decoder.2.cross_attention") return;
    for (int64_t i = 0; i < T * S; ++i)
      expected[i] = (double(a.weights.as<float>()[i]) + double(a.weights.as<float>()[T * S + i])) / 2;
  };
  Context cx{.backend = backend("cpu"), .arena = arena, .packed = &packed, .observer = &observer};
  const auto packed_ids = [](const std::vector<int32_t>& ids) {
    return PackedIds{ids, Spans::of_lengths({int32_t(ids.size())})};
  };
  model->loss(cx, {packed_ids(pairs[0].source), packed_ids(pairs[0].target), {0}}, 0);
  EXPECT_THAT(of(pairs)[0].weights, testing::Pointwise(testing::FloatNear(1e-6), expected));
}

TEST(AlignmentsOfAModel, WithoutCrossAttentionAreAnError) {
  ModelConfig without_attention{.type = ModelType::s2s};
  without_attention.rnn.decoder.attention = RnnAttention::none;
  EXPECT_NO_THROW(require_cross_attention({}));
  EXPECT_NO_THROW(require_cross_attention({.type = ModelType::s2s}));
  EXPECT_THROW(require_cross_attention({.type = ModelType::decoder_only}), Error);
  EXPECT_THROW(require_cross_attention(without_attention), Error);
}

}  // namespace
}  // namespace dragoman
