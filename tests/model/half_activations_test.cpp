#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "backend/backend.h"
#include "backend/registry.h"
#include "model/model.h"
#include "tests/model/attention_family.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

// Pairs of more tokens than attention kernels take at once.
Batch long_batch() {
  const auto ids = [](const std::vector<int32_t>& lengths, int32_t step) {
    PackedIds packed{{}, Spans::of_lengths(lengths)};
    for (int32_t i = 0; i < packed.spans.rows(); ++i) packed.ids.push_back(3 + i * step % 8);
    return packed;
  };
  return {ids({4, 21, 7}, 3), ids({19, 6, 37}, 5), {0, 1, 2}};
}

using Gradients = std::map<std::string, std::vector<double>>;

// In 16 bits: products, and activations except those of recurrent models, whose cells compute in float32.
Gradients gradients_of(const Variant& v, bool half) {
  const Backend& cpu = backend("cpu");
  Arena arena;
  ModelConfig config = v.config();
  config.max_positions = 64;
  const auto model = make_model(config, cpu, arena, DType::f32, true);
  Parameters& parameters = model->parameters();
  parameters.initialise(7);
  std::optional<RoundedWeights> rounded;
  if (half) parameters.round(rounded.emplace(parameters.rounded_weights(DType::bf16, !v.recurrent())));
  Tape tape;
  Context cx{.backend = cpu, .arena = arena, .tape = &tape, .rounded = rounded ? &*rounded : nullptr};
  cx.training = true;
  parameters.forget_gradients();
  model->loss(cx, long_batch(), 0.1);
  tape.backward(cpu, arena);
  parameters.zero_unwritten_gradients();
  Gradients gradients;
  for (const auto& p : parameters.named())
    if (p.has_gradient()) gradients[p.name] = values_of(p.gradient);
  return gradients;
}

double norm_of(const std::vector<double>& x) {
  return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
}

// Rounding changes some gradients by a tenth; an op that overwrites what another one has added changes many by more.
TEST_P(AttentionFamily, HasNearlyTheSameGradientsIn16Bits) {
  const Gradients expected = gradients_of(GetParam(), false), rounded = gradients_of(GetParam(), true);
  double all = 0;
  for (const auto& [name, gradient] : expected) all = std::hypot(all, norm_of(gradient));
  for (const auto& [name, gradient] : expected) {
    std::vector<double> difference = rounded.at(name);
    for (size_t i = 0; i < gradient.size(); ++i) difference[i] -= gradient[i];
    EXPECT_LT(norm_of(difference), 0.1 * norm_of(gradient) + 0.05 * all) << name;
  }
}

}  // namespace
}  // namespace dragoman
