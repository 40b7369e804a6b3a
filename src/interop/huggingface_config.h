#pragma once
#include "interop/json_object.h"
#include "model/config.h"

namespace dragoman {

/// The transformers class of a model. M2M100 also covers NLLB-200, MBart covers mBART-50, and T5 covers mT5 and
/// MADLAD-400.
enum class HuggingFaceClass { marian, m2m100, mbart, t5 };

/// The class that `model_type` names. Error for any other class.
HuggingFaceClass huggingface_class(const JsonObject& config);

/// Describes what the class computes; `generation` is what generate() is told. A key that the file lacks has the
/// default of its class, except for sizes, which the file must name, and for ids that MarianMT must name: <pad> and
/// what the decoder begins with. Sets the ids of pieces that the file contains; the vocabulary sets the others. Error,
/// naming the key, for what dragoman does not support.
ModelConfig huggingface_model_config(const JsonObject& config, const JsonObject& generation);

}  // namespace dragoman
