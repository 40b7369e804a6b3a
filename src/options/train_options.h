#pragma once
#include <string>
#include <vector>

#include "data/options.h"
#include "model/presets.h"
#include "optim/options.h"
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

/// The table's check converts the members for Marian's spellings to the inherited members.
struct TrainOptions : ModelConfig, DataOptions, OptimizerOptions, TrainingOptions {
  Task task = Task::none;
  std::string preprocess;           // "n": pre-norm, together with …
  std::string postprocess = "dan";  // … "da"
  bool learned_positions = false;
  bool depth_scaling = false;
  bool no_average_gates = false;
  DecoderCell dec_cell = DecoderCell::automatic;
  bool overwrite = false;
  int processes = 1;
  double comm_timeout = 60;  // seconds of silence after which a rank counts as lost; 0: never
  bool profile = false;
  bool dry_run = false;                                      // check everything, report, write nothing
  std::vector<double> optimizer_params = {0.9, 0.98, 1e-9};  // beta1, beta2, epsilon
};

}  // namespace dragoman
