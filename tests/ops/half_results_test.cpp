#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backend/backend.h"
#include "tests/op_check/gpu.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

// Products whose results, or the gradients of these, have 16 bits: as those in f32, rounded once.
namespace dragoman {
namespace {

using Values = std::vector<double>;

Values numbers_of(const Tensor& tensor) {
  const Tensor x = tensor.on_host();
  Values values;
  for_stored(x.dtype(), [&]<class T>() {
    const auto X = x.view<T>();
    for (int64_t n = 0; n < X.rows; ++n)
      for (int64_t d = 0; d < X.cols; ++d) values.push_back(double(float(X(n, d))));
  });
  return values;
}

/// Fails unless each number is that of `exact`, of f32, rounded to the type once. Sums in f32 may differ a little. If
/// `terms` are given, they may have been rounded too, before something was added to them.
void expect_rounded_once(const Tensor& actual, const Values& exact, const std::string& what, const Values& terms = {}) {
  const double step = actual.dtype() == DType::bf16 ? 0x1p-8 : 0x1p-11;
  const Values rounded = numbers_of(actual);
  ASSERT_EQ(rounded.size(), exact.size()) << what;
  for (size_t i = 0; i < exact.size(); ++i)
    ASSERT_NEAR(rounded[i], exact[i], step * (std::abs(exact[i]) + (terms.empty() ? 0 : std::abs(terms[i]))) + 2e-6)
        << what << ", element " << i;
}

struct ProductSize {
  int64_t N, K, D;
};

class HalfResults : public testing::TestWithParam<const char*>, protected ByHand {
 protected:
  HalfResults() : ByHand(backend_or_reference(), DType::f32) {}

