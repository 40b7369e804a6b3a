#include "tests/op_check/op_check.h"

#include <fmt/format.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstring>
#include <set>

#include "backend/backend.h"
#include "base/philox.h"
#include "tests/op_check/gpu.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using Values = std::map<std::string, std::vector<double>>;

/// One way of running a case.
struct Setting {
  std::string backend = "reference";
  DType dtype = DType::f64;
  DType factors = dtype;     // operand type of products
  bool activations = false;  // whether activations between products have that type too
  bool tape = true;
  std::set<std::string> frozen;  // names of the inputs that take no gradient
  const Values* before{};        // gradients that exist before the backward pass
};

struct OpRun {
  std::vector<double> output;
  bool is_loss = false;
  Values gradients;
  int64_t peak = 0;  // bytes
};

/// Fills the memory of the next tensors with NaN.
void poison(Arena& arena) {
  const Tensor block = arena.allocate({1 << 18}, DType::u8), bytes = block.on_host();
  std::memset(bytes.data(), 0xFF, size_t(bytes.bytes()));
  block.assign(bytes);
}

Arena arena_of(const Setting& s, const Backend& backend) {
  constexpr auto capacity = int64_t{1} << 30;
  if (backend.memory) return Arena(*backend.memory, capacity);
  return Arena(s.backend == "dry" ? Arena::Reserve::addresses_only : Arena::Reserve::memory, capacity);
}

/// Inputs as leaves of the tape. Writes nothing on `dry`, where memory consists of addresses only.
OpInputs make_inputs(const OpCase& c, const Values& values, const Setting& s, Arena& arena) {
  OpInputs in;
  for (const auto& [name, shape] : c.inputs) {
    const bool dry = s.backend == "dry";
    const Tensor x = dry ? arena.allocate(shape, s.dtype) : tensor_of(arena, shape, values.at(name), s.dtype);
    const auto node = s.tape && !s.frozen.contains(name) ? std::make_shared<Node>() : nullptr;
    if (node && s.before) {
      node->gradient = tensor_of(arena, shape, s.before->at(name), s.dtype);
      node->written = true;
    }
    in.emplace(name, Var(x, node));
  }
  return in;
}

/// The gradient of the output: fixed random weights, or ones for a loss.
std::vector<double> output_weights(size_t count, bool is_loss) {
  return is_loss ? std::vector<double>(count, 1.0) : normals(int64_t(count), 99);
}

void walk_back(const Var& y, const Setting& s, Tape& tape, const Context& cx) {
  if (const auto& node = y.node()) {
    const DType type = y.gradient_type();
    node->gradient = s.backend == "dry"
                         ? cx.arena.allocate(y.shape(), type)
                         : tensor_of(cx.arena, y.shape(), output_weights(size_t(y.value().elements()), false), type);
    node->written = true;
  }
  tape.backward(cx.backend, cx.arena);
}

/// 16-bit copies of all inputs that may be weights or biases.
RoundedWeights rounded_inputs(const OpInputs& in, const Setting& s, const Backend& backend, Arena& arena) {
  const DType type = s.factors;
  RoundedWeights rounded{.type = type, .activations = s.activations};
  for (const auto& [name, x] : in) {
    if ((x.shape().rank() != 2 && !s.activations) || x.value().elements() == 0) continue;
    const Tensor copy = arena.allocate(x.shape(), type);
    backend.copy(copy, x);
    rounded.copies.emplace(x.value().data(), copy);
  }
  return rounded;
}

OpRun run(const OpCase& c, const Values& values, const Setting& s) {
  const bool dry = s.backend == "dry";
  const Backend& backend = test_backend(s.backend);
  Arena arena = arena_of(s, backend);
  if (!dry) poison(arena);
  arena.reset_peak();
  Tape tape;
  Context cx{.backend = backend, .arena = arena, .tape = s.tape ? &tape : nullptr, .seed = 7, .update = 3};
  cx.training = true;
  const OpInputs in = make_inputs(c, values, s, arena);
  RoundedWeights rounded;
  if (is_half(s.factors)) {
    rounded = rounded_inputs(in, s, backend, arena);
    cx.rounded = &rounded;
  }
  OpRun result;
  const Var y = c.op(cx, in);
  result.is_loss = !y.node();
  if (s.tape) walk_back(y, s, tape, cx);
  result.peak = arena.peak();
  if (dry) return result;
  result.output = values_of(y);
  for (const auto& [name, x] : in) {
    EXPECT_EQ(values_of(x), values.at(name)) << "input " << name << " was written to";
    if (!x.node()) continue;
    EXPECT_TRUE(x.node()->written) << "no gradient came to " << name;
    if (x.node()->gradient) result.gradients[name] = values_of(x.node()->gradient);
  }
  return result;
}

