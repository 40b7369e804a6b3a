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
Parameters::Flat flat(const ModelConfig& config, const Backend& backend, DType dtype,
                      const std::vector<std::string>& frozen) {
  Arena nowhere(Arena::Reserve::addresses_only);
  return {construct(config, Parameters(backend, nowhere, dtype))->parameters().flat_elements(frozen), frozen};
}

}  // namespace

std::unique_ptr<Model> make_model(const ModelConfig& config, const Backend& backend, Arena& arena, DType dtype,
                                  bool gradients, const std::vector<std::string>& frozen) {
  validate(config);
  if (!gradients) return construct(config, Parameters(backend, arena, dtype));
  return construct(config, Parameters(backend, arena, dtype, flat(config, backend, dtype, frozen)));
}

std::unique_ptr<Model> make_packed_model(const ModelConfig& config, const Backend& backend, Arena& arena, DType dtype) {
  validate(config);
  return construct(config, Parameters(backend, arena, dtype, Parameters::Packed{}));
}

}  // namespace dragoman
