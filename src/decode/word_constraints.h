#pragma once
#include "decode/forbidden_phrases.h"
#include "decode/glossary.h"
#include "io/shortlist.h"

namespace dragoman {

/// What constrains the words of translations. A null member: no constraint of this kind.
struct WordConstraints {
  const Shortlist* shortlist = nullptr;                     // the pieces that are allowed
  const Glossary* glossary = nullptr;                       // the phrases that must occur
  std::shared_ptr<const ForbiddenPhrases> avoid = nullptr;  // the phrases that must not occur
};

}  // namespace dragoman