Values draw_values(const OpCase& c, uint64_t stream) {
  Values values;
  for (const auto& [name, shape] : c.inputs) values[name] = normals(shape.elements(), stream++);
  return values;
}

/// The function of the central differences: Σ weights ∘ output.
double loss(const OpCase& c, const Values& values, bool is_loss) {
  const std::vector<double> y = run(c, values, {.tape = false}).output, weights = output_weights(y.size(), is_loss);
  double sum = 0;
  for (size_t i = 0; i < y.size(); ++i) sum += weights[i] * y[i];
  return sum;
}

void check_differences(const OpCase& c, const std::string& input, const OpRun& taped, Values values) {
  constexpr double step = 1e-5;
  const std::vector<double>& gradient = taped.gradients.at(input);
  std::vector<double>& x = values.at(input);
  double largest = 0.01;  // floor for gradients that are zero by symmetry except for rounding
  for (double g : gradient) largest = std::max(largest, std::abs(g));
  PhiloxSequence draw(5, 0);
  const bool all = int(x.size()) <= c.differences;
  for (size_t n = 0; n < (all ? x.size() : size_t(c.differences)); ++n) {
    const size_t i = all ? n : draw.below(x.size());
    const double at = x[i];
    x[i] = at + step;
    const double above = loss(c, values, taped.is_loss);
    x[i] = at - step;
    const double below = loss(c, values, taped.is_loss);
    x[i] = at;
    EXPECT_NEAR(gradient[i], (above - below) / (2 * step), 1e-6 * largest) << "gradient of " << input << ", " << i;
  }
}

/// Whether an op on a tape records how a gradient of its result reaches its inputs.
bool has_backward(const OpCase& c, const Values& values) {
  const Backend& reference = backend("reference");
  Arena arena = arena_of({}, reference);
  Tape tape;
  Context cx{.backend = reference, .arena = arena, .tape = &tape};
  return c.op(cx, make_inputs(c, values, {}, arena)).node() && tape.size() > 0;
}

Values sum_of(Values a, const Values& b) {
  for (auto& [name, values] : a)
    for (size_t i = 0; i < values.size(); ++i) values[i] += b.at(name)[i];
  return a;
}

void expect_close(const OpRun& actual, const std::vector<double>& output, const Values& gradients, DType dtype) {
  dragoman::expect_close(actual.output, output, tolerance(dtype), "output");
  for (const auto& [name, gradient] : actual.gradients)
    dragoman::expect_close(gradient, gradients.at(name), tolerance(dtype), "gradient of " + name);
}

void expect_same_bits(const OpRun& a, const OpRun& b, const char* when) {
  EXPECT_EQ(a.output, b.output) << when;
  for (const auto& [name, gradient] : a.gradients) EXPECT_EQ(gradient, b.gradients.at(name)) << name << ", " << when;
}

/// Law 2 on one backend: `expected` is the result of reference in f64.
void check_backend(const OpCase& c, const Values& values, const OpRun& expected, Setting s) {
  s.tape = c.differences > 0;
  const OpRun plain = run(c, values, s);
  expect_close(plain, expected.output, expected.gradients, s.factors);
  expect_same_bits(plain, run(c, values, s), "in a second run");
  if (!s.tape) return;
  Setting without = s;
  without.tape = false;
  // In training, GPUs round the logits of a loss of 16-bit products too.
  if ((c.masks && s.backend == "gpu") || (plain.is_loss && is_half(s.factors)))
    dragoman::expect_close(run(c, values, without).output, plain.output, tolerance(s.factors), "without a tape");
  else
    EXPECT_EQ(run(c, values, without).output, plain.output) << "without a tape";

  const Values before = draw_values(c, 50);
  Setting adding = s;
  adding.before = &before;
  {
    SCOPED_TRACE("added to gradients that were there");
    expect_close(run(c, values, adding), expected.output, sum_of(expected.gradients, before), s.factors);
  }
  std::set<std::string> all;
  for (const OpInput& input : c.inputs) all.insert(input.name);
  const auto freeze = [&](const std::set<std::string>& inputs) {
    SCOPED_TRACE(fmt::format("{} frozen", fmt::join(inputs, ", ")));
    s.frozen = inputs;
    const OpRun frozen = run(c, values, s);
    for (const std::string& name : all) EXPECT_EQ(frozen.gradients.contains(name), !inputs.contains(name)) << name;
    expect_close(frozen, expected.output, expected.gradients, s.factors);
  };
  for (const std::string& name : all) {
    freeze({name});
    if (all.size() < 3) continue;
    std::set<std::string> others = all;
    others.erase(name);
    freeze(others);
  }
}

}  // namespace

