#pragma once
#include <gtest/gtest.h>

#include <filesystem>

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
  std::string first() const { return run.files.path("first.safetensors"); }
  std::string complaint() {
    return message_of([&] { Trainer(run.setup, backend("cpu")); });
  }
  ToyRun run;
};

}  // namespace dragoman
