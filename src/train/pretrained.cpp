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

void require_same_shapes(const ModelOutline& its, const Parameters& parameters, const Vocabularies& vocabularies) {
  std::set<std::string> known = {"vocabulary.source", "vocabulary.target"};
  for (const auto& weight : parameters.named()) {
    if (weight.is_update()) continue;
    const auto found = its.shapes.find(weight.name);
    const std::vector<int64_t> wanted = entry_of(weight.name, weight.value).shape;
    if (found == its.shapes.end())
      complain(its.path, fmt::format("it has no {}, this run has one of ({})", weight.name, fmt::join(wanted, ",")));
    const std::vector<int64_t>& stored = found->second;
    if (stored != wanted && !grows(stored, wanted, its.vocabularies, vocabularies))
      complain(its.path, fmt::format("its {} is ({}), that of this run ({})", weight.name, fmt::join(stored, ","),
                                     fmt::join(wanted, ",")));
    if (stored != wanted && weight.frozen)
      throw Error(fmt::format("{} gets rows for the symbols of --protected-symbols, but this run does not train it",
                              weight.name),
                  "leave out --lora-rank, or the pattern of --freeze that names it");
    known.insert({weight.name, scale_name(weight.name)});
  }
  for (const auto& [name, shape] : its.shapes)
    if (!known.contains(name))
      complain(its.path, fmt::format("it has {} ({}), this run has none", name, fmt::join(shape, ",")));
}

void require_known_vocabularies(const ModelOutline& its, const Vocabularies& vocabularies,
                                const std::vector<std::string>& paths) {
  if (!is_or_extends(vocabularies.source, its.vocabularies.source) ||
      !is_or_extends(vocabularies.target, its.vocabularies.target))
    require_its_vocabularies(its.path, its.vocabularies, vocabularies, paths,
                             "give that model's vocabularies as --vocabs; missing files are written from the model");
}

void require_fitting(const ModelOutline& its, const Parameters& parameters, const Vocabularies& vocabularies,
                     const std::vector<std::string>& paths) {
  require_known_vocabularies(its, vocabularies, paths);
  require_same_shapes(its, parameters, vocabularies);
}

}  // namespace

OpenOptions pretrained_options(const std::string& model, const std::vector<std::string>& paths) {
  const bool all_exist =
      std::ranges::all_of(paths, [](const std::string& path) { return std::filesystem::exists(path); });
  if (!all_exist || !find_marian_files(model)) return {};
  return {.vocabs = paths};
}

void require_pretrained(const std::string& model, const Parameters& parameters, const Vocabularies& vocabularies,
                        const std::vector<std::string>& paths) {
  require_fitting(outline_of(model, pretrained_options(model, paths)), parameters, vocabularies, paths);
}

void require_pretrained_vocabularies(const std::string& model, const Vocabularies& vocabularies,
                                     const std::vector<std::string>& paths) {
  require_known_vocabularies(outline_of(model, pretrained_options(model, paths)), vocabularies, paths);
}

TrainedLengths load_pretrained(const std::string& model, const Parameters& parameters, const Vocabularies& vocabularies,
                               const std::vector<std::string>& paths) {
  const ModelFile file = open_model(model, pretrained_options(model, paths));
  require_fitting(outline_of(file), parameters, vocabularies, paths);
  warn_if_rounded(file, model);
  for (size_t i = 0; i < parameters.buffers().size(); ++i)
    if (!parameters.slices_of(i).front().is_update()) file.load_buffer(parameters, i, parameters.buffers()[i].value());
  log_info("Initialised the parameters from {}", model);
  return file.trained();
}

}  // namespace dragoman
