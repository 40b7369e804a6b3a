#pragma once
#include <string>
#include <vector>

#include "io/safetensors.h"
#include "model/config.h"
#include "tensor/tensor.h"
#include "vocab/vocabulary.h"

namespace dragoman {

class Parameters;

/// One file is a model (docs/model_format.md): weights by name, the configuration and both vocabularies.
struct Vocabularies {
  Vocabulary source, target;
};

struct NamedTensor {
  std::string name;
  Tensor value;  // contiguous
};
/// All weights with their updates (Parameters::merged), where the host can read them.
std::vector<NamedTensor> weights_of(const Parameters& parameters);
TensorEntry entry_of(const std::string& name, const Tensor& value);  // borrows the tensor's memory

/// The longest sentences that a model was trained on, in pieces without special ones; on longer ones its quality is
/// unknown. 0: unknown.
struct TrainedLengths {
  int source = 0, target = 0;
};

/// Writes the file whole or not at all.
void save_model(const std::string& path, const ModelConfig& config, const Vocabularies& vocabularies,
                const std::vector<NamedTensor>& weights, const TrainedLengths& trained = {});
void save_model(const std::string& path, const ModelConfig& config, const Vocabularies& vocabularies,
                std::vector<TensorEntry> weights, const TrainedLengths& trained = {});

/// Whether a safetensors file is a dragoman model. Reads it whole: error if it is damaged or no safetensors file.
bool is_model_file(const std::string& path);

/// An open model file; everything but the weights has been checked.
class ModelFile {
 public:
  explicit ModelFile(const std::string& path) : ModelFile(SafetensorsFile(path)) {}
  explicit ModelFile(SafetensorsFile file);
  /// A file in memory, as save_model would write it; `name` replaces the path in messages.
  static ModelFile in_memory(const std::string& name, const ModelConfig& config, const Vocabularies& vocabularies,
                             std::vector<TensorEntry> weights, const TrainedLengths& trained = {});

  const ModelConfig& config() const { return config_; }
  /// Replaces the file's settings by the user's.
  void set_generation(const GenerationConfig& generation) { config_.generation = generation; }
  const Vocabularies& vocabularies() const { return vocabularies_; }
  const TrainedLengths& trained() const { return trained_; }
  const SafetensorsFile& tensors() const { return file_; }
  DType stored_type() const;  // of matrices: I8 in a file of `dragoman quantize`, else F32
  /// Copies the weights, converted to the parameters' type; weights in 8 bits become scale · integer
  /// (io/int8_weights.h). Error if a weight is missing, unknown, of another shape, or not finite.
  void load_weights(const Parameters& parameters) const;

  /// The same in steps: first check the names and shapes of all, then load each buffer of Parameters::buffers into
  /// `values`, which has its shape. Rows beyond those of the file become the mean of its rows.
  void require_weights_of(const Parameters& parameters) const;
  void load_buffer(const Parameters& parameters, size_t buffer, const Tensor& values) const;

 private:
  SafetensorsFile file_;
  ModelConfig config_;
  Vocabularies vocabularies_;
  TrainedLengths trained_;
};

}  // namespace dragoman
