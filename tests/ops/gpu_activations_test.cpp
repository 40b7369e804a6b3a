#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "backend/backend.h"
#include "tests/op_check/gpu.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

// Activations in 16 bits on GPUs. The law: a kernel computes with them as with the same numbers in f32, and rounds what
// it writes. So each result is that of the call in f32, rounded: to the last bit.
namespace dragoman {
namespace {

/// Columns of the matrix in which an activation lies, before and after its own.
struct Margins {
  int64_t before, after;
};
constexpr Margins all_margins[] = {{0, 0}, {8, 16}, {1, 2}};

/// One call of a kernel: its tensors, with the same numbers in every call.
class Call {
 public:
  /// `half`: the type of the activations in `rounded`; the others are f32.
  Call(const Backend& backend, Margins margins, DType half, std::set<std::string> rounded)
      : t_(backend, DType::f32, int64_t{1} << 26), margins_(margins), half_(half), rounded_(std::move(rounded)) {}

  const Backend& kernels() const { return t_.cx.backend; }
  DType half() const { return half_; }

  Tensor activation(const std::string& name, Shape shape) {
    names_.push_back(name);
    const Shape whole{shape[0], margins_.before + shape[1] + margins_.after};
    all_[name] = tensor_of(t_.arena, whole, numbers(whole), rounded_.contains(name) ? half_ : DType::f32);
    return all_[name].columns(margins_.before, shape[1]);
  }
  Tensor result(const std::string& name, Shape shape) {
    const Tensor x = activation(name, shape);
    results_.insert(name);
    return x;
  }
  /// In f32, with numbers that 16 bits do not hold.
  Tensor parameter(Shape shape) { return tensor_of(t_.arena, shape, normals(shape.elements(), ++stream_), DType::f32); }
  /// A result in f32.
  Tensor statistic(const std::string& name, Shape shape) {
    results_.insert(name);
    return all_[name] = parameter(shape);
  }
  Tensor scratch(int64_t bytes) { return t_.arena.allocate({std::max<int64_t>(bytes, 1)}, DType::u8); }

  const std::vector<std::string>& names() const { return names_; }
  const std::set<std::string>& results() const { return results_; }
  DType type_of(const std::string& name) const { return all_.at(name).dtype(); }
  /// With the margins, which kernels must leave alone.
  std::vector<double> values(const std::string& name) const { return values_of(all_.at(name)); }

 private:
  /// Numbers that both 16-bit types represent exactly.
  std::vector<double> numbers(const Shape& shape) {
    std::vector<double> values = normals(shape.elements(), ++stream_);
    for (double& v : values) v = float16(float(bfloat16(float(v))));
    return values;
  }

