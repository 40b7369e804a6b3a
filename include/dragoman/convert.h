#pragma once
#include <string>
#include <vector>

namespace dragoman {

class Engine;

/// Whose model to write (docs/existing_models.md): dragoman's own file, or a folder of CTranslate2, of transformers'
/// MarianMT, of Marian, or for ONNX Runtime.
enum class ModelFormat { dragoman, ctranslate2, huggingface, marian, onnx };

/// A model and what to make of it.
struct ConvertOptions {
  std::string input;                           // file or folder, of dragoman or of another program
  std::string output;                          // model file, or a new folder
  ModelFormat format = ModelFormat::dragoman;  // of the output
  std::vector<std::string> vocabs;             // vocabularies of source and target; empty: those named beside the model
  std::string source_lang, target_lang;        // of a model with several languages: kept in the file
};

/// Writes a model for another program, or one of another program as a model file of dragoman's, one tensor at a time.
/// Error for a model that the other side has no equal of: it names the file, and the option, field or tensor.
/// Thread-safe.
void convert_model(Engine& engine, const ConvertOptions& options);

}  // namespace dragoman
