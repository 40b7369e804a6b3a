#pragma once
#include <span>
#include <string>

#include "backend/attention_shape.h"
#include "backend/cell.h"
#include "backend/dropout.h"
#include "backend/kernel.h"
#include "backend/work.h"
#include "tensor/activation.h"

namespace dragoman {

struct Recorder;

/// Table row + position of each token: y = dropout(scale · table[id] + positions[token]).
struct Embedding {
  Tensor ids;        // (N) int32
  Tensor places;     // (N,2) int32: sentence, token; the token picks the position
  Tensor table;      // (V,D)
  Tensor positions;  // (P,D) or empty
  double scale = 1;  // √D
  Dropout dropout;
};

/// Where each row of a decoding step finds its past. Row r has `length(r)` keys; the t-th lies in row
/// `table(r, t)` of the key matrix, or, without a table, in row `begin(r) + t`.
struct StepKeys {
  Tensor length;      // (R) int32
  Tensor begin = {};  // (R) int32, where table is empty
  Tensor table = {};  // (R,T) int32 or empty: through it beams find their ancestors
  Tensor place =
      {};  // (R) int32: where the query stands among its keys; empty: at the last, where a decoder's past ends
};

/// A matrix in 8 bits, or some rows of one: row d is scales[d] · q[d].
struct RoundedRows {
  Tensor q;       // (D,K) int8, -127…127
  Tensor scales;  // (D) f32
};

/// One parameter of a multi-tensor Adam update (Kingma & Ba 2015, algorithm 1; decoupled weight decay).
struct AdamTensor {
  Tensor parameter, gradient, first_moment, second_moment;  // same shape
};
struct AdamStep {
  double rate, beta1, beta2, epsilon, weight_decay;
  double correction1, correction2;  // 1 - beta^t
  double labels = 1;                // gradients are sums over these
  double clip_norm = 0;             // of the mean gradient (Pascanu et al. 2013, algorithm 1); 0: any
};
/// What decides about an update. Where one of them is not finite, it changes nothing.
struct AdamTotals {
  Tensor loss, squares;  // (1) f64: the sum of losses, the sum of squares of all gradients
};

/// THE boundary to hardware: every computation on tensors is a slot here. Contract of all kernels: outputs come first,
/// then inputs, then numbers; shapes were checked by the caller; nothing is allocated (scratch is an argument, its
/// size a query); nothing is known of the tape. Rows may be strided (columns of a wider matrix) unless said otherwise.
/// Integers and label weights are made by the host and have a Mirror; all else lies in the backend's memory.
/// The `reference` backend is the readable definition of each.
struct Backend {
  std::string name;
  std::string arithmetic = {};           // libraries and instructions that the last bits of results depend on
  const DeviceMemory* memory = nullptr;  // where its tensors lie; null: where the host can read them
  const Recorder* recorder = nullptr;    // how it keeps calls of kernels (backend/recorder.h); null: it does not
  bool multiplies_bfloat16 = false;      // with instructions of its own, faster than f32

  // Elementwise
  Kernel<void(const Tensor& y, double value)> fill{"fill"};
  Kernel<void(const Tensor& y, const Tensor& x)> copy{"copy"};  // converts between f32 and f64; x may be of the host
  Kernel<void(const Tensor& y, const Tensor& x, double factor)> add{"add"};  // y += factor · x
  Kernel<void(const Tensor& y, const Tensor& x)> round{"round"};             // y (bf16 or f16) = x

  // Products.  x (N,K)  w (D,K)  b (D) or empty  y, dy (N,D). What is multiplied may be bf16 (or f16, but on a CPU),
  // both factors of a product alike; sums and results are f32 then.  Back through act (none or relu) and b, in one pass
  // over dy: dz (N,D) = dy ⊙ act'(y), in the place of dy or of the type that is multiplied;  db (D) = or += Σ_n of it,
  // before it is rounded. Without act, y is not read.
  Kernel<void(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b, Activation act)> linear{"linear",
                                                                                                          work::linear};
  Kernel<void(Grad dx, const Tensor& dz, const Tensor& w)> linear_backward_input{"linear_backward_input",
                                                                                 work::linear_backward_input};
  Kernel<void(const Tensor& dz, Grad db, const Tensor& dy, const Tensor& y, Activation act)> linear_backward_result{
      "linear_backward_result"};
  Kernel<void(Grad dw, const Tensor& dz, const Tensor& x)> linear_backward_weight{"linear_backward_weight",
                                                                                  work::linear_backward_weight};