  ByHand t_;
  const Margins margins_;
  const DType half_;
  const std::set<std::string> rounded_;
  uint64_t stream_ = 0;
  std::vector<std::string> names_;
  std::map<std::string, Tensor> all_;
  std::set<std::string> results_;
};

struct Case {
  std::string name;
  std::function<void(Call&)> run;
  bool attention = false;  // all activations have the same type, and products have rounded factors
  bool wide = false;       // rows are so long that each type is tried with one pair of margins
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<double> rounded_to(DType type, std::vector<double> values) {
  for_stored(type, [&]<class T>() {
    for (double& v : values) v = T(v);
  });
  return values;
}

/// Each set of activations that may be rounded.
std::vector<std::set<std::string>> choices(const std::vector<std::string>& names, bool together) {
  if (together) return {{names.begin(), names.end()}};
  std::vector<std::set<std::string>> all;
  for (unsigned bits = 1; bits < 1u << names.size(); ++bits) {
    std::set<std::string>& some = all.emplace_back();
    for (size_t i = 0; i < names.size(); ++i)
      if (bits >> i & 1) some.insert(names[i]);
  }
  return all;
}

void check(const Case& c, const Backend& gpu, Margins margins, DType half) {
  SCOPED_TRACE(fmt::format("margins of {} and {}", margins.before, margins.after));
  Call reference(backend("reference"), margins, half, {}), exact(gpu, margins, half, {});
  c.run(reference), c.run(exact);
  const double error = c.attention ? tolerance(half) : tolerance(DType::f32);
  for (const std::string& name : exact.results()) expect_close(exact.values(name), reference.values(name), error, name);
  for (const std::set<std::string>& some : choices(exact.names(), c.attention)) {
    if (some.contains("k") != some.contains("v")) continue;  // always of one type (backend/attention.h)
    Call rounded(gpu, margins, half, some);
    c.run(rounded);
    for (const std::string& name : exact.results())
      EXPECT_EQ(rounded.values(name), rounded_to(rounded.type_of(name), exact.values(name)))
          << fmt::format("{} where {} are {}", name, testing::PrintToString(some), half);
  }
}

void check(const Case& c, const Backend& gpu) {
  if (c.wide) {
    check(c, gpu, all_margins[1], DType::bf16);
    check(c, gpu, all_margins[2], DType::f16);
    return;
  }
  for (const Margins margins : all_margins)
    for (const DType half : {DType::bf16, DType::f16}) check(c, gpu, margins, half);
}

class GpuActivations : public testing::TestWithParam<Case> {};

TEST_P(GpuActivations, KernelsOnTheHostRoundWhatF32Gives) { check(GetParam(), gpu_on_host()); }

TEST_P(GpuActivations, GpusAgreeWithTheReference) {
  if (const std::string reason = why_no_gpu(); !reason.empty()) GTEST_SKIP() << reason;
  check(GetParam(), gpu());
}

const Spans spans({0, 2, 2, 6});
constexpr int64_t widths[] = {1, 3, 17, 33, 512, 1000};

Dropout dropout_in(const Spans& rows) {
  return {.rate = 0.3, .seed = 5, .update = 3, .op = 2, .positions = positions_of(rows)};
}

std::vector<Case> elementwise_cases() {
  std::vector<Case> cases;
  for (const int64_t D : widths) {
    const Shape shape{spans.rows(), D};
    const auto add = [&](const std::string& name, std::function<void(Call&)> run) {
      cases.push_back({fmt::format("{}_{}", name, D), std::move(run)});
    };
    add("fill", [=](Call& c) { c.kernels().fill(c.result("y", shape), 1.234567); });
    add("copy", [=](Call& c) { c.kernels().copy(c.result("y", shape), c.activation("x", shape)); });
    add("round", [=](Call& c) { c.kernels().copy(c.result("y", shape), c.parameter(shape)); });
    add("copy_from_host", [=](Call& c) {
      std::vector<double> numbers = normals(shape.elements(), 1);
      c.kernels().copy(c.result("y", shape), Tensor::borrow(numbers.data(), shape));
    });
    add("add", [=](Call& c) { c.kernels().add(c.result("y", shape), c.activation("x", shape), 0.3); });
    for (const double rate : {0.0, 0.3}) {
      Dropout drop = dropout_in(spans);
      drop.rate = rate;
      add(fmt::format("dropout_{}", rate), [=](Call& c) {
        c.kernels().dropout(c.result("y", shape), c.activation("x", shape), c.activation("r", shape), drop);
      });
    }
    add("dropout_alone", [=](Call& c) {
      c.kernels().dropout(c.result("y", shape), Tensor(), c.activation("r", shape), dropout_in(spans));
    });
    for (const Accumulate mode : {Accumulate::no, Accumulate::yes})
      add(mode == Accumulate::yes ? "dropout_backward_adds" : "dropout_backward", [=](Call& c) {
        c.kernels().dropout_backward(Grad{c.result("dr", shape), mode}, c.activation("dy", shape), dropout_in(spans));
      });
  }
  return cases;
}

std::vector<Case> norm_cases() {
  std::vector<Case> cases;
  for (const int64_t D : {1, 3, 17, 33, 64, 256, 512, 1000, 2048, 8196}) {  // 2,048: two warps share a row
    const int64_t N = spans.rows();
    const Shape shape{N, D};
    const auto add = [&](const std::string& name, std::function<void(Call&)> run) {
      cases.push_back({fmt::format("{}_{}", name, D), std::move(run), false, D >= 2048});
    };
    for (const bool centred : {true, false}) {
      const std::string kind = centred ? "" : "_rms";
      const auto beta = [=](Call& c) { return centred ? c.parameter({D}) : Tensor(); };
      add("layer_norm" + kind, [=](Call& c) {
        c.kernels().layer_norm(c.result("y", shape), c.statistic("mean", {N}), c.statistic("rstd", {N}),
                               c.activation("x", shape), c.parameter({D}), beta(c), 1e-5);
      });
      add("residual_norm" + kind, [=](Call& c) {
        c.kernels().residual_norm(Backend::ResidualNorm{
            c.result("y", shape), c.result("sum", shape), c.statistic("mean", {N}), c.statistic("rstd", {N}),
            c.activation("x", shape), c.activation("r", shape), c.parameter({D}), beta(c), dropout_in(spans), 1e-5});
      });
    }
    for (const Accumulate mode : {Accumulate::no, Accumulate::yes})
      add(mode == Accumulate::yes ? "norm_backward_adds" : "norm_backward", [=](Call& c) {
        const Tensor dgamma = c.statistic("dgamma", {D}), dbeta = c.statistic("dbeta", {D});
        c.kernels().norm_backward(Backend::NormBackward{.dx = {c.result("dx", shape), mode},
                                                        .dr = {c.result("dr", shape), mode},
                                                        .dgamma = {dgamma, mode},
                                                        .dbeta = {dbeta, mode},
                                                        .dy = c.activation("dy", shape),
                                                        .sum = c.activation("sum", shape),
                                                        .mean = c.parameter({N}),
                                                        .rstd = c.parameter({N}),
                                                        .gamma = c.parameter({D}),
                                                        .dropout = dropout_in(spans),
                                                        .scratch = c.scratch(c.kernels().norm_scratch(D))});
      });
  }
  return cases;
}

/// Sizes of heads, and what else an attention may have.
struct Design {
  std::string name;
  int64_t K, V;
  bool causal = false, bias = false, additive = false, weights = false;
  int window = -1;
  bool without_keys = false;  // a sentence with queries
};

const Spans queries({0, 3, 3, 40, 57}), keys({0, 5, 7, 40, 60}), few_keys({0, 5, 7, 7, 12});
constexpr int heads = 2;

AttentionShape shape_of(const Design& d) {
  return {queries,
          d.causal         ? queries
          : d.without_keys ? few_keys
                           : keys,
          heads,
          Visibility{.causal = d.causal, .window = d.window},
          d.additive ? Score::additive : Score::scaled_dot,
          dropout_in(queries)};
}

Backend::Attention forward(Call& c, const Design& d) {
  const AttentionShape shape = shape_of(d);
  const int64_t N = shape.queries.rows(), M = shape.keys.rows();
  Backend::Attention a{.y = c.result("y", {N, heads * d.V}),
                       .lse = c.statistic("lse", {N, heads}),
                       .q = c.activation("q", {N, heads * d.K}),
                       .k = c.activation("k", {M, heads * d.K}),
                       .v = c.activation("v", {M, heads * d.V}),
                       .shape = shape,
                       .scratch = c.scratch(c.kernels().attention_scratch(shape, d.K, d.V)),
                       .factors = c.half()};
  if (d.bias) a.bias = c.parameter({N, heads * 5});
  if (d.additive) a.score_vector = c.parameter({heads * d.K});
  if (d.weights) a.weights = c.statistic("weights", {heads * shape.pairs_before(shape.queries.sentences())});
  c.kernels().attention(a);
  return a;
}

// y is not the result, which would be another number in f32.
void backward(Call& c, const Design& d, Accumulate mode) {
  Backend::AttentionBackward b{.forward = forward(c, d)};
  Backend::Attention& a = b.forward;
  const auto like = [&](const std::string& name, const Tensor& x) { return c.result(name, x.shape()); };
  a.y = c.activation("y given", a.y.shape());
  b.dq = {like("dq", a.q), mode}, b.dk = {like("dk", a.k), mode}, b.dv = {like("dv", a.v), mode};
  if (d.bias) b.dbias = {c.statistic("dbias", a.bias.shape()), mode};
  if (d.additive) b.dscore_vector = {c.statistic("dvector", a.score_vector.shape()), mode};
  b.dy = c.activation("dy", a.y.shape());
  c.kernels().attention_backward(b);
}

std::vector<Case> attention_cases() {
  std::vector<Case> cases;
  for (const Design& d : {Design{"narrow", 8, 8}, Design{"odd", 33, 7, true}, Design{"of_eights", 24, 16, false, true},
                          Design{"of_64", 64, 64, true, true}, Design{"of_128", 128, 128}, Design{"wide", 130, 6},
                          Design{.name = "window", .K = 16, .V = 16, .window = 2},
                          Design{.name = "without_keys", .K = 16, .V = 16, .window = 3, .without_keys = true},
                          Design{.name = "additive", .K = 8, .V = 6, .additive = true},
                          Design{.name = "seen", .K = 16, .V = 16, .weights = true}}) {
    const auto add = [&](const std::string& name, std::function<void(Call&)> run) {
      cases.push_back({fmt::format("{}_{}", name, d.name), std::move(run), true});
    };
    add("attention", [=](Call& c) { forward(c, d); });
    if (d.weights) continue;
    add("attention_backward", [=](Call& c) { backward(c, d, Accumulate::no); });
    add("attention_backward_adds", [=](Call& c) { backward(c, d, Accumulate::yes); });
  }
  return cases;
}

// Rows with their own key in the cache, or, with `writes`, that write it there first.
void attention_step(Call& c, const Design& d, bool writes) {
  constexpr int64_t R = 4, others = 40, C = others + R;
  const Tensor rows = int_tensor({42, 40, 43, 41}, {R}), lengths = int_tensor({1, 9, 40, 3}, {R});
  std::vector<int32_t> table(R * C);
  for (int64_t r = 0; r < R; ++r) {
    for (int64_t t = 0; t < C; ++t) table[size_t(r * C + t)] = int32_t((11 * r + 7 * t) % others);
    table[size_t(r * C + lengths.as<int32_t>()[r] - 1)] = rows.as<int32_t>()[r];  // which no other row reads
  }
  const Shape keys{C, heads * d.K}, values{C, heads * d.V};
  Backend::AttentionStep a{.y = c.result("y", {R, heads * d.V}), .q = c.activation("q", {R, heads * d.K})};
  a.k = writes ? c.result("k", keys) : c.activation("k", keys);
  a.v = writes ? c.result("v", values) : c.activation("v", values);
  if (writes) {
    a.new_k = c.activation("new k", a.q.shape()), a.new_v = c.activation("new v", a.y.shape()), a.new_rows = rows;
    c.kernels().fill(a.k, 0.5), c.kernels().fill(a.v, -0.25);
  }
  if (d.bias) a.bias = c.parameter({R, heads * 5});
  if (d.additive) a.score_vector = c.parameter({heads * d.K});
  a.score = d.additive ? Score::additive : Score::scaled_dot;
  a.keys = {.length = lengths, .table = int_tensor(std::move(table), {R, C})};
  a.heads = heads;
  a.scratch = c.scratch(c.kernels().attention_step_scratch(heads, C));
  c.kernels().attention_step(a);
}

std::vector<Case> step_cases() {
  std::vector<Case> cases;
  for (const Design& d : {Design{"odd", 33, 7}, Design{"of_eights", 24, 16, false, true}, Design{"of_64", 64, 64},
                          Design{.name = "additive", .K = 8, .V = 6, .additive = true}}) {
    cases.push_back({"step_" + d.name, [=](Call& c) { attention_step(c, d, false); }});
    cases.push_back({"step_that_writes_" + d.name, [=](Call& c) { attention_step(c, d, true); }});
  }
  const Tensor rows = int_tensor({5, 0, 3}, {3});
  for (const int64_t D : {1, 17, 64}) {
    cases.push_back({fmt::format("gather_{}", D), [=](Call& c) {
                       c.kernels().gather_rows(c.result("y", {3, D}), c.activation("x", {6, D}), rows);
                     }});
    cases.push_back({fmt::format("scatter_{}", D), [=](Call& c) {
                       c.kernels().scatter_rows(c.result("y", {6, D}), c.activation("x", {3, D}), rows);
                     }});
  }
  return cases;
}

const auto name_of_gpu_case = [](const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
};

INSTANTIATE_TEST_SUITE_P(Elementwise, GpuActivations, testing::ValuesIn(elementwise_cases()), name_of_gpu_case);
INSTANTIATE_TEST_SUITE_P(Norm, GpuActivations, testing::ValuesIn(norm_cases()), name_of_gpu_case);
INSTANTIATE_TEST_SUITE_P(Attention, GpuActivations, testing::ValuesIn(attention_cases()), name_of_gpu_case);
INSTANTIATE_TEST_SUITE_P(Step, GpuActivations, testing::ValuesIn(step_cases()), name_of_gpu_case);

}  // namespace
}  // namespace dragoman
