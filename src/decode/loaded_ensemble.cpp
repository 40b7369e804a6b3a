#include "decode/loaded_ensemble.h"

#include <algorithm>

#include "backend/backend.h"
#include "backend/registry.h"
#include "base/error.h"
#include "base/log.h"
#include "interop/languages.h"
#include "interop/open_model.h"
#include "interop/open_shortlist.h"
#include "model/frame.h"
#include "model/model.h"

namespace dragoman {
namespace {

LoadedModel load_one(const std::string& path, const EnsembleOptions& options, const Backend& device, Arena& arena) {
  const ModelFile file =
      open_model(path, {.vocabs = options.vocabs, .languages = {options.source_lang, options.target_lang}});
  switch (options.precision) {
    case Precision::automatic:
      return load_model(file, device, arena, file.stored_type());
    case Precision::float32:
      return load_model(file, device, arena, DType::f32);
    case Precision::bfloat16:
      return load_model(file, device, arena, DType::bf16);
    case Precision::float16:
      if (!device.supports(DType::f16))
        throw Error("--precision float16 is for GPUs, and --devices is cpu", "use bfloat16 or int8");
      return load_model(file, device, arena, DType::f16);
    case Precision::int8:
      return load_model(file, device, arena, DType::i8);
  }
  fail("unknown precision {}", name_of(options.precision));
}

std::string first_difference(const Vocabulary& a, const Vocabulary& b) {
  const int both = std::min(a.size(), b.size());
  for (int id = 0; id < both; ++id)
    if (a.piece(id) != b.piece(id))
      return fmt::format("the first that differs has id {}: '{}' and '{}'", id, a.piece(id), b.piece(id));
  return a.size() == b.size() ? "the same ones, with other scores or another normalisation"
                              : fmt::format("the first {} are the same", both);
}

void require_same(const char* side, const Vocabulary& a, const std::string& a_model, const Vocabulary& b,
                  const std::string& b_model) {
  if (a.bytes() == b.bytes()) return;
  throw Error(fmt::format("{} and {} cannot translate together: their {} vocabularies differ ({} and {} pieces; {})",
                          a_model, b_model, side, a.size(), b.size(), first_difference(a, b)),
              "train the models of an ensemble with the same --vocabs");
}

// A copying model may generate any source piece, which may not be in the shortlist.
void require_all_pieces(const LoadedModel& model, const std::string& path, const std::string& shortlist) {
  if (shortlist.empty() || !model.model->config().copies) return;
  throw Error(
      fmt::format(
          "--shortlist {} cannot be used with {}, which was trained with --copy: it would leave out pieces to copy",
          shortlist, path),
      "leave --shortlist out");
}

// Requests name what language_choice() lists; all else that the model needs must be stored in it.
void require_languages(const LoadedModel& m, bool requests_name_languages) {
  ModelConfig config = m.model->config();
  if (requests_name_languages) {
    const LanguageChoice choice = language_choice(config, m.vocabularies);
    if (!choice.sources.empty()) config.generation.source_language_id = 0;
    if (!choice.targets.empty()) config.generation.target_language_id = 0;
  }
  frames_of(config);  // Error that says which one is missing
}

}  // namespace

LoadedEnsemble::LoadedEnsemble(const EnsembleOptions& options, const Backend& device) : arena_(arena_of(device)) {
  for (const std::string& path : options.models) add(path, options, device);
  note_slow_int8(device);
  if (!options.shortlist.empty())
    shortlist_ =
        open_shortlist(options.shortlist, options.shortlist_limits, vocabularies().source, vocabularies().target);
  if (!options.glossary.empty()) glossary_.emplace(options.glossary, vocabularies().target);
  if (!options.avoid.empty()) avoid_ = std::make_shared<const ForbiddenPhrases>(options.avoid, piece_texts());
  if (glossary_ && avoid_) glossary_->require_without(*avoid_);
}

std::shared_ptr<const PieceTexts> LoadedEnsemble::piece_texts() const {
  std::call_once(has_piece_texts_,
                 [this] { piece_texts_ = std::make_shared<const PieceTexts>(vocabularies().target); });
  return piece_texts_;
}

std::vector<SharedFact> LoadedEnsemble::facts() const {
  std::vector<SharedFact> facts;
  for (const LoadedModel& m : loaded_) facts.push_back({"model (checksum)", m.checksum});
  if (shortlist_) facts.push_back({"shortlist (checksum)", shortlist_->checksum()});
  if (glossary_) facts.push_back({"glossary (checksum)", glossary_->checksum()});
  if (avoid_) facts.push_back({"list of phrases to avoid (checksum)", avoid_->checksum()});
  return facts;
}

void LoadedEnsemble::add(const std::string& path, const EnsembleOptions& options, const Backend& device) {
  LoadedModel& m = loaded_.emplace_back(load_one(path, options, device, arena_));
  require_same("source", vocabularies().source, options.models[0], m.vocabularies.source, path);
  require_same("target", vocabularies().target, options.models[0], m.vocabularies.target, path);
  require_all_pieces(m, path, options.shortlist);
  require_languages(m, options.requests_name_languages);
  Context& cx = contexts_.emplace_back(
      Context{.backend = device, .arena = arena_, .packed = &m.packed, .rounded = m.rounded.get()});
  const double weight = options.weights.empty() ? 1.0 / double(options.models.size()) : options.weights[models_.size()];
  models_.push_back({&cx, m.model.get(), weight, m.trained.source, options.mean});
}

// Explains a low speed.
void LoadedEnsemble::note_slow_int8(const Backend& device) const {
  const auto in_int8 = [](const LoadedModel& m) {
    return std::ranges::any_of(m.packed, [](const auto& w) { return w.second.dtype() == DType::i8; });
  };
  if (device.multiplies_int8 || std::ranges::none_of(loaded_, in_int8)) return;
  log_info(
      "This CPU ({}) has no int8 instructions (VNNI; on ARM, dot product): int8 gives the same translations, but more "
      "slowly",
      device.instructions);
}

}  // namespace dragoman
