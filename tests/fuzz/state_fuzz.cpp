#include "tests/fuzz/input_file.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/tiny_model.h"
#include "train/checkpoint.h"
#include "train/progress_json.h"

namespace dragoman {
namespace {

// A run that has just begun; states are read into it.
struct Run {
  Arena arena;
  std::unique_ptr<Model> model = make_model(tiny_config(), backend("cpu"), arena, DType::f32, true);
  Adam adam{backend("cpu"), arena, model->parameters(), {}};
  std::optional<MovingAverage> average{std::in_place, backend("cpu"), arena, model->parameters(), 0.1};
  Progress progress;
  BatchOrder order{4711, "--mini-batch-words 100"};

  Ownership ownership{model->parameters().flat_elements()};
  RunState state() { return {model->parameters(), adam, average, progress, model->baseline(), ownership}; }
};

Run& run() {
  static Run run;
  return run;
}

}  // namespace

std::vector<std::string> seeds() {
  const TemporaryFolder folder;
  run().model->parameters().initialise(1);
  run().progress.best["bleu"] = 12;
  save_state(folder / "s", run().state(), tiny_config(), run().order);
  return {without_checksum(read_file(folder / "s")), to_json(StoredProgress{run().progress, 5}),
          to_json(StoredProgress{{.updates = 9, .loss_scale = {128, 3}, .position = {2, 1}}, 9})};
}

// A whole file, or the JSON of its progress alone.
void read(std::string_view input) {
  if (input.starts_with('{')) return void(progress_from(std::string(input), "input"));
  const InputFile file(input);
  load_state(file.path(), run().state(), tiny_config(), run().order);
}

}  // namespace dragoman
