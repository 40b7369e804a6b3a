#include "ops/embedding.h"
#include "backend/backend.h"

#include <gmock/gmock.h>

#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

enum class PositionTable { none, fixed, learned };

struct EmbeddingCase {
  std::string name;
  std::vector<int32_t> offsets;  // of the sentences
  int64_t V, D;
  PositionTable position_table = PositionTable::none;
  double rate = 0;
  int64_t zero_rows = 0;  // the first of every so many tokens has no row of the table
  double word_rate = 0;
};

OpCase embedding_case(const EmbeddingCase& e) {
  const Spans spans(e.offsets);
  const int64_t N = spans.rows(), P = std::max(1, spans.longest());
  OpCase c{.name = e.name, .inputs = {{"table", {e.V, e.D}}}};
  if (e.position_table == PositionTable::learned) c.inputs.push_back({"positions", {P, e.D}});
  std::vector<int32_t> ids(N);
  for (int64_t n = 0; n < N; ++n) ids[n] = int32_t(n * 7 % e.V);  // some ids twice, some never
  for (int64_t n = 0; e.zero_rows > 0 && n < N; n += e.zero_rows) ids[n] = -1;
  c.op = [=, ids = int_tensor(ids, {N}), positions = positions_of(spans)](Context& cx, const OpInputs& in) {
    EmbeddingInput input{.ids = ids, .positions = positions, .table = in.at("table"), .scale = 1.5};
    if (e.position_table == PositionTable::learned) input.position_table = in.at("positions");
    if (e.position_table == PositionTable::fixed) {
      input.position_table = Var(cx.save({P, e.D}, input.table.dtype()));
      cx.backend.fill(input.position_table, 0.25);
    }
    input.words = cx.dropout(e.word_rate, positions);
    return embedding(cx, input, cx.dropout(e.rate, positions));
  };
  return c;
}

INSTANTIATE_TEST_SUITE_P(
    Embedding, OpCheck,
    testing::ValuesIn(std::vector{
        embedding_case({"no rows", {0}, 5, 3}),
        embedding_case({"one row one column", {0, 1}, 1, 1}),
        embedding_case({"without positions", {0, 3, 17}, 11, 17}),
        embedding_case({"with positions", {0, 3, 17}, 11, 17, PositionTable::fixed}),
        embedding_case({"with learned positions", {0, 3, 4, 17}, 5, 33, PositionTable::learned}),
        embedding_case({"with dropout", {0, 3, 17}, 11, 300, PositionTable::fixed, 0.3}),
        embedding_case({"with learned positions and dropout", {0, 1, 33}, 7, 150, PositionTable::learned, 0.3}),
        embedding_case({"with rows of zeros", {0, 3, 4, 17}, 5, 33, PositionTable::learned, 0.3, 3}),
        embedding_case({"only rows of zeros", {0, 1}, 5, 33, PositionTable::fixed, 0, 1}),
        embedding_case({"with dropout of words", {0, 3, 4, 17}, 5, 33, PositionTable::learned, 0, 0, 0.5}),
        embedding_case({"with both kinds of dropout", {0, 3, 17}, 5, 150, PositionTable::fixed, 0.3, 3, 0.5}),
        embedding_case({"a long sentence", {0, 500}, 33, 5, PositionTable::learned}),
        embedding_case({"100 times the same piece", {0, 100}, 1, 130, PositionTable::fixed, 0.3}),
    }),
    name_of_case);

