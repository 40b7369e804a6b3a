#pragma once
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "comm/agreement.h"
#include "decode/options.h"
#include "decode/searches.h"
#include "decode/word_constraints.h"
#include "io/load_model.h"
#include "io/shortlist.h"

namespace dragoman {

/// The loaded models of an ensemble, their shortlist, their glossary and the phrases that they avoid. Memory: the
/// packed weights. Threads may read concurrently, but the context of each model is for one thread at a time.
class LoadedEnsemble {
 public:
  /// Logs a notice if int8 will be slow. Error for files that are not models, for different vocabularies, for a
  /// precision that the device does not support, for a model of several languages without those that requests cannot
  /// name, for a shortlist for other vocabularies, for a shortlist with a model trained with --copy, for malformed
  /// files of terms or phrases, and for a term that contains a phrase to avoid.
  LoadedEnsemble(const EnsembleOptions& options, const Backend& device);
  LoadedEnsemble(const LoadedEnsemble&) = delete;

  std::span<const TranslatingModel> models() const { return models_; }
  const Vocabularies& vocabularies() const { return loaded_[0].vocabularies; }
  WordConstraints word_constraints() const {
    return {shortlist_ ? &*shortlist_ : nullptr, glossary_ ? &*glossary_ : nullptr, avoid_};
  }
  /// Checksums of all that has been loaded, for processes that need the same.
  std::vector<SharedFact> facts() const;
  /// What the pieces of the target vocabulary write; made by the first call. Any thread may call it.
  std::shared_ptr<const PieceTexts> piece_texts() const;

 private:
  void add(const std::string& path, const EnsembleOptions& options, const Backend& device);
  void note_slow_int8(const Backend& device) const;

  Arena arena_;
  std::deque<LoadedModel> loaded_;  // a deque, since models_ points to the elements
  std::deque<Context> contexts_;
  std::vector<TranslatingModel> models_;
  std::optional<Shortlist> shortlist_;
  std::optional<Glossary> glossary_;
  std::shared_ptr<const ForbiddenPhrases> avoid_;
  mutable std::once_flag has_piece_texts_;
  mutable std::shared_ptr<const PieceTexts> piece_texts_;
};

}  // namespace dragoman
