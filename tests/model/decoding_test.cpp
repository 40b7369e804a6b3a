#include <gtest/gtest.h>

#include <cmath>

#include "backend/registry.h"
#include "tests/model/golden_file.h"

namespace dragoman {
namespace {

std::vector<double> row(const Tensor& x, int64_t n) {
  std::vector<double> out(x.cols());
  for_dtype(x.dtype(), [&]<class T>() { std::copy_n(x.view<T>().row(n), x.cols(), out.begin()); });
  return out;
}

// Feeds the batch's own targets step by step; gives logits in the order of the packed target rows.
std::vector<std::vector<double>> forced_logits(Model& model, Context& cx, const Batch& batch) {
  std::vector<std::vector<double>> out(batch.target.ids.size());
  const auto decoding = model.decode(cx);
  const int first = decoding->add(batch.source, 1);
  std::vector<int> previous(batch.target.spans.sentences(), -1);
  for (int64_t t = 0; t < batch.target.spans.longest(); ++t) {
    std::vector<StepRow> rows;
    std::vector<int64_t> packed;
    for (int s = 0; s < batch.target.spans.sentences(); ++s) {
      const Range span = batch.target.spans[s];
      if (t == span.end - span.begin) decoding->remove(first + s);
      if (t >= span.end - span.begin) continue;
      rows.push_back({first + s, previous[s], t == 0 ? bos_id : batch.target.ids[span.begin + t - 1]});
      previous[s] = int(rows.size()) - 1;
      packed.push_back(span.begin + t);
    }
    const Tensor logits = decoding->step(rows);
    for (size_t r = 0; r < rows.size(); ++r) out[packed[r]] = row(logits, int64_t(r));
  }
  return out;
}

struct Case {
  const char* golden;
  const char* backend;
  DType dtype;
  double tolerance;
};

class CachedStep : public ::testing::TestWithParam<Case> {};

TEST_P(CachedStep, EqualsTheFullPass) {
  const GoldenFile golden(GetParam().golden);
  const Backend& b = backend(GetParam().backend);
  Arena arena;
  const auto model = make_model(golden.config(), b, arena, GetParam().dtype, false);
  golden.load_parameters(model->parameters());
  const PackedWeights packed = model->parameters().pack();
  Context cx{.backend = b, .arena = arena, .packed = &packed};
  const Batch batch = golden.batch();
  const Tensor full = model->logits(cx, batch);
  const auto steps = forced_logits(*model, cx, batch);
  for (size_t n = 0; n < steps.size(); ++n) {
    const auto expected = row(full, int64_t(n));
    for (size_t v = 0; v < expected.size(); ++v) ASSERT_NEAR(steps[n][v], expected[v], GetParam().tolerance) << n;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, CachedStep,
                         ::testing::Values(Case{"post_norm", "reference", DType::f64, 1e-10},
                                           Case{"pre_norm", "reference", DType::f64, 1e-10},
                                           Case{"learned_positions", "reference", DType::f64, 1e-10},
                                           Case{"post_norm", "cpu", DType::f32, 1e-4},
                                           Case{"pre_norm", "cpu", DType::f32, 1e-4},
                                           Case{"learned_positions", "cpu", DType::f32, 1e-4}));

TEST(Decoding, LogitsOfASentenceAreTheSameBitsAloneAndAmongOthers) {
  const GoldenFile golden("post_norm");
  const Backend& b = backend("cpu");
  Arena arena;
  const auto model = make_model(golden.config(), b, arena, DType::f32, false);
  golden.load_parameters(model->parameters());
  const PackedWeights packed = model->parameters().pack();
  Context cx{.backend = b, .arena = arena, .packed = &packed};
  const Batch batch = golden.batch();
  const auto together = forced_logits(*model, cx, batch);
  for (int s = 0; s < batch.source.spans.sentences(); ++s) {
    const auto one = [&](const PackedIds& side) {
      const Range span = side.spans[s];
      return PackedIds{{side.ids.begin() + span.begin, side.ids.begin() + span.end},
                       Spans::of_lengths({int32_t(span.end - span.begin)})};
    };
    const auto alone = forced_logits(*model, cx, {one(batch.source), one(batch.target), {s}});
    for (size_t t = 0; t < alone.size(); ++t)
      EXPECT_EQ(alone[t], together[batch.target.spans[s].begin + t]) << "sentence " << s << ", token " << t;
  }
}

}  // namespace
}  // namespace dragoman
