#include "decode/search_fields.h"

#include <algorithm>

#include "base/error.h"

namespace dragoman {

using S = SearchOptions;

bool SearchField::applies_to(const SearchOptions& options) const {
  if (sampling == Sampling::none) return true;
  return sampling == Sampling::full ? options.sampling != Sampling::none : options.sampling == sampling;
}

std::span<const SearchField> search_fields() {
  static constexpr double exact_in_json = 9007199254740992;  // 2^53
  static constexpr SearchField fields[] = {
      {"beam_size", "beam-size", &S::beam_size, {1, 1024}, Bounds{1, 64}},
      {"n_best", "n-best", &S::n_best, {0, 1024}, Bounds{1, 64}},
      {"rule", "search-rule", &S::rule},
      {"normalize", "normalize", &S::normalize, {0, 10}},
      {"length_penalty", "length-penalty gnmt", &S::length_penalty, {0, 10}},
      {"word_penalty", "word-penalty", &S::word_penalty, {-1000, 1000}},
      {"min_length", "min-length", &S::min_length, {0, 100'000}, Bounds{0, 1000}},
      {"min_length_factor", "min-length-factor", &S::min_length_factor, {0, 1000}, Bounds{0, 10}},
      {"max_length_add", "max-length-add", &S::max_length_add, {0, 100'000}, Bounds{0, 1000}},
      {"max_length_factor", "max-length-factor", &S::max_length_factor, {0, 1000}, Bounds{0, 10}},
      {"no_repeat_ngram", "no-repeat-ngram", &S::no_repeat_ngram, {0, 1000}},
      {"allow_unk", "allow-unk", &S::allow_unk},
      {"sampling", "output-sampling", &S::sampling},
      {"sampling_pieces", "output-sampling topk", &S::sampling_pieces, {1, 1'000'000}, {}, Sampling::topk},
      {"sampling_mass", "output-sampling nucleus", &S::sampling_mass, {0, 1}, {}, Sampling::nucleus},
      {"temperature", "temperature", &S::temperature, {0.001, 1000}, {}, Sampling::full},
      {"seed", "seed", &S::seed, {}, Bounds{0, exact_in_json}, Sampling::full},
  };
  return fields;
}

Bounds search_bounds(std::string_view name) {
  const auto fields = search_fields();
  const auto found = std::ranges::find(fields, name, &SearchField::name);
  invariant(found != fields.end(), "a field of no search option");
  return found->bounds;
}

}  // namespace dragoman
