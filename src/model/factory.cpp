#include "model/transformer.h"

namespace dragoman {

std::unique_ptr<Model> make_model(const ModelConfig& config, const Backend& backend, Arena& arena, DType dtype,
                                  bool gradients) {
  if (config.type == "transformer") return std::make_unique<Transformer>(config, backend, arena, dtype, gradients);
  fail("unknown model type '{}'; there is: transformer", config.type);
}

}  // namespace dragoman
