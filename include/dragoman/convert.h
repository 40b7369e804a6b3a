#pragma once
#include <string>
#include <vector>

namespace dragoman {

class Engine;

/// A model of another program and the file to make of it.
struct ConvertOptions {
  std::string input;                     // file or folder of the other program (docs/existing_models.md)
  std::string output;                    // model file
  std::vector<std::string> vocabs;       // vocabularies of source and target; empty: those named beside the model
  std::string source_lang, target_lang;  // of a model with several languages: kept in the file
};

/// Writes a model of another program as a model file of dragoman's, one tensor at a time. Error for a model that
/// dragoman has no equal of: it names the file, and the option or tensor. Thread-safe.
void convert_model(Engine& engine, const ConvertOptions& options);

}  // namespace dragoman
