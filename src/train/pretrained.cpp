#include "train/pretrained.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/log.h"
#include "interop/marian_files.h"
#include "io/int8_weights.h"
#include "nn/parameters.h"
#include "train/vocabularies.h"
#include "vocab/protected_symbols.h"

namespace dragoman {
namespace {

[[noreturn]] void complain(const std::string& model, const std::string& what) {
  throw Error(fmt::format("--pretrained-model {}: {}", model, what),
              fmt::format("give the options that it was trained with; dragoman inspect {} shows them", model));
}

bool is_or_extends(const Vocabulary& longer, const Vocabulary& vocabulary) {
  return longer.bytes() == vocabulary.bytes() || extends(longer, vocabulary);
}

// Whether a tensor has a row for each piece, of which there are more now.
bool grows(const std::vector<int64_t>& stored, const std::vector<int64_t>& wanted, const Vocabularies& before,
           const Vocabularies& now) {
  const auto by = [&](const Vocabulary Vocabularies::*side) {
    std::vector<int64_t> more = stored;
    more[0] += (now.*side).size() - (before.*side).size();
    return stored[0] == (before.*side).size() && more == wanted;
  };
  return !stored.empty() && (by(&Vocabularies::source) || by(&Vocabularies::target));
}

void require_same_shapes(const ModelFile& file, const std::string& model, const Parameters& parameters,
                         const Vocabularies& vocabularies) {
  std::set<std::string> known = {"vocabulary.source", "vocabulary.target"};
  for (const auto& weight : parameters.named()) {
    if (weight.is_update()) continue;
    const TensorEntry* stored = file.tensors().find(weight.name);
    const std::vector<int64_t> wanted = entry_of(weight.name, weight.value).shape;
    if (!stored)
      complain(model, fmt::format("it has no {}, this run has one of ({})", weight.name, fmt::join(wanted, ",")));
    if (stored->shape != wanted && !grows(stored->shape, wanted, file.vocabularies(), vocabularies))
      complain(model, fmt::format("its {} is ({}), that of this run ({})", weight.name, fmt::join(stored->shape, ","),
                                  fmt::join(wanted, ",")));
    if (stored->shape != wanted && weight.frozen)
      throw Error(fmt::format("{} gets rows for the symbols of --protected-symbols, but this run does not train it",
                              weight.name),
                  "leave out --lora-rank, or the pattern of --freeze that names it");
    known.insert({weight.name, scale_name(weight.name)});
  }
  for (const TensorEntry& t : file.tensors().tensors())
    if (!known.contains(t.name))
      complain(model, fmt::format("it has {} ({}), this run has none", t.name, fmt::join(t.shape, ",")));
}

}  // namespace

OpenOptions pretrained_options(const std::string& model, const std::vector<std::string>& paths) {
  const bool all_exist =
      std::ranges::all_of(paths, [](const std::string& path) { return std::filesystem::exists(path); });
  if (!all_exist || !find_marian_files(model)) return {};
  return {.vocabs = paths};
}

ModelFile open_pretrained(const std::string& model, const Parameters& parameters, const Vocabularies& vocabularies,
                          const std::vector<std::string>& paths) {
  ModelFile file = open_model(model, pretrained_options(model, paths));
  const Vocabularies& its = file.vocabularies();
  if (!is_or_extends(vocabularies.source, its.source) || !is_or_extends(vocabularies.target, its.target))
    require_its_vocabularies(file, vocabularies, paths,
                             "give that model's vocabularies as --vocabs; missing files are written from the model");
  require_same_shapes(file, model, parameters, vocabularies);
  return file;
}

TrainedLengths load_pretrained(const std::string& model, const Parameters& parameters, const Vocabularies& vocabularies,
                               const std::vector<std::string>& paths) {
  const ModelFile file = open_pretrained(model, parameters, vocabularies, paths);
  for (size_t i = 0; i < parameters.buffers().size(); ++i)
    if (!parameters.slices_of(i).front().is_update()) file.load_buffer(parameters, i, parameters.buffers()[i].value());
  log_info("Initialised the parameters from {}", model);
  return file.trained();
}

}  // namespace dragoman