  // Products for decoding: w is rearranged once, into the type of `packed`. A row's result depends neither on its
  // neighbours nor on its place nor on the number of threads.
  //   As w itself: each output is one chain of fused multiply-adds over k, in order.
  //   BF16: w rounded, half as much to read; x, products and sums stay f32.
  //   I8: rows of w and of x are rounded, each to its own scale (max |·| / 127) times integers -127…127; products and
  //   sums of these are exact, then y = act((Σ · scale of x) · scale of w + b).
  Kernel<int64_t(int64_t D, int64_t K, DType packed)> packed_elements{"packed_elements"};
  Kernel<void(const Tensor& packed, const Tensor& w)> pack{"pack"};
  //   pack_rounded: into I8 from rows that are rounded already, those of several parts one after the other. Where the
  //   largest integer of each row is ±127, or all are 0 with a scale of 0, it is what `pack` makes of scales · q.
  Kernel<void(const Tensor& packed, std::span<const RoundedRows> parts)> pack_rounded{"pack_rounded"};
  //   select_packed: some rows of w (D,K), packed as if they were all of it. rows (R) int32, in rising order.
  Kernel<void(const Tensor& selected, const Tensor& packed, const Tensor& rows, int64_t D, int64_t K)> select_packed{
      "select_packed"};
  Kernel<int64_t(int64_t N, int64_t K, DType packed)> linear_packed_scratch{"linear_packed_scratch"};
  Kernel<void(const Tensor& y, const Tensor& x, const Tensor& packed, const Tensor& b, Activation act,
              const Tensor& scratch)>
      linear_packed{"linear_packed", work::linear_packed};

  // y = act(x); backward from what was saved: y for relu and tanh, x for gelu and swish. dx may be dy's memory.
  Kernel<void(const Tensor& y, const Tensor& x, Activation act)> activation{"activation"};
  Kernel<void(Grad dx, const Tensor& dy, const Tensor& saved, Activation act)> activation_backward{
      "activation_backward"};

  // Embedding.  y, dy (N,D)
  Kernel<void(const Tensor& y, const Embedding& e)> embedding{"embedding"};
  Kernel<void(Grad dtable, Grad dpositions, const Tensor& dy, const Embedding& e)> embedding_backward{
      "embedding_backward"};

  // y = x + dropout(r), x may be empty.  dr = mask · dy.
  Kernel<void(const Tensor& y, const Tensor& x, const Tensor& r, const Dropout& drop)> dropout{"dropout"};
  Kernel<void(Grad dr, const Tensor& dy, const Dropout& drop)> dropout_backward{"dropout_backward"};

  // Layer normalisation over columns.  y, x, sum (N,D)  mean, rstd (N) stat type  gamma, beta (D). Without beta it is
  // of the root mean square: nothing is subtracted, and mean is 0.
  Kernel<void(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x, const Tensor& gamma,
              const Tensor& beta, double eps)>
      layer_norm{"layer_norm"};
  // sum = x + dropout(r), y = norm(sum).
  struct ResidualNorm {
    Tensor y, sum, mean, rstd;
    Tensor x, r, gamma, beta;
    Dropout dropout;
    double eps;
  };
  Kernel<void(const ResidualNorm& a)> residual_norm{"residual_norm"};
  // Backward of both: dx of the sum, dr (empty for plain layer_norm) through the mask.
  struct NormBackward {
    Grad dx, dr, dgamma, dbeta;
    Tensor dy, sum, mean, rstd, gamma;
    Dropout dropout;
    Tensor scratch;       // norm_scratch bytes
    bool centred = true;  // whether there was a beta
  };
  Kernel<int64_t(int64_t D)> norm_scratch{"norm_scratch"};
  Kernel<void(const NormBackward& b)> norm_backward{"norm_backward"};

  // Batch normalisation, column by column (Ioffe & Szegedy 2015, algorithm 1): y = (x - mean) · rstd · gamma + beta,
  // with rstd = 1 / √(variance + eps).
  struct BatchNorm {
    Tensor y, mean, rstd;                   // (N,D)  (D) stat type
    Tensor running_mean, running_variance;  // (D)
    Tensor x, gamma, beta;                  // (N,D)  (D)
    double eps;
    // Above 0, statistics are of the rows of x, and the running ones go towards them by this part of the way (towards
    // the unbiased variance; not where the rows are fewer than two, or not finite). 0: statistics are the running ones.
    double momentum;
  };
  Kernel<void(const BatchNorm& a)> batch_norm{"batch_norm"};
  struct BatchNormBackward {
    Grad dx, dgamma, dbeta;
    Tensor dy, x, mean, rstd, gamma;
    bool of_rows;  // whether mean and rstd are of the rows of x
    Tensor sums;   // (2,D) room for Σ dy · (x - mean) · rstd and Σ dy
  };
  Kernel<void(const BatchNormBackward& b)> batch_norm_backward{"batch_norm_backward"};

