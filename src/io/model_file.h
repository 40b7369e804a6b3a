#pragma once
#include <memory>
#include <string>
#include <vector>

#include "io/safetensors.h"
#include "model/model.h"
#include "vocab/vocabulary.h"

namespace dragoman {

/// One file is a model (docs/model_format.md): weights by name, the configuration and both vocabularies.
struct Vocabularies {
  Vocabulary source, target;
};

struct NamedTensor {
  std::string name;
  Tensor value;  // contiguous
};
std::vector<NamedTensor> weights_of(const Parameters& parameters);   // where the host can read them
TensorEntry entry_of(const std::string& name, const Tensor& value);  // borrows the tensor's memory

/// The longest sentences that a model was trained on, in pieces without </s>. Nobody knows what it makes of longer
/// ones. 0: not known.
struct TrainedLengths {
  int source = 0, target = 0;
};

/// Writes the file whole or not at all.
void save_model(const std::string& path, const ModelConfig& config, const Vocabularies& vocabularies,
                const std::vector<NamedTensor>& weights, const TrainedLengths& trained = {});
void save_model(const std::string& path, const ModelConfig& config, const Vocabularies& vocabularies,
                std::vector<TensorEntry> weights, const TrainedLengths& trained = {});

/// A model file, opened and checked but for its weights.
class ModelFile {
 public:
  explicit ModelFile(const std::string& path) : ModelFile(SafetensorsFile(path)) {}
  explicit ModelFile(SafetensorsFile file);
  /// What save_model would write, in memory; `name` takes the place of the path.
  static ModelFile in_memory(const std::string& name, const ModelConfig& config, const Vocabularies& vocabularies,
                             std::vector<TensorEntry> weights, const TrainedLengths& trained = {});

  const ModelConfig& config() const { return config_; }
  /// Takes what the user says instead of what the file says.
  void set_generation(const GenerationConfig& generation) { config_.generation = generation; }
  const Vocabularies& vocabularies() const { return vocabularies_; }
  const TrainedLengths& trained() const { return trained_; }
  const SafetensorsFile& tensors() const { return file_; }
  DType stored_type() const;  // of matrices: I8 in a file of `dragoman quantize`, else F32
  /// Copies the weights, converted to the parameters' type. Those in 8 bits become scale · integer
  /// (io/int8_weights.h). Error when one is missing, unknown, of another shape, or not finite.
  void load_weights(const Parameters& parameters) const;

  /// The same in steps: first the names and shapes of all, then each buffer of Parameters::buffers, into `values`,
  /// which is shaped like it.
  void require_weights_of(const Parameters& parameters) const;
  void load_buffer(const Parameters& parameters, size_t buffer, const Tensor& values) const;

 private:
  SafetensorsFile file_;
  ModelConfig config_;
  Vocabularies vocabularies_;
  TrainedLengths trained_;
};

/// A model ready to decode or score: no gradients, weights packed. What only products use exists packed alone.
struct LoadedModel {
  std::unique_ptr<Model> model;
  Vocabularies vocabularies;
  PackedWeights packed;
  TrainedLengths trained = {};
};
/// With `packed` I8, products are in 8 bits and embeddings are rounded to 8 bits: from a file in float32 exactly as
/// from the one that `dragoman quantize` makes of it.
LoadedModel load_model(const ModelFile& file, const Backend& backend, Arena& arena, DType packed = DType::f32);
LoadedModel load_model(const std::string& path, const Backend& backend, Arena& arena, DType packed = DType::f32);

}  // namespace dragoman
