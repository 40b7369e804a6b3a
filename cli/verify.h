#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/scratch_folder.h"
#include "cli/convert_options.h"

namespace dragoman {

class Engine;

/// Compares the other program's results for its model with dragoman's: log-probabilities of dragoman's greedy
/// translations of a text, and its own greedy translations.
class Verification {
 public:
  /// Reads the text. Made before the model is converted, which may take long: Error if the text cannot be read, if the
  /// model is not of a program that can be asked, or if that is not installed for python3 (pymarian, transformers,
  /// ctranslate2).
  explicit Verification(ConvertCommandOptions options);

  /// Prints what differs for the converted model.
  void compare(Engine& engine) const;

 private:
  // The lines to compare, without empty ones, and their numbers in the file.
  struct Sources {
    std::vector<std::string> lines;
    std::vector<size_t> numbers;  // from 1
  };
  struct Verdict {
    double score = 0;  // log-probability of our translation
    std::string translation;
  };

  static Sources sources_of(const std::string& path);
  static std::vector<Verdict> verdicts_of(std::string_view output, size_t lines);
  std::string ask(const std::vector<std::string>& arguments) const;
  std::vector<std::string> sources_with_language() const;
  std::vector<Verdict> ask_for_verdicts(const std::vector<std::string>& ours) const;

  ConvertCommandOptions options_;
  std::string program_;  // that the model comes from
  Sources sources_;
  ScratchFolder folder_;
};

}  // namespace dragoman