// 2 · (3, 4) + (30, 40) and 2 · (1, 2) + (10, 20).
TEST(Embedding, ScalesTheRowOfTheIdAndAddsThatOfTheToken) {
  ByHand t;
  const Var table = t.var({2, 2}, {1, 2, 3, 4}), position_table = t.var({2, 2}, {10, 20, 30, 40});
  const Var y = embedding(t.cx,
                          {.ids = int_tensor({1, 0, 1}, {3}),
                           .positions = int_tensor({0, 1, 1, 0, 2, 1}, {3, 2}),
                           .table = table,
                           .position_table = position_table,
                           .scale = 2},
                          {});
  EXPECT_THAT(values_of(y), ElementsAre(36, 48, 12, 24, 36, 48));
  t.backward(y, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(values_of(table.node()->gradient), ElementsAre(6, 8, 12, 16));
  EXPECT_THAT(values_of(position_table.node()->gradient), ElementsAre(3, 4, 6, 8));
}

// What a decoder reads before the first token may be no piece at all.
TEST(Embedding, OfNoIdIsThePositionAlone) {
  ByHand t;
  const Var table = t.var({2, 2}, {1, 2, 3, 4}), position_table = t.var({1, 2}, {10, 20});
  const Var y = embedding(t.cx,
                          {.ids = int_tensor({-1, 1}, {2}),
                           .positions = int_tensor({0, 0, 1, 0}, {2, 2}),
                           .table = table,
                           .position_table = position_table,
                           .scale = 2},
                          {});
  EXPECT_THAT(values_of(y), ElementsAre(10, 20, 16, 28));
  t.backward(y, {1, 2, 3, 4});
  EXPECT_THAT(values_of(table.node()->gradient), ElementsAre(0, 0, 6, 8));
  EXPECT_THAT(values_of(position_table.node()->gradient), ElementsAre(4, 6));
}

// A dropped word keeps its position, (10, 20); the rows of others are divided by the share of words that are kept.
TEST(Embedding, DropsWholeWords) {
  constexpr int N = 4000;
  ByHand t;
  t.cx.training = true;
  const Tensor ids = int_tensor(std::vector<int32_t>(N, 1), {N}), positions = positions_of(Spans({0, N}));
  const Var table = t.var({2, 2}, {1, 2, 3, 6});
  Var position_table = Var(t.cx.save({N, 2}, DType::f64));
  t.cx.backend.fill(position_table, 10);
  const Var y = embedding(t.cx, {ids, positions, table, position_table, 2, t.cx.dropout(0.25, positions)},
                          t.cx.dropout(0, positions));
  const std::vector<double> values = values_of(y);
  int dropped = 0;
  for (size_t n = 0; n < N; ++n) {
    const bool drop = values[2 * n] == 10;
    dropped += drop;
    EXPECT_EQ(values[2 * n], drop ? 10 : 18) << n;
    EXPECT_EQ(values[2 * n + 1], drop ? 10 : 26) << n;
  }
  EXPECT_NEAR(dropped, 0.25 * N, 4 * std::sqrt(N * 0.25 * 0.75));
  t.backward(y, std::vector<double>(2 * N, 1));
  const auto kept = testing::DoubleNear((N - dropped) * 8 / 3., 1e-9);
  EXPECT_THAT(values_of(table.node()->gradient), ElementsAre(0, 0, kept, kept));
}

TEST(Embedding, RefusesShapesThatDoNotFitAndNamesThem) {
  ByHand t;
  const Tensor ids = int_tensor({0, 1, 0}, {3}), positions = positions_of(Spans({0, 3}));
  const Var table = t.random({2, 4});
  const auto embed = [&](EmbeddingInput input, Dropout drop = {}) {
    return error_of([&] { embedding(t.cx, input, drop); });
  };
  EXPECT_THAT(embed({ids, positions, t.random({4})}), AllOf(HasSubstr("(4)"), HasSubstr("(V,D)")));
  EXPECT_THAT(embed({ids, positions_of(Spans({0, 2})), table}), AllOf(HasSubstr("(2,2)"), HasSubstr("(3,2)")));
  EXPECT_THAT(embed({ids, positions, table, t.random({9, 5})}), AllOf(HasSubstr("(9,5)"), HasSubstr("(P,4)")));
  EXPECT_THAT(embed({ids, positions, table, {}, 1, {.rate = 0.1, .positions = positions_of(Spans({0, 2}))}}),
              AllOf(HasSubstr("(2,2)"), HasSubstr("(3,2)")));
  EXPECT_THAT(embed({ids, positions, table}, {.rate = 0.1, .positions = positions_of(Spans({0, 2}))}),
              AllOf(HasSubstr("(2,2)"), HasSubstr("(3,2)")));
}

}  // namespace
}  // namespace dragoman
