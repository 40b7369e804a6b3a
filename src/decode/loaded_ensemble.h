#pragma once
#include <deque>
#include <optional>
#include <vector>

#include "decode/options.h"
#include "decode/searches.h"
#include "io/load_model.h"
#include "io/shortlist.h"

namespace dragoman {

/// Models that are loaded to translate together, and their shortlist. Memory: the weights, packed. Other threads may
/// read while none writes, but the context of each model is for one thread.
class LoadedEnsemble {
 public:
  /// Logs where 8 bits will be slow. Error for files that are no models, for different vocabularies, for a precision
  /// that the device lacks and for a shortlist of other vocabularies or of a model that copies.
  LoadedEnsemble(const EnsembleOptions& options, const Backend& device);
  LoadedEnsemble(const LoadedEnsemble&) = delete;

  std::span<const TranslatingModel> models() const { return models_; }
  const Vocabularies& vocabularies() const { return loaded_[0].vocabularies; }
  const Shortlist* shortlist() const { return shortlist_ ? &*shortlist_ : nullptr; }  // null: all pieces are allowed

 private:
  void add(const std::string& path, const EnsembleOptions& options, const Backend& device);
  void note_slow_int8(const Backend& device) const;

  Arena arena_;
  std::deque<LoadedModel> loaded_;  // what models_ points to stays where it is
  std::deque<Context> contexts_;
  std::vector<TranslatingModel> models_;
  std::optional<Shortlist> shortlist_;
};

}  // namespace dragoman
