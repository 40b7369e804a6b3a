#include "io/config_json.h"
#include "io/int8_weights.h"
#include "model/config_fields.h"
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

std::vector<std::string> split(const std::string& names) {
  std::vector<std::string> all;
  for (size_t at = 0, end = 0; end != names.npos; at = end + 2) {
    end = names.find(", ", at);
    all.push_back(names.substr(at, end - at));
  }
  return all;
}

// Configurations in which each choice has its first, second, ... name: no model has them, but each is a word to change
// others with.
std::vector<std::string> all_choices() {
  constexpr int most_names = 8;
  std::vector<std::string> all;
  for (int number = 0; number < most_names; ++number) {
    ModelConfig config = tiny_config();
    for (const ConfigField& field : model_config_fields()) {
      const ConfigMember member = field.member(config);
      const auto* choice = std::get_if<EnumMember>(&member);
      if (choice == nullptr) continue;
      const std::vector<std::string> names = split(choice->names());
      choice->set(choice->value, names[size_t(number) % names.size()]);
    }
    all.push_back(to_json(config));
  }
  return all;
}

}  // namespace

std::vector<std::string> seeds() {
  const TemporaryFolder folder;
  ModelConfig learned = tiny_config();
  learned.norm = NormPlacement::pre;
  learned.positions = Positions::learned;
  learned.max_positions = 4;
  learned.embeddings.tied_all = false;
  std::vector<std::string> all = all_choices();
  for (const std::string& path : {save_toy_model(folder / "m", 1, tiny_config()),
                                  save_toy_model(folder / "l", 1, learned), save_in_int8(folder / "q")})
    all.insert(all.end(), 2, without_checksum(read_file(path)));
  all.insert(all.end(), {to_json(tiny_config()), to_json(learned)});
  return all;
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
