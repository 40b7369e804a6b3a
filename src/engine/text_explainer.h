#pragma once
#include <optional>
#include <string>

#include "base/line_reader.h"
#include "engine/explain_options.h"
#include "explain/explanation.h"
#include "io/load_model.h"
#include "model/frame.h"
#include "score/pair_reader.h"

namespace dragoman {

/// Reads pairs of lines, or reads lines and translates them, and explains the pairs one by one. For one thread at a
/// time.
class TextExplainer {
 public:
  /// Error for files that cannot be read, and for a model that lacks a chosen attention.
  TextExplainer(const ExplainOptions& options, const Backend& device);
  TextExplainer(const TextExplainer&) = delete;

  /// The explanation of the next pair; if the pair is too long, only the reason why there is none. nullopt at the end
  /// of the text, or at max_lines, with a warning if another line is there.
  std::optional<Explanation> next();
  /// Whether next() would return without waiting for input.
  bool ready() { return input_ ? input_->ready() : files_->ready(); }

 private:
  bool has_more();
  bool read(IdPair& pair);
  bool read_translated(IdPair& pair);
  std::vector<int32_t> translation_of(const std::vector<int32_t>& ids);
  Explanation explanation_of(const IdPair& pair) const;

  const ExplainOptions options_;
  Arena arena_;
  LoadedModel loaded_;
  Context cx_;
  const SentenceFrames frames_;
  const Explainer explainer_;
  std::optional<LineReader> input_;
  std::optional<PairReader> files_;
  int64_t lines_ = 0;
};

}  // namespace dragoman
