#pragma once
#include "backend/attention_shape.h"
#include "backend/kernel.h"
#include "backend/step_keys.h"

namespace dragoman {

/// Slots of the kernel table (backend/backend.h): attention: soft, local, hard; rotary positions.
struct AttentionKernels {
  // Attention over packed rows: y = softmax(score(q, k)) · v, head by head.
  struct Attention {
    Tensor y, lse;        // (Nq,H*V)  (Nq,H) stat type: log Σ exp(score), from which backward recomputes the weights
    Tensor q, k, v;       // (Nq,H*K)  (Nk,H*K)  (Nk,H*V)
    Tensor bias;          // see DistanceBias, or empty
    Tensor score_vector;  // (H*K), Score::additive only
    AttentionShape shape;
    Tensor scratch;  // attention_scratch bytes
    // Stat type (H · Σ nq·nk) or empty: the softmax itself, for each sentence and head a matrix (nq,nk).
    Tensor weights;
    // (Nq,H·(2R+1)) stat type or empty: the weights of each query, after dropout, summed over the keys at the same
    // distance; columns as in a DistanceBias.
    Tensor by_distance = {};
    // bf16 or f16: factors may be rounded to it, in backward too. q, k, v and y: all this or all f32; each gradient is
    // either of them.
    DType factors = DType::f32;
  };
  struct AttentionBackward {
    Grad dq, dk, dv, dbias, dscore_vector;  // dbias (Nq,H·(2R+1)), also if the bias has one row
    Tensor dy;
    Attention forward;
    Tensor dby_distance = {};  // (Nq,H·(2R+1)) or empty: the gradient of forward.by_distance
  };
  Kernel<int64_t(const AttentionShape& shape, int64_t key_size, int64_t value_size)> attention_scratch{
      "attention_scratch"};
  Kernel<void(const Attention& a)> attention{"attention"};
  Kernel<void(const AttentionBackward& b)> attention_backward{"attention_backward"};
  // One query per row against keys in cache rows.  q, k, v, y, new_k and new_v also in 16 bits: q and y of one type,
  // and k and v of one.
  struct AttentionStep {
    Tensor y;        // (R,H*V)
    Tensor q, k, v;  // (R,H*K)  (C,H*K)  (C,H*V)
    // Each row's own key and value, to be written first into row new_rows(r) of k and v, which no other row reads; or
    // empty.
    Tensor new_k, new_v;  // (R,H*K)  (R,H*V)
    Tensor new_rows;      // (R) int32
    Tensor bias;          // (R or 1, columns of a DistanceBias) or empty
    Tensor score_vector;  // as above
    Tensor by_distance;   // as above: (R,H·(2R+1)) or empty
    StepKeys keys;
    int heads = 1, window = -1;
    Score score = Score::scaled_dot;
    Tensor scratch;  // attention_step_scratch bytes
  };
  Kernel<int64_t(int heads, int64_t longest)> attention_step_scratch{"attention_step_scratch"};
  Kernel<void(const AttentionStep& a)> attention_step{"attention_step"};

  // Gaussian window around a center c for each sentence (Luong et al. 2015, equation 10). factors (N): for the row at
  // position j, exp(-(j - c)² / (2 σ²)) with σ = window / 2, and 0 where |j - c| > window. y = factors · x, row by row.
  // bias (B,2R+1) is the DistanceBias of a query at position 0 of each sentence: 0 in the window, `hidden` outside it,
  // which gives a weight of 0 and, unlike -inf, may be subtracted from itself.
  struct GaussianWindow {
    static constexpr double hidden = -1e30;
    Tensor y, factors, bias;  // (N,D) (N) (B,2R+1)
    Tensor x, centers;        // (N,D) (B,1)
    Spans spans;
    int window;
  };
  Kernel<void(const GaussianWindow& g)> gaussian_window{"gaussian_window"};
  struct GaussianWindowBackward {
    Grad dx, dcenters;               // (N,D) (B,1)
    Tensor dy, factors, x, centers;  // (N,D) (N) (N,D) (B,1)
    Spans spans;
    int window;
  };
  Kernel<void(const GaussianWindowBackward& b)> gaussian_window_backward{"gaussian_window_backward"};

  // Hard attention (Xu et al. 2015, section 4.1).  choose: picks one row s of each sentence by the weights p of its
  // rows, which sum to 1: at random if `random` is active (backend/random_choice.h), else the row of largest weight,
  // the first one on ties. slopes and means are the values and results of an attention with these weights, whose
  // backward pass gives the gradients of log p_s and of the entropy H = -Σ p log p: row j of slopes is ([j = s] / p_s,
  // -log p_j), and its mean under p is (1, H).
  struct Choice {
    Tensor rows, slopes, means;  // (B) int32  (N,2)  (B,2)
    Tensor weights;              // (N)
    Spans spans;
    Dropout random;
  };
  Kernel<void(const Choice& c)> choose{"choose"};
  // reinforce_signal: the learning signal of the choice before target token n, in row positions(n) of signal (N,2):
  // first reward · Σ_{m≥n} (loss_m - weight_m · baseline) over the tokens of its sentence from n on, second -entropy ·
  // weight_n.
  struct ReinforceSignal {
    Tensor signal;
    Tensor loss, weights;  // (N) stat type  (N) f32 or empty: all 1
    Tensor positions;      // (N) int32
    Spans spans;
    double baseline, reward, entropy;
  };
  Kernel<void(const ReinforceSignal& c)> reinforce_signal{"reinforce_signal"};

  // Columns c and c + K/2 of each head are rotated together by the angle whose sine and cosine are in these columns of
  // the token's row of `table` (P,K) (Su et al. 2021, "RoPE"); direction -1 rotates back. positions (N,2) int32:
  // sentence, token. y, x (N,H*K); y may be x.
  Kernel<void(const Tensor& y, const Tensor& x, const Tensor& table, const Tensor& positions, int heads, int direction)>
      rotate{"rotate"};

  template <class Kernels, class F>
  static void each(Kernels& k, const F& f) {
    const auto slots = [&](auto&... slot) { (f(slot), ...); };
    slots(k.attention_scratch, k.attention, k.attention_backward, k.attention_step_scratch, k.attention_step,
          k.gaussian_window, k.gaussian_window_backward, k.choose, k.reinforce_signal, k.rotate);
  }
};

}  // namespace dragoman
