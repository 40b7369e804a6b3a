#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "align/alignment_style.h"
#include "base/enum_names.h"
#include "dragoman/search_options.h"
#include "io/shortlist.h"

namespace dragoman {

struct Backend;

inline std::span<const EnumName<Precision>> enum_names(Precision) {
  static constexpr EnumName<Precision> names[] = {{Precision::automatic, "auto"},
                                                  {Precision::float32, "float32"},
                                                  {Precision::bfloat16, "bfloat16"},
                                                  {Precision::float16, "float16"},
                                                  {Precision::int8, "int8"}};
  return names;
}

inline std::span<const EnumName<EnsembleMean>> enum_names(EnsembleMean) {
  static constexpr EnumName<EnsembleMean> names[] = {{EnsembleMean::automatic, "auto"},
                                                     {EnsembleMean::geometric, "geometric"},
                                                     {EnsembleMean::arithmetic, "arithmetic"}};
  return names;
}

/// The models that translate together.
struct EnsembleOptions {
  std::vector<std::string> models;  // files
  std::vector<double> weights;      // of the models; empty: they count equally
  EnsembleMean mean = EnsembleMean::automatic;
  Precision precision = Precision::automatic;
  std::string glossary;                  // file of terms whose translations must occur; empty: none
  std::string avoid;                     // file of phrases that must not occur; empty: none
  std::string shortlist;                 // file of `dragoman align` or of Marian; empty: all pieces are allowed
  ShortlistLimits shortlist_limits;      // of a table of translations
  std::vector<std::string> vocabs;       // of other programs' models, if no file beside them names them
  std::string source_lang, target_lang;  // of multilingual models
  bool requests_name_languages = false;  // those that are neither given nor stored (TextRequest::frames)
};

inline std::span<const EnumName<Sampling>> enum_names(Sampling) {
  static constexpr EnumName<Sampling> names[] = {
      {Sampling::full, "full"}, {Sampling::topk, "topk"}, {Sampling::nucleus, "nucleus"}};
  return names;
}

/// The options as a search takes them: a beam of sampling has a hypothesis for each translation that is drawn.
inline SearchOptions resolved(SearchOptions options) {
  if (options.sampling != Sampling::none) options.beam_size = std::max(1, options.n_best);
  return options;
}

/// Throws Error for options out of range or in contradiction, named as on the command line.
void validate(const SearchOptions& options);

/// How the user writes the option of a name (SearchField::name): "word_penalty" in programs and requests,
/// "--word-penalty" on the command line.
using Spelling = std::string (*)(std::string_view name);
std::string as_name(std::string_view name);
std::string as_option(std::string_view name);

/// Throws Error for options that contradict each other or have no effect, as validate() does.
void require_consistent(const SearchOptions& options, Spelling spelled);

/// Throws Error for options that the user has given, by name, and that have no effect, unless the value is the default:
/// those of a sampling that is not chosen, and normalize beside length_penalty.
void require_effective(const SearchOptions& options, const std::function<bool(std::string_view name)>& given,
                       Spelling spelled);

/// Throws Error for weights that do not match the models, and for an unknown precision.
void validate(const EnsembleOptions& options);

/// Whether a line names, behind tabs, phrases that must occur in its translation, and whether in this order.
enum class LineConstraints { none, unordered, ordered };

inline std::span<const EnumName<LineConstraints>> enum_names(LineConstraints) {
  static constexpr EnumName<LineConstraints> names[] = {{LineConstraints::none, "none"},
                                                        {LineConstraints::unordered, "unordered"},
                                                        {LineConstraints::ordered, "ordered"}};
  return names;
}

/// How lines are read, translated and written.
struct TranslateOptions {
  int64_t mini_batch_words = 0;      // source tokens in flight in a search; 0: as many as suit the backend
  int64_t search_memory = 0;         // bytes for the tensors of a search (Searches); 0: no limit of its own
  int64_t maxi_batch_lines = 10000;  // lines in memory: queued, in flight, or finished before an earlier line
  int max_length = 1000;             // pieces; longer lines are translated in segments
  bool no_spm_encode = false;        // the input already consists of pieces separated by spaces
  bool force_decode = false;         // text after a tab is the forced prefix of the translation
  LineConstraints constraints = LineConstraints::none;  // phrases come after the forced prefix, if there is one
  bool scores = false;                                  // write a log-probability before each translation
  bool word_scores = false;                             // write log-probabilities of the tokens after each translation
  AlignmentStyle alignment;  // write the alignment of source and target tokens after each translation

  /// Whether a line is a source and, after tabs, more.
  bool has_fields() const { return force_decode || constraints != LineConstraints::none; }

  /// mini_batch_words, or if it is 0: 640 on a CPU, as more would not fit the caches of a core; 4,096 on a GPU.
  int64_t tokens_in_flight(const Backend& backend) const;
};

}  // namespace dragoman
