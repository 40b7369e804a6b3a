#pragma once
#include <algorithm>
#include <cmath>

#include "backend/loss.h"

/// A copying model generates the next piece with probability g = σ(gate), and otherwise copies a source piece, weighted
/// by an attention (See, Liu & Manning 2017, "Get To The Point: Summarization with Pointer-Generator Networks",
/// equations 8 and 9): p(v) = g · softmax_v + (1 - g) · Σ a_t over the positions t of piece v.
namespace dragoman {

template <class T>
constexpr T log_sigmoid(T x) {
  return std::min(x, T(0)) - std::log1p(std::exp(-std::abs(x)));
}

/// log(e^a + e^b), where either may be log 0.
template <class T>
constexpr T log_add(T a, T b) {
  const T larger = std::max(a, b), smaller = std::min(a, b);
  return larger + std::log1p(std::exp(smaller - larger));
}

/// Probability and gradients of a target token that is generated or copied.
template <class T>
struct TargetMixture {
  T log_prob;                // log p(target)
  T share = 1;               // generated share of p(target): factor of the softmax gradients
  T dgate = 0, dcopied = 0;  // of -log_prob
};

/// p = g s + (1 - g) c of softmax s and copied c:  d -log p / d gate = g - share,  d -log p / d c = -(1 - g) / p. If c
/// is 0, so is each attention weight in it. The gradient is multiplied by these weights, so it may be 0; its true value
/// may not fit into 16 bits.
template <class T>
constexpr TargetMixture<T> target_mixture(T log_softmax, T gate, T copied) {
  constexpr T most = 80;  // limit of exponents: a target token of tiny probability has a huge gradient
  const T generates = log_sigmoid(gate), copies = log_sigmoid(-gate);
  const T log_prob = log_add(generates + log_softmax, copies + std::log(copied));
  const T share = std::exp(generates + log_softmax - log_prob);
  const T dcopied = copied > 0 ? -std::exp(std::min(copies - log_prob, most)) : 0;
  return {log_prob, share, std::exp(generates) - share, dcopied};
}

/// Row n of a loss; without a gate all tokens are generated.
template <class T>
TargetMixture<T> target_mixture(const LossKernels::LinearCrossEntropy& l, int64_t n, T log_softmax) {
  if (!l.gate) return {.log_prob = log_softmax};
  return target_mixture(log_softmax, l.gate.view<T>()(n, 0), l.copied.view<T>()(n, 0));
}

template <class T>
void put_target_gradients(const LossKernels::LinearCrossEntropy& l, int64_t n, const TargetMixture<T>& mixture,
                          T weight) {
  const auto put = [&](const Grad& g, T value) {
    if (!g) return;
    T& to = g.tensor.view<T>()(n, 0);
    to = g.adds() ? to + weight * value : weight * value;
  };
  put(l.dgate, mixture.dgate);
  put(l.dcopied, mixture.dcopied);
}

}  // namespace dragoman
