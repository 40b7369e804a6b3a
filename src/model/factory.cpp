#include "model/decoder_only.h"
#include "model/rnn.h"
#include "model/transformer.h"

namespace dragoman {

std::unique_ptr<Model> make_model(const ModelConfig& config, const Backend& backend, Arena& arena, DType dtype,
                                  bool gradients) {
  if (config.type == "transformer") return std::make_unique<Transformer>(config, backend, arena, dtype, gradients);
  if (config.type == "decoder-only") return std::make_unique<DecoderOnly>(config, backend, arena, dtype, gradients);
  if (config.type == "s2s") return std::make_unique<Rnn>(config, backend, arena, dtype, gradients);
  fail("unknown model type '{}'; there are: transformer, decoder-only, s2s", config.type);
}

}  // namespace dragoman
