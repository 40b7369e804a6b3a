#include "decode/options.h"

#include <algorithm>

#include "backend/backend.h"
#include "base/bounds.h"
#include "base/error.h"
#include "decode/search_fields.h"

namespace dragoman {
namespace {

constexpr double least_weight = 1e-6;  // far smaller ones are 0 in float

// Called for each request, so the text is built only for an error.
void check_range(std::string_view option, double value, Bounds bounds) {
  if (!bounds.contain(value)) fail("--{}: {} is out of range, expected {}", option, value, to_text(bounds));
}

}  // namespace

void validate(const SearchOptions& o) {
  require_enumerator("rule", o.rule, SearchRule::ctranslate2);
  require_enumerator("sampling", o.sampling, Sampling::nucleus);
  for (const SearchField& field : search_fields())
    std::visit(
        [&]<class T>(T SearchOptions::*member) {
          if constexpr (std::is_arithmetic_v<T>) check_range(field.option, double(o.*member), field.bounds);
        },
        field.member);
  require_consistent(o, as_option);
  if (o.n_best > o.beam_size)
    throw Error(fmt::format("--n-best {} exceeds --beam-size {}", o.n_best, o.beam_size),
                fmt::format("give --beam-size {} or more", o.n_best));
}

std::string as_name(std::string_view name) { return std::string(name); }

std::string as_option(std::string_view name) {
  const auto field = std::ranges::find(search_fields(), name, &SearchField::name);
  invariant(field != search_fields().end(), "the name of no search option");
  return fmt::format("--{}", field->option);
}

void require_consistent(const SearchOptions& o, Spelling spelled) {
  if (o.word_penalty != 0 && o.normalize == 1 && o.length_penalty == 0)
    throw Error(fmt::format("{} {} has no effect with {} 1, where it adds the same number to every score",
                            spelled("word_penalty"), o.word_penalty, spelled("normalize")),
                fmt::format("give {} another value, such as 0", spelled("normalize")));
  if (o.max_length_factor > 0 && o.min_length_factor > o.max_length_factor)
    fail("{} {} is more than {} {} allows", spelled("min_length_factor"), o.min_length_factor,
         spelled("max_length_factor"), o.max_length_factor);
}

void require_effective(const SearchOptions& o, const std::function<bool(std::string_view name)>& given,
                       Spelling spelled) {
  require(o.length_penalty == 0 || o.normalize == 0 || !given("normalize"),
          "{} and {} {} are two ways to divide scores by length: give one", spelled("length_penalty"),
          spelled("normalize"), o.normalize);
  for (const SearchField& field : search_fields()) {
    if (field.applies_to(o) || !given(field.name)) continue;
    std::visit(
        [&]<class T>(T SearchOptions::*member) {
          if constexpr (std::is_arithmetic_v<T>)
            require(o.*member == SearchOptions().*member, "{} {} is for {}{}, which is not given", spelled(field.name),
                    o.*member, spelled("sampling"),
                    field.sampling == Sampling::full ? "" : fmt::format(" {}", name_of(field.sampling)));
        },
        field.member);
  }
}

void validate(const EnsembleOptions& o) {
  require_enumerator("precision", o.precision, Precision::int8);
  require_enumerator("ensemble-mean", o.mean, EnsembleMean::arithmetic);
  if (o.weights.empty()) return;
  require(o.weights.size() == o.models.size(), "--weights has {} numbers, --model {} files, expected one for each",
          o.weights.size(), o.models.size());
  for (const double weight : o.weights) check_range("weights", weight, {0, 1000});
  require(std::ranges::max(o.weights) >= least_weight,
          "--weights: {} is the largest, expected at least one of {} or more", std::ranges::max(o.weights),
          least_weight);
  require(o.models.size() > 1 || o.weights[0] == 1,
          "--weights {} has no effect on one model, as it weighs the models of an ensemble: leave it out",
          o.weights[0]);
}

int64_t TranslateOptions::tokens_in_flight(const Backend& backend) const {
  if (mini_batch_words > 0) return mini_batch_words;
  return backend.is_device() ? 4096 : 640;
}

}  // namespace dragoman
