#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// A text as the translator takes it: its lines, of which each is translated by itself. White space around them stays
/// as it is.
class TextLines {
 public:
  explicit TextLines(std::string_view text);

  const std::vector<std::string>& sentences() const { return sentences_; }
  /// The text with each sentence replaced.
  std::string assemble(std::span<const std::string> translations) const;

 private:
  std::vector<std::string> sentences_;
  std::vector<std::string> between_;  // before each of them, and after the last
};

}  // namespace dragoman