  // Attention over packed rows: y = softmax(score(q, k)) · v, head by head.
  struct Attention {
    Tensor y, lse;        // (Nq,H*V)  (Nq,H) stat type: log Σ exp(score), from which backward recomputes the weights
    Tensor q, k, v;       // (Nq,H*K)  (Nk,H*K)  (Nk,H*V)
    Tensor bias;          // see DistanceBias, or empty
    Tensor score_vector;  // (H*K), Score::additive only
    AttentionShape shape;
    Tensor scratch;  // attention_scratch bytes
    Tensor weights;  // (H · Σ nq·nk) or empty: the softmax itself, for each sentence and head a matrix (nq,nk)
    DType factors = DType::f32;  // bf16 or f16: what is multiplied may be rounded to it, on the way back too
  };
  struct AttentionBackward {
    Grad dq, dk, dv, dbias, dscore_vector;  // dbias only for a bias a query
    Tensor dy;
    Attention forward;
  };
  Kernel<int64_t(const AttentionShape& shape, int64_t key_size, int64_t value_size)> attention_scratch{
      "attention_scratch"};
  Kernel<void(const Attention& a)> attention{"attention"};
  Kernel<void(const AttentionBackward& b)> attention_backward{"attention_backward"};
  // One query a row against keys in cache rows.
  struct AttentionStep {
    Tensor y;             // (R,H*V)
    Tensor q, k, v;       // (R,H*K)  (C,H*K)  (C,H*V)
    Tensor bias;          // (R or 1,H·(2R+1)) or empty
    Tensor score_vector;  // as above
    StepKeys keys;
    int heads = 1, window = -1;
    Score score = Score::scaled_dot;
    Tensor scratch;  // attention_step_scratch bytes
  };
  Kernel<int64_t(int heads, int64_t longest)> attention_step_scratch{"attention_step_scratch"};
  Kernel<void(const AttentionStep& a)> attention_step{"attention_step"};

  // What stands around a place (Luong et al. 2015, equation 10): factors (N): exp(-(j - c)² / (2 σ²)) with σ = window /
  // 2 for the row at place j of a sentence whose center is c, 0 where |j - c| > window; y = factors · x, row by row.
  // bias (B,2R+1) is attention's, for a query at place 0 of each sentence: 0 in the window, `hidden` outside it, which
  // leaves no weight and, unlike -inf, may be subtracted from itself.
  struct GaussianWindow {
    static constexpr double hidden = -1e30;
    Tensor y, factors, bias;  // (N,D) (N) (B,2R+1)
    Tensor x, centers;        // (N,D) (B,1)
    Spans spans;
    int window;
  };
  Kernel<void(const GaussianWindow& g)> gaussian_window{"gaussian_window"};
  struct GaussianWindowBackward {
    Grad dx, dcenters;
    Tensor dy, factors, x, centers;
    Spans spans;
    int window;
  };
  Kernel<void(const GaussianWindowBackward& b)> gaussian_window_backward{"gaussian_window_backward"};

  // Hard attention (Xu et al. 2015, section 4.1).  choose: one row s of each sentence by the weights p of its rows,
  // which sum to 1: drawn where `random` is active (backend/random_choice.h), else the heaviest, the first of equals.
  // slopes and means are values and results of an attention with these weights, whose way back gives the gradients of
  // log p_s and of the entropy H = -Σ p log p: a row of slopes is ([j = s] / p_s, -log p_j), the mean by p is (1, H).
  struct Choice {
    Tensor rows, slopes, means;  // (B) int32  (N,2)  (B,2)
    Tensor weights;              // (N)
    Spans spans;
    Dropout random;
  };
  Kernel<void(const Choice& c)> choose{"choose"};
  // credit: what the choice before label n has to answer for, its sentence's losses from n on beyond the usual:
  // signal (N,2), in row places(n): reward · Σ_{m≥n} (loss_m - weight_m · usual_loss), and -entropy · weight_n.
  struct Credit {
    Tensor signal;
    Tensor loss, weights;  // (N) stat type  (N) f32 or empty: all 1
    Tensor places;         // (N) int32
    Spans spans;
    double usual_loss, reward, entropy;
  };
  Kernel<void(const Credit& c)> credit{"credit"};

  // Columns c and c + K/2 of each head turn together by the angle whose sine and cosine stand in these columns of the
  // token's row of `table` (P,K) (Su et al. 2021, "RoPE"); direction -1 turns back. places (N,2) int32: sentence,
  // token. y, x (N,H*K); y may be x.
  Kernel<void(const Tensor& y, const Tensor& x, const Tensor& table, const Tensor& places, int heads, int direction)>
      rotate{"rotate"};

