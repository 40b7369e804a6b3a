#pragma once
#include <functional>
#include <memory>

#include "backend/step_keys.h"
#include "nn/attention_heads.h"

namespace dragoman {

/// The rows of sentences that attend to rows of their own sentence.
struct SelfRows {
  Spans spans;
  Tensor positions;                // (N,2) int32: sentence, token
  Tensor rotary;                   // (P,K) sinusoids, or empty: queries and keys are rotated by their position
  Var bias;                        // (1,H·(2R+1)) or empty: added to the scores (nn/positions.h)
  Tensor cache = {}, cached = {};  // (C,H*K + H*V), (N) int32: the rows to write keys and values to; or empty
};

/// The past of the rows of a decoding step, and the length of the longest.
struct Past {
  StepKeys keys;
  int64_t longest = 0;
};

/// Decides which keys and values a layer of self-attention keeps, and which of them its queries see. Without one, a
/// layer keeps all. Each kind is a file in nn/memories/; make_memory() chooses.
class KeyMemory {
 public:
  virtual ~KeyMemory() = default;

  struct Seen {
    Spans queries, keys;  // the rows that attend to each other
    Var k, v;
    int stride = 1;  // positions from a key to the next
  };
  /// All rows of sentences: k (N,H*K), v (N,H*V), which are already in rows.cache if there is one.
  virtual Seen see(Context& cx, const Var& k, const Var& v, const SelfRows& rows) const = 0;
  /// One decoding step, whose keys and values are in the cache (C,H*K + H*V).
  virtual Past see_step(Context& cx, const Tensor& cache, const Past& past) const = 0;
};

/// Null: the layer keeps all keys and values.
std::shared_ptr<const KeyMemory> make_memory(Parameters& p, const std::string& name, const AttentionDesign& d);

std::shared_ptr<const KeyMemory> make_block_memory(const AttentionDesign& d);
std::shared_ptr<const KeyMemory> make_compressed_memory(Parameters& p, const std::string& name,
                                                        const AttentionDesign& d);

/// The keys, `stride` tokens apart, that each row sees of its past; first(length): the first token that a row with a
/// past of this length sees.
Past part_of(const Past& past, int stride, const std::function<int64_t(int64_t length)>& first);

}  // namespace dragoman
