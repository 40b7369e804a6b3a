#pragma once
#include "base/error.h"
#include "cli/search_words.h"
#include "decode/options.h"
#include "decode/search_fields.h"
#include "options/shared_flags.h"

namespace dragoman {

/// How hypotheses are scored and end.
template <class Options>
std::vector<Flag<Options>> scoring_flags(std::string_view group, std::string_view help_of_beam_size) {
  return {
      beam_size_flag<Options>(group, help_of_beam_size),
      {.name = "normalize",
       .letter = 'n',
       .field = &Options::normalize,
       .value = "A",
       .group = group,
       .help = "divide scores by length to the power A; 0: off, which favours short translations (Marian: 0); without "
               "a value: 1",
       .range = search_bounds("normalize"),
       .implicit = "1"},
      {.name = "search-rule",
       .field = &Options::rule,
       .value = "NAME",
       .group = group,
       .help = "how hypotheses compete and end; auto: as in the program that the model comes from (docs/search.md)"},
      {.name = "length-penalty",
       .field = &Options::length_penalty_words,
       .value = "gnmt A",
       .group = group,
       .help =
           "divide scores by ((5 + length) / 6) to the power A instead of --normalize (Wu et al. 2016 use A = 0.6)"},
      {.name = "word-penalty",
       .field = &Options::word_penalty,
       .value = "X",
       .group = group,
       .help = "subtract X from the score for each token, before --normalize: above 0 favours shorter translations, "
               "below 0 longer ones",
       .range = search_bounds("word_penalty")},
  };
}

/// What translations may be like.
template <class Options>
std::vector<Flag<Options>> constraint_flags(std::string_view group) {
  return {
      {.name = "min-length",
       .field = &Options::min_length,
       .value = "N",
       .group = group,
       .help = "minimum length of translations in tokens; --max-length-add and --max-length-factor take precedence",
       .range = search_bounds("min_length")},
      {.name = "min-length-factor",
       .field = &Options::min_length_factor,
       .value = "X",
       .group = group,
       .help = "minimum length as a multiple X of the source length",
       .range = search_bounds("min_length_factor")},
      {.name = "max-length-add",
       .field = &Options::max_length_add,
       .value = "N",
       .group = group,
       .help = "maximum length: N tokens more than the source",
       .range = search_bounds("max_length_add")},
      {.name = "max-length-factor",
       .field = &Options::max_length_factor,
       .value = "X",
       .group = group,
       .help = "maximum length: X times the source length, instead of --max-length-add; 0: off (Marian: 3)",
       .range = search_bounds("max_length_factor")},
      {.name = "no-repeat-ngram",
       .field = &Options::no_repeat_ngram,
       .value = "N",
       .group = group,
       .help = "forbid repeated n-grams of this length; 0: off",
       .range = search_bounds("no_repeat_ngram")},
      {.name = "allow-unk",
       .field = &Options::allow_unk,
       .group = group,
       .help = "allow the unknown piece in translations, printed as ⁇"},
  };
}

/// For translate and serve, where no request can change it.
template <class Options>
Flag<Options> max_length_flag(std::string_view group) {
  return {.name = "max-length",
          .field = &Options::max_length,
          .value = "N",
          .group = group,
          .help = "split lines of more than N pieces into segments, at the end of a sentence if possible",
          .range = {1, 100'000}};
}

/// The rows of commands that search translations: translate, and serve for requests that do not say otherwise. Options
/// is a SearchOptions and SearchWords.
template <class Options>
std::vector<Flag<Options>> search_flags(std::string_view group, std::string_view help_of_beam_size) {
  return joined(scoring_flags<Options>(group, help_of_beam_size), constraint_flags<Options>(group));
}

template <class Options>
Flag<Options> shortlist_flag(std::string_view group) {
  return {.name = "shortlist",
          .field = &Options::shortlist_words,
          .value = "FILE [FIRST [BEST [X]]]",
          .group = group,
          .help =
              "restrict translations to the pieces that this shortlist, of dragoman align or of Marian, lists for the "
              "source: faster, slightly different translations; of a text shortlist ('target source probability' per "
              "line), use the FIRST lowest target ids and the BEST translations of each source piece with "
              "probabilities above X (default 100 100 0)",
          .files = FileWords::first};
}

/// A number in the words of an option. Error that names the option.
template <class T>
T number_of(std::string_view option, const std::string& word, Bounds bounds) {
  T number = 0;
  try {
    read_word(number, word, bounds);
  } catch (const Error& e) {
    fail("--{}: {}", option, e.what());
  }
  return number;
}

/// Reads length_penalty_words, and checks them against --normalize.
void read_length_penalty(SearchOptions& search, const SearchWords& words, const Given& given, Findings& findings);

/// Reads shortlist_words. Error for words that are neither a file nor limits.
void read_shortlist(EnsembleOptions& ensemble, const SearchWords& words);

}  // namespace dragoman
