#include "model/decoder_only.h"
#include "model/rnn.h"
#include "model/transformer.h"
#include "model/validate.h"

namespace dragoman {
namespace {

std::unique_ptr<Model> construct(const ModelConfig& config, Parameters parameters) {
  switch (config.type) {
    case ModelType::transformer:
      return std::make_unique<Transformer>(config, std::move(parameters));
    case ModelType::decoder_only:
      return std::make_unique<DecoderOnly>(config, std::move(parameters));
    case ModelType::s2s:
      return std::make_unique<Rnn>(config, std::move(parameters));
  }
  fail("a model of unknown type");
}

// Builds a model without memory to learn the size of its parameters.
Parameters::Flat flat(const ModelConfig& config, const Backend& backend, DType dtype, const Trainable& trainable) {
  Arena nowhere(Arena::Reserve::addresses_only);
  return {construct(config, Parameters(backend, nowhere, dtype, trainable))->parameters().flat_elements(), trainable};
}

}  // namespace

std::unique_ptr<Model> make_model(const ModelConfig& config, const Backend& backend, Arena& arena, DType dtype,
                                  bool gradients, const Trainable& trainable) {
  validate(config);
  if (!gradients) return construct(config, Parameters(backend, arena, dtype));
  return construct(config, Parameters(backend, arena, dtype, flat(config, backend, dtype, trainable)));
}

std::unique_ptr<Model> make_packed_model(const ModelConfig& config, const Backend& backend, Arena& arena, DType dtype) {
  validate(config);
  return construct(config, Parameters(backend, arena, dtype, Parameters::Packed{}));
}

}  // namespace dragoman
