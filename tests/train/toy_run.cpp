#include "tests/train/toy_run.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/philox.h"
#include "vocab/training.h"

namespace dragoman {
namespace {

struct Text {
  std::string source, target;
};

Text numbers(int pairs, uint64_t seed) {
  constexpr std::array english = {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"};
  constexpr std::array german = {"eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn"};
  PhiloxSequence draw(seed, 0);
  Text text;
  for (int i = 0; i < pairs; ++i) {
    const uint64_t words = 2 + draw.below(4);
    for (uint64_t w = 0; w < words; ++w) {
      const uint64_t number = draw.below(english.size());
      const char* after = w + 1 == words ? "\n" : " ";
      text.source += std::string(english[number]) + after;
      text.target += std::string(german[number]) + after;
    }
  }
  return text;
}

// A hundred pieces, most of them whole words; learned once a process.
const std::string& vocabulary() {
  static const std::string bytes = [] {
    const TemporaryFolder files;
    const Text text = numbers(200, 1);
    const std::string model = files / "joint.spm";
    train_vocabulary({.inputs = {files.make("en", text.source), files.make("de", text.target)},
                      .model = model,
                      .size = 100,
                      .byte_fallback = false});
    return read_file(model);
  }();
  return bytes;
}

}  // namespace

ToyRun::ToyRun(int pairs) {
  const Text train = numbers(pairs, 1), valid = numbers(20, 2);
  setup.data.train_sets = {files.make("train.en", train.source), files.make("train.de", train.target)};
  setup.training.valid_sets = {files.make("valid.en", valid.source), files.make("valid.de", valid.target)};
  setup.training.valid_freq = {};
  files.make("joint.spm", vocabulary());
  setup.data.vocabs = {files / "joint.spm", files / "joint.spm"};
  setup.data.mini_batch_words = 60;
  setup.model.dim = 16;
  setup.model.encoder_layers = setup.model.decoder_layers = 1;
  setup.model.heads = 2;
  setup.model.feed_forward = 32;
  setup.optimizer.learn_rate = 0.01;
  setup.optimizer.warmup = 20;
  setup.training.model = files / "model.safetensors";
}

Progress ToyRun::train_until(int64_t updates) {
  setup.training.after = {{updates, Frequency::updates}};
  Trainer trainer(setup, backend("cpu"), control);
  trainer.run();
  return trainer.progress();
}

std::vector<std::string> ToyRun::files_made() const {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(files / ".")) {
    const std::string name = file.path().filename().string();
    if (name.starts_with("model")) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return std::string(error.what()) + "\nhint: " + error.hint();
  }
  return "";
}

}  // namespace dragoman
