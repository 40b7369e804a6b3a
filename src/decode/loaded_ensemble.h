#pragma once
#include <deque>
#include <optional>
#include <vector>

#include "decode/lexicons.h"
#include "decode/options.h"
#include "decode/searches.h"
#include "io/load_model.h"
#include "io/shortlist.h"

namespace dragoman {

/// The loaded models of an ensemble, their shortlist and their glossary. Memory: the packed weights. Threads may read
/// concurrently, but the context of each model is for one thread at a time.
class LoadedEnsemble {
 public:
  /// Logs a notice if int8 will be slow. Error for files that are not models, for different vocabularies, for a
  /// precision that the device does not support, for a shortlist for other vocabularies, for a shortlist with a model
  /// trained with --copy, and for a glossary that is none.
  LoadedEnsemble(const EnsembleOptions& options, const Backend& device);
  LoadedEnsemble(const LoadedEnsemble&) = delete;

  std::span<const TranslatingModel> models() const { return models_; }
  const Vocabularies& vocabularies() const { return loaded_[0].vocabularies; }
  Lexicons lexicons() const { return {shortlist_ ? &*shortlist_ : nullptr, glossary_ ? &*glossary_ : nullptr}; }

 private:
  void add(const std::string& path, const EnsembleOptions& options, const Backend& device);
  void note_slow_int8(const Backend& device) const;

  Arena arena_;
  std::deque<LoadedModel> loaded_;  // a deque, since models_ points to the elements
  std::deque<Context> contexts_;
  std::vector<TranslatingModel> models_;
  std::optional<Shortlist> shortlist_;
  std::optional<Glossary> glossary_;
};

}  // namespace dragoman
