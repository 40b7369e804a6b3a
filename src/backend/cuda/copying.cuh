#pragma once
#include "backend/cuda/device.cuh"

/// What backend/copying.h says, for threads of a device.
namespace dragoman::cuda {

__device__ inline float log_sigmoid(float x) { return fminf(x, 0.f) - log1pf(expf(-fabsf(x))); }

__device__ inline float log_add(float a, float b) {
  const float larger = fmaxf(a, b), smaller = fminf(a, b);
  return larger + log1pf(expf(smaller - larger));
}

struct LabelMixture {
  float log_prob, share, dgate, dcopied;
};

__device__ inline LabelMixture label_mixture(float log_softmax, float gate, float copied) {
  const float generates = log_sigmoid(gate), copies = log_sigmoid(-gate);
  const float log_prob = log_add(generates + log_softmax, copies + logf(copied));
  const float share = expf(generates + log_softmax - log_prob);
  return {log_prob, share, expf(generates) - share, -expf(fminf(copies - log_prob, 80.f))};
}

}  // namespace dragoman::cuda
