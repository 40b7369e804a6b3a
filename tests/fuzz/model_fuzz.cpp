#include "io/config_json.h"
#include "io/int8_weights.h"
#include "tests/fuzz/input_file.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/tiny_model.h"

namespace dragoman {

namespace {

std::string save_in_int8(const std::string& path) {
  Arena arena;
  const auto model = toy_model(arena, 1, tiny_config());
  save_model(path, tiny_config(), {toy_vocabulary(), toy_vocabulary()},
             in_int8(weights_of(model->parameters()), arena, path));
  return path;
}

}  // namespace

std::vector<std::string> seeds() {
  const TemporaryFolder folder;
  ModelConfig learned = tiny_config();
  learned.norm = NormPlacement::pre;
  learned.positions = Positions::learned;
  learned.max_positions = 4;
  learned.embeddings.tied_all = false;
  return {without_checksum(read_file(save_toy_model(folder / "m", 1, tiny_config()))),
          without_checksum(read_file(save_toy_model(folder / "l", 1, learned))),
          without_checksum(read_file(save_in_int8(folder / "q"))), to_json(tiny_config()), to_json(learned)};
}

// A whole file, or the JSON of its configuration alone.
void read(std::string_view input) {
  if (input.starts_with('{')) return void(config_from_json(std::string(input), "input"));
  const InputFile file(input);
  Arena arena;
  const ModelFile model(file.path());
  const LoadedModel loaded = load_model(model, backend("cpu"), arena, model.stored_type());
  loaded.vocabularies.target.decode(loaded.vocabularies.source.encode("a dog ."));
}

}  // namespace dragoman
