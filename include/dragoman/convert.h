#pragma once
#include <string>
#include <vector>

namespace dragoman {

class Engine;

/// The format to write (docs/existing_models.md): dragoman's own file, or a folder for CTranslate2, for transformers'
/// MarianMT, for Marian, or for ONNX Runtime.
enum class ModelFormat { dragoman, ctranslate2, huggingface, marian, onnx };

/// A model and the format to convert it to.
struct ConvertOptions {
  std::string input = {};                      // file or folder, of dragoman or of another program
  std::string output = {};                     // model file, or a new folder
  ModelFormat format = ModelFormat::dragoman;  // of the output
  std::vector<std::string> vocabs = {};        // vocabularies of source and target; empty: those named beside the model
  std::string source_lang = {}, target_lang = {};  // of a multilingual model; stored in the file
};

/// Converts a dragoman model for another program, or a model of another program to dragoman's format, one tensor at
/// a time. A dragoman model replaces only another one, and a folder for another program must be new. Error if the
/// output is one of the files read, and for a model that the target format cannot represent: it names the file, and the
/// option, field or tensor. Thread-safe.
void convert_model(Engine& engine, const ConvertOptions& options);

}  // namespace dragoman
