#include "model/decoder_only.h"
#include "model/rnn.h"
#include "model/transformer.h"
#include "model/validate.h"

namespace dragoman {

std::unique_ptr<Model> make_model(const ModelConfig& config, const Backend& backend, Arena& arena, DType dtype,
                                  bool gradients) {
  validate(config);
  switch (config.type) {
    case ModelType::transformer:
      return std::make_unique<Transformer>(config, backend, arena, dtype, gradients);
    case ModelType::decoder_only:
      return std::make_unique<DecoderOnly>(config, backend, arena, dtype, gradients);
    case ModelType::s2s:
      return std::make_unique<Rnn>(config, backend, arena, dtype, gradients);
  }
  fail("a model of unknown type");
}

}  // namespace dragoman
