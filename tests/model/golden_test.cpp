#include <gtest/gtest.h>

#include <cmath>

#include "backend/backend.h"
#include "backend/registry.h"
#include "io/config_json.h"
#include "io/safetensors.h"
#include "model/model.h"
#include "tests/model/golden_file.h"

namespace dragoman {
namespace {

// Whole models against PyTorch's, in f64: logits, loss, every gradient, ten Adam updates (tests/golden/make.py,
// make_rnn.py, make_experts.py, make_memory.py, make_batch_norm.py).
class Golden : public ::testing::TestWithParam<const char*> {
 protected:
  Golden() : golden_(GetParam()), backend_(backend("reference")) {
    model_ = make_model(golden_.config(), backend_, arena_, DType::f64, true);
    golden_.load_parameters(model_->parameters());
  }
  void expect_near(const Tensor& value, const std::vector<double>& expected, double tolerance,
                   const std::string& what) {
    ASSERT_EQ(value.elements(), int64_t(expected.size())) << what;
    double largest = 1e-3, worst = 0;
    for (double x : expected) largest = std::max(largest, std::abs(x));
    for (size_t i = 0; i < expected.size(); ++i) worst = std::max(worst, std::abs(value.as<double>()[i] - expected[i]));
    EXPECT_LE(worst, tolerance * largest) << what;
  }
  double backward() {
    Tape tape;
    Context cx{.backend = backend_, .arena = arena_, .tape = &tape};
    cx.training = golden_.config().norm_kind == NormKind::batch;  // there is no dropout
    model_->parameters().forget_gradients();
    const TokenLoss loss = model_->loss(cx, golden_.batch(), 0.1);
    tape.backward(backend_, arena_);
    backend_.sum(Grad{loss_}, loss.loss);
    return *loss_.as<double>();
  }

  const GoldenFile golden_;
  const Backend& backend_;
  Arena arena_;
  std::unique_ptr<Model> model_;
  Tensor loss_ = arena_.allocate({1}, DType::f64);
};

TEST_P(Golden, LogitsAreThoseOfPyTorch) {
  Context cx{.backend = backend_, .arena = arena_};
  expect_near(model_->logits(cx, golden_.batch()), golden_.values("logits"), 1e-9, "logits");
}

TEST_P(Golden, LossAndEveryGradientAreThoseOfPyTorch) {
  EXPECT_NEAR(backward(), golden_.values("loss")[0], 1e-9);
  for (const auto& p : model_->parameters().named())
    if (p.trained) expect_near(p.gradient, golden_.values("g/" + p.name), 1e-8, p.name);
}

TEST_P(Golden, TenAdamUpdatesGoWherePyTorchGoes) {
  std::vector<AdamTensor> tensors;
  for (const Var& v : model_->parameters().buffers()) {
    if (!v.node()) continue;
    const Tensor m = arena_.allocate(v.shape(), DType::f64), s = arena_.allocate(v.shape(), DType::f64);
    backend_.fill(m, 0.0);
    backend_.fill(s, 0.0);
    tensors.push_back({v, v.node()->gradient, m, s});
  }
  const auto target_tokens = double(golden_.batch().target.ids.size());
  for (int t = 1; t <= 10; ++t) {
    EXPECT_NEAR(backward(), golden_.values("adam_losses")[t - 1], 1e-7) << "update " << t;
    backend_.adam(tensors,
                  AdamStep{1e-3, 0.9, 0.98, 1e-9, 0, 1 - std::pow(0.9, t), 1 - std::pow(0.98, t), target_tokens},
                  AdamTotals{loss_, loss_});
  }
  for (const auto& p : model_->parameters().named()) expect_near(p.value, golden_.values("a/" + p.name), 1e-7, p.name);
}

INSTANTIATE_TEST_SUITE_P(Models, Golden,
                         ::testing::Values("post_norm", "pre_norm", "learned_positions", "head_norm", "rnn_bahdanau",
                                           "rnn_luong", "rnn_predictive", "rnn_hierarchical", "experts",
                                           "compressed_memory", "batch_norm"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace dragoman
