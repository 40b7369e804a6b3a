#pragma once
#include "model/config.h"
#include "nn/encoders/encoder.h"
#include "nn/poolings/pooling.h"
#include "nn/recurrent_decoders/recurrent_decoder.h"

namespace dragoman {

/// The parts of a recurrent model that its configuration names.
std::shared_ptr<const Encoder> make_encoder(Parameters& p, const ModelConfig& config);
std::shared_ptr<const Pooling> make_pooling(Parameters& p, const ModelConfig& config);
std::unique_ptr<const RecurrentDecoder> make_decoder(Parameters& p, const ModelConfig& config);

}  // namespace dragoman
