#pragma once
#include <span>
#include <string>

#include "interop/languages.h"

namespace dragoman {

/// Which of the languages that jobs name a model lets them choose. "" and "und" (undetermined) name none.
class JobLanguages {
 public:
  /// The vocabularies must outlive it.
  JobLanguages(const ModelConfig& config, const Vocabularies& vocabularies);

  const LanguageChoice& choice() const { return choice_; }
  /// Whether jobs may choose this source or target. They choose any if the model does not let them.
  bool know_source(const std::string& language) const;
  bool know_target(const std::string& language) const;
  /// Of the languages that a job names, those that it chooses; the others have no effect. Error if one that it has to
  /// choose is missing or unknown. No target is missing if all texts begin with its tag. `beginnings`: of the texts.
  Languages chosen(const Languages& named, std::span<const std::string> beginnings) const;
  /// Whether a text that begins so has the tag of its target language.
  bool are_named_in(const std::string& beginning) const;

 private:
  const Vocabularies& vocabularies_;
  const LanguageChoice choice_;
};

}  // namespace dragoman