  // The average of a sentence's rows so far, column by column: c_t = a_t ⊙ c_{t-1} + (1 - a_t) ⊙ x_t, with c = 0 before
  // the first row. a_t = σ(gate_t); without a gate (t - 1) / t, which makes c_t the mean.  c, x, gate (N,D)
  Kernel<void(const Tensor& c, const Tensor& x, const Tensor& gate, const Spans& spans)> running_average{
      "running_average"};
  struct RunningAverageBackward {
    Grad dx, dgate;
    Tensor dc, c, x, gate;
    Spans spans;
  };
  Kernel<void(const RunningAverageBackward& b)> running_average_backward{"running_average_backward"};
  // One row a hypothesis. c (R,D) is also put into the last row of its past in `states` (C,D); the row before has
  // c_{t-1}.
  Kernel<void(const Tensor& c, const Tensor& states, const Tensor& x, const Tensor& gate, const StepKeys& past)>
      running_average_step{"running_average_step"};

  // A step of a recurrent cell for n sentences (backend/cell.h). What is not there is zero.
  struct CellStep {
    Tensor h, c;                // (n,D); c: lstm only
    Tensor a, s;                // (n,G·D): products of the input and, or empty, of the state before
    Tensor h_before, c_before;  // (n,D) or empty: read by gru and by lstm
    Cell cell;
  };
  Kernel<void(const CellStep& s)> cell{"cell"};
  struct CellBackward {
    Grad da, ds, dh_before, dc_before;
    Tensor dh, dc;  // dc may be empty
    CellStep forward;
  };
  Kernel<void(const CellBackward& b)> cell_backward{"cell_backward"};

  // The sum or the mean of each sentence's rows.  y, dy (B,D)  x (N,D)
  Kernel<void(const Tensor& y, const Tensor& x, const Spans& spans, bool mean)> pool{"pool"};
  Kernel<void(Grad dx, const Tensor& dy, const Spans& spans, bool mean)> pool_backward{"pool_backward"};

  // y = x ⊙ σ(gate), all (N,D)
  Kernel<void(const Tensor& y, const Tensor& x, const Tensor& gate)> gate{"gate"};
  Kernel<void(Grad dx, Grad dgate, const Tensor& dy, const Tensor& x, const Tensor& gate)> gate_backward{
      "gate_backward"};

  // Linear + label-smoothed cross-entropy (Szegedy et al. 2016, section 7) in row chunks: the (N,V) logits never exist.
  // loss, log_prob (N) stat type: smoothed loss and log p(label).  x (N,D)  w (V,D)  labels (N) int32.
  // With dx or dw, gradients of the sum of losses. x and w may be of 16 bits as in `linear`. Weights (N) f32 multiply
  // losses, and so their gradients, but not log_prob. With a gate, labels are generated or copied (backend/copying.h).
  struct LinearCrossEntropy {
    Tensor loss, log_prob;
    Grad dx, dw;
    Tensor x, w, labels;
    Tensor
        packed;  // w rearranged by `pack` in its own type, or empty: with it a row's result depends on that row alone
    double label_smoothing = 0;
    Tensor scratch;
    Tensor weights;       // empty: all 1
    Tensor gate, copied;  // (N,1) both or neither: a number, and the probability of the label among what is copied
    Grad dgate, dcopied;
  };
  Kernel<int64_t(int64_t N, int64_t V, DType factors)> linear_cross_entropy_scratch{"linear_cross_entropy_scratch"};
  Kernel<void(const LinearCrossEntropy& l)> linear_cross_entropy{
      "linear_cross_entropy",
      [](const auto& l) { return (1.0 + bool(l.dx) + bool(l.dw)) * work::product(l.x, l.w.rows()); }};

  // The k best of each row of logits (R,V), best first, ties to the lower id, and log Σ exp of the row if it is wanted.
  // values (R,k)  ids (R,k) int32  lse (R) stat type or empty: then a NaN in the row makes the first value NaN.
  Kernel<void(const Tensor& values, const Tensor& ids, const Tensor& lse, const Tensor& logits)> top_k{"top_k"};

  // Logits of a decoding step become logarithms of what is generated or copied (backend/copying.h): y_v = log(σ(gate) ·
  // softmax_v + (1 - σ(gate)) · Σ a_t over t with pieces_t = v), where a = softmax_t(q·k_t / √K).
  struct CopyStep {
    Tensor y, scores;   // (R,V)  (R,T) room for log a
    Tensor lse;         // (R) stat type: log Σ exp of each row of y
    Tensor q, k, gate;  // (R,K)  (C,K)  (R,1)
    StepKeys keys;      // of at most T, without a table
    Tensor pieces;      // (R,T) int32
  };
  Kernel<void(const CopyStep& c)> copy_step{"copy_step"};

