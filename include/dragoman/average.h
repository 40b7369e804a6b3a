#pragma once
#include <string>
#include <vector>

namespace dragoman {

class Engine;

/// Models of one configuration, such as the checkpoints of a run, and the file to write.
struct AverageOptions {
  std::string output = {};  // model file
  std::vector<std::string> models = {};
  std::vector<std::string> vocabs = {};  // for other programs' models, if no file beside them names their vocabularies
};

/// Saves the mean of the models' weights, summed in double precision, as a float32 model. Error for models that differ
/// in configuration or vocabularies, if there are none, and if the output is one of them, or an existing file that is
/// no dragoman model. Thread-safe.
void average_models(Engine& engine, const AverageOptions& options);

}  // namespace dragoman
