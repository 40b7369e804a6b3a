#include "backend/cpu/gemm_bf16.h"

#include <algorithm>
#include <array>
#include <dnnl.hpp>
#include <optional>
#include <string_view>

#include "backend/cpu/isa.h"

namespace dragoman::cpu {
namespace {

using dnnl::memory;

// Rows a stride apart, or the columns of such a matrix.
memory::dims strides(int64_t stride, Transpose transpose) {
  return transpose == Transpose::yes ? memory::dims{1, stride} : memory::dims{stride, 1};
}

memory::desc of_any_size(memory::data_type type, Transpose transpose) {
  constexpr int64_t any = DNNL_RUNTIME_DIM_VAL;
  return {{any, any}, type, strides(any, transpose)};
}

dnnl::matmul::primitive_desc description(const dnnl::engine& cpu, Transpose a, Transpose b, Accumulate mode) {
  const auto x = of_any_size(memory::data_type::bf16, a), y = of_any_size(memory::data_type::bf16, b);
  const auto z = of_any_size(memory::data_type::f32, Transpose::no);
  dnnl::primitive_attr attributes;
  if (mode == Accumulate::yes) {
    dnnl::post_ops sum;
    sum.append_sum(1);
    attributes.set_post_ops(sum);
  }
#if DNNL_VERSION_MAJOR >= 3
  return {cpu, x, y, z, attributes};
#else
  return {dnnl::matmul::desc(x, y, z), attributes, cpu};
#endif
}

// The eight products as primitives for factors of any size, each built once: otherwise oneDNN would build a kernel for
// each size, and sizes rarely repeat in training. A primitive of oneDNN serves one thread at a time.
class Products {
 public:
  void compute(const Tensor& c, const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b,
               Accumulate mode) {
    const int64_t K = transpose_a == Transpose::yes ? a.rows() : a.cols();
    const memory x = borrowed(a, {c.rows(), K}, memory::data_type::bf16, transpose_a);
    const memory y = borrowed(b, {K, c.cols()}, memory::data_type::bf16, transpose_b);
    const memory z = borrowed(c, {c.rows(), c.cols()}, memory::data_type::f32, Transpose::no);
    const std::array<dnnl_exec_arg_t, 3> arguments = {
        {{DNNL_ARG_SRC, x.get()}, {DNNL_ARG_WEIGHTS, y.get()}, {DNNL_ARG_DST, z.get()}}};
    const dnnl_status_t status = dnnl_primitive_execute(product(transpose_a, transpose_b, mode).get(), stream_.get(),
                                                        int(arguments.size()), arguments.data());
    invariant(status == dnnl_success, "oneDNN refused a matrix product");
  }

 private:
  const dnnl::matmul& product(Transpose a, Transpose b, Accumulate mode) {
    auto& product =
        products_[size_t(a == Transpose::yes) * 4 + size_t(b == Transpose::yes) * 2 + size_t(mode == Accumulate::yes)];
    if (!product) product.emplace(description(cpu_, a, b, mode));
    return *product;
  }

  memory borrowed(const Tensor& x, const memory::dims& dims, memory::data_type type, Transpose transpose) const {
    return {memory::desc(dims, type, strides(std::max<int64_t>(1, x.stride()), transpose)), cpu_, x.data()};
  }

  const dnnl::engine cpu_{dnnl::engine::kind::cpu, 0};
  const dnnl::stream stream_{cpu_};
  std::array<std::optional<dnnl::matmul>, 8> products_;
};

bool has_instructions() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

// Without a kernel for this CPU, oneDNN falls back to plain loops.
bool has_kernel() {
  try {
    const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
    const auto kind = description(cpu, Transpose::no, Transpose::yes, Accumulate::no);
    return !std::string_view(kind.impl_info_str()).starts_with("ref");
  } catch (const dnnl::error&) {
    return false;
  }
}

}  // namespace

bool has_bfloat16() {
  static const bool has = has_instructions() && has_kernel();
  return has;
}

void gemm_bf16(const Tensor& c, const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b,
               Accumulate mode) {
  thread_local Products products;
  products.compute(c, a, transpose_a, b, transpose_b, mode);
}

}  // namespace dragoman::cpu