  /// cuBLASLt rounds some products before it adds a bias or the previous result (its kernels for rows of odd lengths
  /// on an H200, for one).
  bool may_round_terms() const { return GetParam() == std::string("gpu"); }
  void SetUp() override {
    if (GetParam() == std::string("gpu") && !why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
  }

  /// Normal numbers, and the same rounded to `type` in rows whose stride is `padding` more than their length.
  Tensor rounded(Shape shape, uint64_t stream, DType type, int64_t padding = 0) {
    const bool matrix = shape.rank() == 2;
    const int64_t rows = matrix ? shape[0] : 1, cols = shape.back();
    const Tensor all = matrix ? arena.allocate({rows, cols + padding}, type) : arena.allocate(shape, type);
    const Tensor host = all.on_host();
    const Values values = normals(rows * cols, stream);
    for_stored(type, [&]<class T>() {
      const auto X = host.view<T>();
      for (int64_t n = 0; n < rows; ++n)
        for (int64_t d = 0; d < cols; ++d) X(n, d) = T(float(values[n * cols + d]));
    });
    all.assign(host);
    return matrix ? all.columns(0, cols) : all;
  }
  /// The numbers of x in f32.
  Tensor widened(const Tensor& x) { return x ? tensor_of(arena, x.shape(), numbers_of(x), DType::f32) : Tensor(); }

 private:
  static const Backend& backend_or_reference() {
    const std::string name = GetParam();
    return test_backend(name == "gpu" && !why_no_gpu().empty() ? "reference" : name);
  }
};

const ProductSize sizes[] = {{0, 8, 8}, {1, 1, 1}, {3, 16, 8}, {17, 33, 35}, {33, 6, 131}, {70, 64, 40}, {300, 40, 17}};

TEST_P(HalfResults, AreRoundedOnceWhateverTheBiasAndTheActivation) {
  for (const DType half : {DType::bf16, DType::f16})
    for (const auto& [N, K, D] : sizes)
      for (const int64_t padding : {0, 1})
        for (const Activation act : {Activation::none, Activation::relu, Activation::gelu})
          for (const bool biased : {false, true}) {
            const Tensor x = rounded({N, K}, 1, half), w = rounded({D, K}, 2, half),
                         b = biased ? rounded({D}, 3, half) : Tensor(), y = rounded({N, D}, 4, half, padding),
                         exact = empty({N, D}), product = empty({N, D});
            cx.backend.linear(exact, x, w, widened(b), act);
            cx.backend.linear(product, x, w, Tensor(), Activation::none);
            cx.backend.linear(y, x, w, b, act);
            expect_rounded_once(y, values_of(exact),
                                fmt::format("{} {} {} {} padded by {}, bias {}", half, N, K, D, padding, biased),
                                biased && may_round_terms() ? values_of(product) : Values());
          }
}

TEST_P(HalfResults, AreWrittenOrAddedAsGradientsOfInputs) {
  for (const DType half : {DType::bf16, DType::f16})
    for (const auto& [N, K, D] : sizes)
      for (const Accumulate mode : {Accumulate::no, Accumulate::yes}) {
        const Tensor dz = rounded({N, D}, 1, half), w = rounded({D, K}, 2, half), dx = rounded({N, K}, 3, half),
                     exact = widened(dx), product = empty({N, K});
        cx.backend.linear_backward_input(Grad{exact, mode}, dz, w);
        cx.backend.linear_backward_input(Grad{product}, dz, w);
        cx.backend.linear_backward_input(Grad{dx, mode}, dz, w);
        expect_rounded_once(dx, values_of(exact), fmt::format("{} {} {} {} {}", half, N, K, D, int(mode)),
                            mode == Accumulate::yes && may_round_terms() ? values_of(product) : Values());
      }
}

TEST_P(HalfResults, HaveGradientsThatAreSummedWithTheProductThatReadsThem) {
  for (const DType half : {DType::bf16, DType::f16}) {
    for (const auto& [N, K, D] : sizes)
      for (const Accumulate mode : {Accumulate::no, Accumulate::yes}) {
        const std::string what = fmt::format("{} {} {} {} {}", half, N, K, D, int(mode));
        const Tensor dz = rounded({N, D}, 1, half), x = rounded({N, K}, 2, half), dw = random({D, K}, 3),
                     db = random({D}, 4), dw_alone = widened(dw), db_alone = widened(db);
        Values sums = mode == Accumulate::yes ? values_of(db) : Values(D);
        const Values numbers = numbers_of(dz);
        for (int64_t i = 0; i < N * D; ++i) sums[i % D] += numbers[i];
        cx.backend.linear_backward_weight(Grad{dw, mode}, Grad{db, mode}, dz, x);
        cx.backend.linear_backward_weight(Grad{dw_alone, mode}, Grad{}, dz, x);
        cx.backend.linear_backward_weight(Grad{}, Grad{db_alone, mode}, dz, x);
        expect_close(values_of(dw), values_of(dw_alone), 1e-5, what);
        expect_close(values_of(db), sums, 1e-5, what);
        expect_close(values_of(db_alone), sums, 1e-5, what + ", without dw");
        EXPECT_EQ(numbers_of(dz), numbers) << what;
      }
  }
}

TEST_P(HalfResults, HaveGradientsOfAnyTypeAndSumThemBeforeRounding) {
  for (const DType half : {DType::bf16, DType::f16})
    for (const auto& [N, D] : {std::pair(0, 3), std::pair(1, 1), std::pair(33, 17), std::pair(600, 40)})
      for (int types = 0; types < 8; ++types)
        for (const Activation act : {Activation::none, Activation::relu}) {
          const auto type = [&](int bit) { return types & bit ? half : DType::f32; };
          const Tensor dy = rounded({N, D}, 1, type(1)), y = rounded({N, D}, 2, type(2)),
                       dz = rounded({N, D}, 3, type(4)), db = rounded({D}, 4, DType::f32), db_exact = widened(db),
                       dz_exact = empty({N, D});
          cx.backend.linear_backward_result(dz_exact, Grad{db_exact, Accumulate::yes}, widened(dy), widened(y), act);
          cx.backend.linear_backward_result(dz, Grad{db, Accumulate::yes}, dy, y, act);
          const std::string what = fmt::format("{} {} {} types {}", half, N, D, types);
          if (is_half(dz.dtype()))
            expect_rounded_once(dz, values_of(dz_exact), what);
          else
            EXPECT_EQ(values_of(dz), values_of(dz_exact)) << what;
          EXPECT_EQ(values_of(db), values_of(db_exact)) << what;
        }
}

/// A loss and its gradients, of 16-bit factors.
struct Loss {
  Values loss, log_prob, dx, dw, dbias;
};

/// The same from given logits (N,V), in f64; their gradient is rounded to `half`.
Loss loss_of(const Values& logits, const Values& x, const Values& w, const std::vector<int32_t>& targets,
             ProductSize size, double smoothing, DType half) {
  const auto [N, D, V] = size;
  Loss l{Values(N), Values(N), Values(N * D), Values(V * D), Values(V)};
  for (int64_t n = 0; n < N; ++n) {
    const double* const z = &logits[n * V];
    const double top = *std::max_element(z, z + V);
    double sum = 0, total = 0;
    for (int64_t v = 0; v < V; ++v) sum += std::exp(z[v] - top), total += z[v];
    const double lse = top + std::log(sum);
    l.log_prob[n] = z[targets[n]] - lse;
    l.loss[n] = -(1 - smoothing) * l.log_prob[n] - smoothing * (total / double(V) - lse);
    for (int64_t v = 0; v < V; ++v) {
      const double dz = std::exp(z[v] - lse) - (v == targets[n] ? 1 - smoothing : 0) - smoothing / double(V);
      const double rounded = half == DType::bf16 ? float(bfloat16(float(dz))) : float(float16(float(dz)));
      l.dbias[v] += rounded;
      for (int64_t d = 0; d < D; ++d)
        l.dx[n * D + d] += rounded * w[v * D + d], l.dw[v * D + d] += rounded * x[n * D + d];
    }
  }
  return l;
}

// The stand-in's shared memory holds a row of 50,176 logits, and a chunk has 8,192 rows.
TEST_P(HalfResults, AreLogitsInTrainingAndNotInScoring) {
  const double smoothing = 0.1;
  for (const DType half : {DType::bf16, DType::f16})
    for (const ProductSize& size : {ProductSize{1, 1, 1}, ProductSize{33, 17, 40}, ProductSize{5, 3, 131},
                                    ProductSize{2, 2, 50'200}, ProductSize{8200, 2, 4}})
      for (const bool biased : {false, true}) {
        const int64_t N = size.N, D = size.K, V = size.D;
        if (N > 1000 && half == DType::f16) continue;  // a second chunk is the same in any type
        const std::string what = fmt::format("{} {} {} {} bias {}", half, N, D, V, biased);
        const Tensor x = rounded({N, D}, 1, half), w = rounded({V, D}, 2, half), z = rounded({N, V}, 3, half),
                     exact_z = empty({N, V}), bias = rounded({V}, 4, DType::f32), loss = empty({N}),
                     log_prob = empty({N}), dx = empty({N, D}), dw = empty({V, D}), dbias = empty({V});
        std::vector<int32_t> targets(N);
        for (int64_t n = 0; n < N; ++n) targets[n] = int32_t(n * 7 % V);
        Backend::LinearCrossEntropy l{.loss = loss, .log_prob = log_prob, .x = x, .w = w};
        l.targets = int_tensor(targets, {N});
        l.label_smoothing = smoothing;
        l.scratch = arena.allocate({cx.backend.linear_cross_entropy_scratch(N, V, half)}, DType::u8);
        if (biased) l.bias = bias;
        cx.backend.linear(exact_z, x, w, Tensor(), Activation::none);
        cx.backend.linear(z, x, w, Tensor(), Activation::none);
        const auto expected_of = [&](const Tensor& logits) {
          Values all = numbers_of(logits);
          const Values b = numbers_of(bias);
          for (int64_t i = 0; biased && i < N * V; ++i) all[i] += b[i % V];
          return loss_of(all, numbers_of(x), numbers_of(w), targets, size, smoothing, half);
        };
        cx.backend.linear_cross_entropy(l);
        const Loss scored = expected_of(exact_z), trained = expected_of(z);
        expect_close(values_of(loss), scored.loss, 1e-5, what);
        expect_close(values_of(log_prob), scored.log_prob, 1e-5, what);
        l.dx = {dx}, l.dw = {dw}, l.dbias = {dbias};
        cx.backend.linear_cross_entropy(l);
        expect_close(values_of(loss), trained.loss, 1e-5, what);
        expect_close(values_of(log_prob), trained.log_prob, 1e-5, what);
        expect_close(values_of(dx), trained.dx, 4e-3, what + " dx");
        expect_close(values_of(dw), trained.dw, 4e-3, what + " dw");
        expect_close(values_of(dbias), trained.dbias, 4e-3, what + " dbias");
      }
}

INSTANTIATE_TEST_SUITE_P(Backends, HalfResults, testing::Values("gpu kernels on the host"),
                         [](const auto& info) { return std::string(info.param).substr(0, 3); });
INSTANTIATE_TEST_SUITE_P(GpusAgreeWithTheReference, HalfResults, testing::Values("gpu"));

}  // namespace
}  // namespace dragoman
