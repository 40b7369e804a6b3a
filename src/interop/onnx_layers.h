#pragma once
#include <string>

#include "interop/onnx_graph.h"
#include "io/model_file.h"

namespace dragoman {

/// Builds Transformer layers from ONNX nodes. Values are identified by names. In shapes, B is the number of sentences,
/// S of tokens read and T of tokens attended to. The graph and the model must outlive this object.
class OnnxLayers {
 public:
  OnnxLayers(OnnxGraph& graph, const ModelFile& model) : g_(graph), model_(model), c_(model.config()) {}

  struct KeysAndValues {
    std::string keys, values;  // (B,H,T,K)
  };

  /// ids (B,S), positions (S) int64 → (B,S,D), with positions and the side's norm. `side`: encoder or decoder.
  std::string embed(const std::string& ids, const std::string& positions, const std::string& side);
  std::string linear(const std::string& x, const std::string& name);  // the model's linear layer of this name
  std::string norm(const std::string& x, const std::string& name);
  std::string feed_forward(const std::string& x, const std::string& name);
  /// Keys and values of the attention with this name; `heads` is H.
  KeysAndValues keys_and_values(const std::string& x, const std::string& name, int heads);
  /// x (B,S,D) attends to T tokens; `bias` (B or 1,1,S or 1,T) is added to the scores.
  std::string attention(const std::string& x, const KeysAndValues& past, const std::string& bias,
                        const std::string& name, int heads);
  std::string logits(const std::string& x);  // (B,S,V)

  /// Post-norm: norm(x + f(x)); pre-norm: x + f(norm(x)).
  template <class F>
  std::string sublayer(const std::string& x, const std::string& norm_name, F f) {
    if (c_.norm == NormPlacement::pre) return add(x, f(norm(x, norm_name)));
    return norm(add(x, f(x)), norm_name);
  }

  /// A bias to add to the scores, which masks positions where `visible` (…) bool is false.
  std::string hide_all_but(const std::string& visible);
  std::string add(const std::string& a, const std::string& b) { return g_.node("Add", {a, b}); }

 private:
  std::string multiply(const std::string& a, const std::string& b) { return g_.node("Mul", {a, b}); }
  std::string vector(const std::string& name);
  std::string matrix(const std::string& name);  // transposed: (D_in,D_out)
  std::string table(const std::string& name);   // (V,D), with the zero row that a decoder begins with
  std::string position_table(const std::string& side);
  std::string split_heads(const std::string& x, int heads, int64_t size);
  std::string activation(const std::string& x);

  OnnxGraph& g_;
  const ModelFile& model_;
  const ModelConfig& c_;
};

/// The number of sinusoidal positions stored; the graph fails on sentences with more tokens.
inline constexpr int64_t onnx_sinusoids = 1024;

}  // namespace dragoman
