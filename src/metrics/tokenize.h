#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/enum_names.h"
#include "dragoman/evaluate.h"
#include "vocab/vocabulary.h"

namespace dragoman {

inline std::span<const EnumName<Tokenizer>> enum_names(Tokenizer) {
  static constexpr EnumName<Tokenizer> names[] = {{Tokenizer::thirteen_a, "13a"}, {Tokenizer::intl, "intl"},
                                                  {Tokenizer::zh, "zh"},          {Tokenizer::character, "char"},
                                                  {Tokenizer::none, "none"},      {Tokenizer::spm, "spm"}};
  return names;
}

/// The choices of a command that takes no model.
inline constexpr std::string_view tokenizers_without_model = "13a, intl, zh, char, none";

/// Throws Error unless spm has a model and the others have none.
void require_tokenizer_model(Tokenizer tokenizer, const std::string& model);

/// Throws Error for spm: the option, of a command without --tokenize-model, cannot be it.
void require_tokenizer_without_model(std::string_view option, Tokenizer tokenizer);

/// A tokenizer with its model, if it is spm. Calls are thread-safe.
class LineTokenizer {
 public:
  /// Throws Error for spm, which needs a model.
  LineTokenizer(Tokenizer tokenizer) : LineTokenizer(tokenizer, "") {}  // NOLINT: implicit
  /// Reads the model. Throws what require_tokenizer_model() throws, and Error for a file that is no SentencePiece
  /// model.
  LineTokenizer(Tokenizer tokenizer, const std::string& model);

  /// `text` with words separated by white space, for metrics::split.
  std::u32string operator()(std::u32string_view text) const;

  Tokenizer name() const { return name_; }
  const std::optional<Vocabulary>& model() const { return model_; }

 private:
  Tokenizer name_;
  std::optional<Vocabulary> model_;
};

}  // namespace dragoman
