#pragma once
#include <unicode/edits.h>

#include <string>
#include <string_view>

namespace dragoman {

/// Text in Unicode's normalization form C, where é is one character however it was written. Of text that has this form
/// it is a view, after one pass.
class ComposedText {
 public:
  /// UTF-8 that outlives this object.
  explicit ComposedText(std::string_view original);
  std::string_view text() const { return changed_ ? std::string_view(composed_) : original_; }
  ComposedText(const ComposedText&) = delete;
  /// The byte of the original from which a byte of the text comes, the first of those that were composed. Calls for
  /// ascending bytes take one pass together.
  size_t in_original(size_t at);

 private:
  std::string_view original_;
  bool changed_;
  std::string composed_;
  icu::Edits edits_;
  icu::Edits::Iterator position_;  // in them
};

/// The text in Unicode's normalization form D, where é is e with a combining accent.
std::string decomposed(std::string_view text);

}  // namespace dragoman
