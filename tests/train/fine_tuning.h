#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "backend/registry.h"
#include "tests/train/toy_run.h"
#include "train/trainer.h"

namespace dragoman {

/// A model of some updates, under the name "first.safetensors" beside the toy run's own.
struct FineTuning : testing::Test {
  FineTuning() {
    run.train_until(12);
    std::filesystem::rename(run.setup.training.model, first());
    std::filesystem::remove(state_path(run.setup.training.model));
    run.setup.training.pretrained_model = first();
    run.setup.training.seed = 5;
    run.log.clear();
  }
  std::string first() const { return run.files / "first.safetensors"; }
  std::string complaint() {
    return message_of([&] { Trainer(run.setup, backend("cpu")); });
  }
  /// A run that stops and resumes without the pretrained model ends in the bytes of one that does not stop.
  void expect_to_resume_to_the_same_bytes(const std::function<void(OptimizerOptions&)>& set) {
    ToyRun straight;
    straight.setup.training.seed = 5;
    straight.setup.training.pretrained_model = first();
    for (ToyRun* r : {&straight, &run}) set(r->setup.optimizer);
    straight.train_until(9);
    run.train_until(4);
    std::filesystem::remove(first());  // no longer needed
    run.train_until(9);
    EXPECT_TRUE(straight.model_bytes() == run.model_bytes());
    EXPECT_TRUE(straight.state_bytes() == run.state_bytes());
  }
  ToyRun run;
};

}  // namespace dragoman