  // Each row with its neighbours: row n of y (N,W·D) holds rows n - (W-1)/2 … n + W/2 of x (N,D), zeros for those that
  // its sentence does not have.
  Kernel<void(const Tensor& y, const Tensor& x, const Spans& spans)> neighbours{"neighbours"};
  Kernel<void(Grad dx, const Tensor& dy, const Spans& spans)> neighbours_backward{"neighbours_backward"};

  // Rows by index (int32).  gather: y[i] = x[rows[i]].  scatter: y[rows[i]] = x[i].
  Kernel<void(const Tensor& y, const Tensor& x, const Tensor& rows)> gather_rows{"gather_rows"};
  Kernel<void(const Tensor& y, const Tensor& x, const Tensor& rows)> scatter_rows{"scatter_rows"};

  // y[n] = Σ_j weights(n,j) · x[rows(n,j)], without weights the plain sum; a row of -1 adds nothing.
  // y (N,D)  x (M,D)  rows (N,k) int32  weights (N,k) or empty
  Kernel<void(const Tensor& y, const Tensor& x, const Tensor& rows, const Tensor& weights)> mix_rows{"mix_rows"};
  //   Of rows that name each row of x once.
  Kernel<void(Grad dx, Grad dweights, const Tensor& dy, const Tensor& x, const Tensor& rows, const Tensor& weights)>
      mix_rows_backward{"mix_rows_backward"};

  // The k experts of the largest logits, ties to the lower number, and what each counts: softmax over those k logits,
  // for k = 1 over all of them.  gates (N,k)  logits (N,E).  experts (N,k) int32 is in the host's memory on every
  // backend, and written when the kernel returns.
  Kernel<void(const Tensor& gates, const Tensor& experts, const Tensor& logits)> route{"route"};
  //   From dgates, and from a loss of Σ_n Σ_e load(e) · softmax(logits)(n,e), load (E) f32 or empty.
  Kernel<void(Grad dlogits, const Tensor& dgates, const Tensor& logits, const Tensor& experts, const Tensor& load)>
      route_backward{"route_backward"};

  // Reductions and the optimiser.  Sums in f64, in an order fixed by the sizes alone: total (1) f64 = or += Σ x, and
  // total = Σ x² of all elements of all tensors. Both stay where the backend computes, and with them all that depends
  // on them (backend/gradient_scale.h).
  Kernel<void(Grad total, const Tensor& x)> sum{"sum"};
  Kernel<void(const Tensor& total, std::span<const Tensor> tensors)> sum_of_squares{"sum_of_squares"};
  Kernel<void(std::span<const AdamTensor> tensors, const AdamStep& step, const AdamTotals& totals)> adam{"adam"};
  Kernel<void(const Tensor& average, const Tensor& x, double weight)> moving_average{"moving_average"};
};

/// Calls f(slot) for every slot of the table, in its order.
template <class AnyBackend, class F>
void for_each_kernel(AnyBackend& b, const F& f) {
  const auto each = [&](auto&... slots) { (f(slots), ...); };
  each(b.fill, b.copy, b.add, b.round, b.linear, b.linear_backward_input, b.linear_backward_weight,
       b.linear_backward_result, b.packed_elements, b.pack, b.pack_rounded, b.select_packed, b.linear_packed_scratch,
       b.linear_packed, b.activation, b.activation_backward, b.embedding, b.embedding_backward, b.dropout,
       b.dropout_backward, b.layer_norm, b.residual_norm, b.norm_scratch, b.norm_backward, b.batch_norm,
       b.batch_norm_backward, b.attention_scratch, b.attention, b.attention_backward, b.attention_step_scratch,
       b.attention_step, b.gaussian_window, b.gaussian_window_backward, b.choose, b.credit, b.rotate, b.running_average,
       b.running_average_backward, b.running_average_step, b.cell, b.cell_backward, b.pool, b.pool_backward, b.gate,
       b.gate_backward, b.linear_cross_entropy_scratch, b.linear_cross_entropy, b.top_k, b.copy_step, b.neighbours,
       b.neighbours_backward, b.gather_rows, b.scatter_rows, b.mix_rows, b.mix_rows_backward, b.route, b.route_backward,
       b.sum, b.sum_of_squares, b.adam, b.moving_average);
}

}  // namespace dragoman
