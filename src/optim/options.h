#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/enum_names.h"

namespace dragoman {

/// The learning rate after warm-up. inverse_sqrt: peak · √(warmup / update); noam: the paper's formula,
/// factor · dim^-½ · min(update^-½, update · warmup^-1.5), with learn_rate as the factor; cosine and linear: decay
/// to zero at `decay_updates`.
enum class Schedule { inverse_sqrt, noam, cosine, linear, constant };

inline std::span<const EnumName<Schedule>> enum_names(Schedule) {
  static constexpr EnumName<Schedule> names[] = {{Schedule::inverse_sqrt, "inverse-sqrt"},
                                                 {Schedule::noam, "noam"},
                                                 {Schedule::cosine, "cosine"},
                                                 {Schedule::linear, "linear"},
                                                 {Schedule::constant, "constant"}};
  return names;
}

/// Adam (Kingma & Ba 2015), the learning rate, and what is done to gradients and weights.
struct OptimizerOptions {
  double learn_rate = 7e-4;  // at the peak; noam: the factor of the formula
  double beta1 = 0.9;
  double beta2 = 0.98;
  double epsilon = 1e-9;
  double weight_decay = 0;  // decoupled (Loshchilov & Hutter 2019): weight -= rate · weight_decay · weight
  int64_t warmup = 4000;    // updates of linear increase from warmup_start to learn_rate
  double warmup_start = 0;  // the rate before the first update; not of noam
  Schedule schedule = Schedule::inverse_sqrt;
  int64_t decay_from = 0;     // inverse_sqrt: rate = learn_rate · √(decay_from / update); 0: from `warmup`
  int64_t decay_updates = 0;  // cosine, linear: update at which the rate is zero
  double label_smoothing = 0.1;
  double clip_norm = 1;              // largest norm of the whole gradient; 0: no clipping
  double exponential_smoothing = 0;  // weight of the new parameters in the average, usually 1e-4; 0: off
  std::vector<std::string> freeze;   // shell patterns of parameter names that training does not change
  int64_t lora_rank = 0;             // train low-rank updates of this rank (Trainable); 0: the weights themselves
  int64_t optimizer_delay = 1;       // batches whose gradients are summed for one update
};

}  // namespace dragoman