double tolerance(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 1e-13;
    case DType::f32:
      return 1e-5;
    case DType::bf16:
      return 2.5e-2;
    case DType::f16:
      return 6e-3;
    default:
      fail("integers have no tolerance, {} was asked for", dtype);
  }
}

void expect_close(const std::vector<double>& actual, const std::vector<double>& expected, double tolerance,
                  const std::string& what, double floor) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double largest = floor;
  for (double x : expected) largest = std::max(largest, std::abs(x));
  for (size_t i = 0; i < actual.size(); ++i)
    if (!(std::abs(actual[i] - expected[i]) <= tolerance * largest)) {
      ADD_FAILURE() << what << ", element " << i << ": " << actual[i] << ", expected " << expected[i];
      return;  // one failure is enough
    }
}

void for_each_target(const std::function<void()>& f) {
  for (int64_t left = (hwy::SupportedTargets() | HWY_STATIC_TARGET) & HWY_TARGETS; left != 0; left &= left - 1) {
    const int64_t target = left & -left;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    f();
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
  }
}

std::string name_of_case(const testing::TestParamInfo<OpCase>& info) {
  std::string name = info.param.name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

void PrintTo(const OpCase& c, std::ostream* out) { *out << c.name; }

TEST_P(OpCheck, GradientsEqualCentralDifferences) {
  const OpCase& c = GetParam();
  const Values values = draw_values(c, 1);
  if (c.differences == 0) {
    EXPECT_FALSE(has_backward(c, values)) << "differences must check it";
    return;
  }
  const OpRun taped = run(c, values, {});
  for (const OpInput& input : c.inputs) check_differences(c, input.name, taped, values);
}

TEST_P(OpCheck, BackendsAgreeWithTheReference) {
  const OpCase& c = GetParam();
  const Threads one(1);  // waking others costs more than computing these sizes
  const Values values = draw_values(c, 1);
  const OpRun expected = run(c, values, {.tape = c.differences > 0});
  for (const DType dtype : {DType::f64, DType::f32}) {
    SCOPED_TRACE(fmt::format("reference in {}", dtype));
    check_backend(c, values, expected, {.dtype = dtype});
  }
  const Setting cpu{.backend = "cpu", .dtype = DType::f32, .tape = c.differences > 0};
  for_each_target([&] { check_backend(c, values, expected, cpu); });
  const Setting half{.backend = "cpu", .dtype = DType::f32, .factors = DType::bf16, .activations = true};
  if (c.rounds) for_each_target([&] { check_backend(c, values, expected, half); });
  SCOPED_TRACE("two threads");
  const Threads two(2);
  const OpRun shared = run(c, values, cpu);
  expect_close(shared, expected.output, expected.gradients, cpu.dtype);
  expect_same_bits(shared, run(c, values, cpu), "in a second run");
}

void check_gpu(const OpCase& c, const std::string& name) {
  const Values values = draw_values(c, 1);
  const OpRun expected = run(c, values, {.tape = c.differences > 0});
  for (const DType factors : {DType::f32, DType::bf16, DType::f16}) {
    if (is_half(factors) && !c.rounds) continue;
    SCOPED_TRACE(fmt::format("products of {}", factors));
    check_backend(c, values, expected, {.backend = name, .dtype = DType::f32, .factors = factors});
    if (is_half(factors))
      check_backend(c, values, expected,
                    {.backend = name, .dtype = DType::f32, .factors = factors, .activations = true});
  }
}

TEST_P(OpCheck, KernelsForGpusAgreeWithTheReference) { check_gpu(GetParam(), "gpu kernels on the host"); }

TEST_P(OpCheck, GpusAgreeWithTheReference) {
  if (const std::string reason = why_no_gpu(); !reason.empty()) GTEST_SKIP() << reason;
  check_gpu(GetParam(), "gpu");
}

TEST_P(OpCheck, DryRunsNeedTheMemoryOfRealOnes) {
  const bool tape = GetParam().differences > 0;
  const Values values = draw_values(GetParam(), 1);
  const int64_t real = run(GetParam(), values, {.backend = "cpu", .dtype = DType::f32, .tape = tape}).peak;
  EXPECT_EQ(run(GetParam(), values, {.backend = "dry", .dtype = DType::f32, .tape = tape}).peak, real);
}

}  // namespace dragoman
