#pragma once
#include "base/enum_names.h"
#include "dragoman/convert.h"

namespace dragoman {

inline std::span<const EnumName<ModelFormat>> enum_names(ModelFormat) {
  static constexpr EnumName<ModelFormat> names[] = {{ModelFormat::dragoman, "dragoman"},
                                                    {ModelFormat::ctranslate2, "ctranslate2"},
                                                    {ModelFormat::huggingface, "huggingface"},
                                                    {ModelFormat::marian, "marian"},
                                                    {ModelFormat::onnx, "onnx"}};
  return names;
}

}  // namespace dragoman
