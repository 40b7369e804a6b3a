#pragma once
#include "options/flags.h"

namespace dragoman {

template <class O>
Flag<O> vocabs_flag(std::string_view group) {
  return {.name = "vocabs",
          .letter = 'v',
          .field = &O::vocabs,
          .value = "SOURCE TARGET",
          .group = group,
          .help = "vocabularies of another program's model, if no file next to it names them"};
}

/// Options that a model of another program may need, for commands that open such models.
template <class O>
std::vector<Flag<O>> open_flags(std::string_view group) {
  return {vocabs_flag<O>(group),
          {.name = "source-lang",
           .field = &O::source_lang,
           .value = "LANG",
           .group = group,
           .help = "source language, for multilingual models, by the model's own name, such as eng_Latn, en or en_XX"},
          {.name = "target-lang",
           .field = &O::target_lang,
           .value = "LANG",
           .group = group,
           .help = "target language, for multilingual models"}};
}

template <class O>
void check_vocabs(const O& o, Findings& findings) {
  if (!o.vocabs.empty()) check_pair("vocabs", o.vocabs, findings);
}

}  // namespace dragoman
