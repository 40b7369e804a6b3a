#include "tests/fuzz/input_file.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/tiny_model.h"

namespace dragoman {

std::vector<std::string> seeds() {
  const TemporaryFolder folder;
  ModelConfig learned = tiny_config();
  learned.norm = NormPlace::pre;
  learned.positions = Positions::learned;
  learned.max_positions = 4;
  learned.tied_embeddings_all = false;
  return {without_checksum(read_file(save_toy_model(folder / "m", 1, tiny_config()))),
          without_checksum(read_file(save_toy_model(folder / "l", 1, learned)))};
}

void read(std::string_view input) {
  const InputFile file(input);
  Arena arena;
  const LoadedModel loaded = load_model(file.path(), backend("cpu"), arena);
  loaded.vocabularies.target.decode(loaded.vocabularies.source.encode("a dog ."));
}

}  // namespace dragoman
