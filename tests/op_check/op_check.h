#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "autodiff/context.h"
#include "backend/registry.h"

namespace dragoman {

/// The op test harness. A row of OpCase gives an op's inputs and how it is called. It checks these laws:
///  1. gradients equal central differences (f64, reference);
///  2. every backend and instruction set (on GPUs also with 16-bit products) agrees with reference in values and
///     gradients, adds to existing gradients, leaves frozen inputs without a gradient and its inputs unchanged, and
///     gives the same bits when run twice and without a tape;
///  3. `dry` needs exactly the memory of cpu.
/// Memory holds NaN before an op runs, which exposes elements that a kernel forgets to write.
///
///   const OpCase cases[] = {
///       {"relu", {{"x", {3, 17}}}, [](Context& cx, const OpInputs& in) { return activation(cx, in.at("x"), relu); }}};
///   INSTANTIATE_TEST_SUITE_P(Activation, OpCheck, testing::ValuesIn(cases), name_of_case);
using OpInputs = std::map<std::string, Var>;

struct OpInput {
  std::string name;
  Shape shape;
};

struct OpCase {
  std::string name;
  std::vector<OpInput> inputs;  // values from the standard normal distribution
  /// The call. An output without a node is one loss per row: the op has written the gradients of its sum.
  std::function<Var(Context&, const OpInputs&)> op;
  int differences = 24;  // elements of each input compared with a central difference; 0: the op has no backward
  bool rounds = true;    // whether 16-bit products change little; no if rounding decides at a kink or dominates
  bool masks = false;    // whether a tape makes GPUs keep the mask of a ReLU, for which cuBLASLt may use other kernels
};

class OpCheck : public testing::TestWithParam<OpCase> {};
void PrintTo(const OpCase& c, std::ostream* out);
std::string name_of_case(const testing::TestParamInfo<OpCase>& info);

/// Largest error allowed, as a fraction of the largest element: the only table of tolerances.
double tolerance(DType dtype);

/// Fails unless |actual - expected| stays within `tolerance` of the largest expected element (at least `floor`).
void expect_close(const std::vector<double>& actual, const std::vector<double>& expected, double tolerance,
                  const std::string& what, double floor = 0.1);

/// Calls f once for every instruction set that this machine supports and the cpu backend was compiled for.
void for_each_target(const std::function<void()>& f);

}  // namespace dragoman
