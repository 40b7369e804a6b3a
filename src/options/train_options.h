#pragma once
#include <string>
#include <vector>

#include "data/options.h"
#include "model/presets.h"
#include "optim/options.h"
#include "options/machine_options.h"
#include "train/options.h"

namespace dragoman {

/// The recurrent unit of a decoder. automatic: the default of the model type.
enum class DecoderCell { automatic, gru, lstm, ssru };

inline std::span<const EnumName<DecoderCell>> enum_names(DecoderCell) {
  static constexpr EnumName<DecoderCell> names[] = {{DecoderCell::automatic, "auto"},
                                                    {DecoderCell::gru, "gru"},
                                                    {DecoderCell::lstm, "lstm"},
                                                    {DecoderCell::ssru, "ssru"}};
  return names;
}

/// Whether initial weights are scaled by the depth of their layer. automatic: those of post-norm models are.
enum class DepthScaling { automatic, always, never };

inline std::span<const EnumName<DepthScaling>> enum_names(DepthScaling) {
  static constexpr EnumName<DepthScaling> names[] = {
      {DepthScaling::automatic, "auto"}, {DepthScaling::always, "true"}, {DepthScaling::never, "false"}};
  return names;
}

/// The table's check converts the members for Marian's spellings to the inherited members.
struct TrainOptions : ModelConfig, DataOptions, OptimizerOptions, TrainingOptions, SharedWorkOptions {
  Task task = Task::none;
  std::string preprocess;           // "n": pre-norm, together with …
  std::string postprocess = "dan";  // … "da"
  bool learned_positions = false;
  DepthScaling depth_scaling = DepthScaling::automatic;
  bool no_average_gates = false;
  DecoderCell dec_cell = DecoderCell::automatic;
  bool overwrite = false;
  bool dry_run = false;                                      // check everything, report, write nothing
  std::vector<double> optimizer_params = {0.9, 0.98, 1e-9};  // beta1, beta2, epsilon
};

/// What --transformer-depth-scaling means for a model of these options. Post-norm models learn much faster with scaled
/// weights (docs/experiments.md).
inline Initialisation initialisation_of(const TrainOptions& o) {
  const bool scaled = o.depth_scaling == DepthScaling::automatic ? o.norm == NormPlacement::post
                                                                 : o.depth_scaling == DepthScaling::always;
  return scaled && o.type != ModelType::s2s ? Initialisation::depth_scaled : Initialisation::glorot_uniform;
}

}  // namespace dragoman
