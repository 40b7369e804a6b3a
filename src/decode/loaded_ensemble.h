#pragma once
#include <deque>
#include <optional>
#include <vector>

#include "decode/options.h"
#include "decode/searches.h"
#include "io/load_model.h"
#include "io/shortlist.h"

namespace dragoman {

/// The loaded models of an ensemble and their shortlist. Memory: the packed weights. Threads may read concurrently, but
/// the context of each model is for one thread at a time.
class LoadedEnsemble {
 public:
  /// Logs a notice if int8 will be slow. Error for files that are not models, for different vocabularies, for a
  /// precision that the device does not support, for a shortlist for other vocabularies, and for a shortlist with a
  /// model trained with --copy.
  LoadedEnsemble(const EnsembleOptions& options, const Backend& device);
  LoadedEnsemble(const LoadedEnsemble&) = delete;

  std::span<const TranslatingModel> models() const { return models_; }
  const Vocabularies& vocabularies() const { return loaded_[0].vocabularies; }
  const Shortlist* shortlist() const { return shortlist_ ? &*shortlist_ : nullptr; }  // null: all pieces are allowed

 private:
  void add(const std::string& path, const EnsembleOptions& options, const Backend& device);
  void note_slow_int8(const Backend& device) const;

  Arena arena_;
  std::deque<LoadedModel> loaded_;  // a deque, since models_ points to the elements
  std::deque<Context> contexts_;
  std::vector<TranslatingModel> models_;
  std::optional<Shortlist> shortlist_;
};

}  // namespace dragoman
