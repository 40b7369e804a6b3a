#include "capi/options.h"

#include <algorithm>
#include <cstring>

#include "capi/error.h"

namespace dragoman {
namespace {

constexpr size_t largest_struct = 4096;  // bytes: a larger size means uninitialised memory

// The size of an option struct in the first version that had it. A constant for each, which never changes.
template <class T>
constexpr size_t first_size = 0;
template <>
constexpr size_t first_size<dragoman_engine_options> = 40;
template <>
constexpr size_t first_size<dragoman_search_options> = 112;
template <>
constexpr size_t first_size<dragoman_translator_options> = 88;
template <>
constexpr size_t first_size<dragoman_scorer_options> = 64;
template <>
constexpr size_t first_size<dragoman_request> = 48;

// The members of the options of a search, in C and in C++.
template <class F>
void for_each_member(const F& f) {
  using C = dragoman_search_options;
  using S = SearchOptions;
  f(&C::beam_size, &S::beam_size);
  f(&C::n_best, &S::n_best);
  f(&C::rule, &S::rule);
  f(&C::normalize, &S::normalize);
  f(&C::length_penalty, &S::length_penalty);
  f(&C::word_penalty, &S::word_penalty);
  f(&C::max_length_add, &S::max_length_add);
  f(&C::min_length, &S::min_length);
  f(&C::max_length_factor, &S::max_length_factor);
  f(&C::min_length_factor, &S::min_length_factor);
  f(&C::no_repeat_ngram, &S::no_repeat_ngram);
  f(&C::allow_unk, &S::allow_unk);
  f(&C::sampling, &S::sampling);
  f(&C::sampling_pieces, &S::sampling_pieces);
  f(&C::sampling_mass, &S::sampling_mass);
  f(&C::temperature, &S::temperature);
  f(&C::seed, &S::seed);
}

// Between int in C and bool or an enumeration in C++, too.
template <class To, class From>
void assign(To& to, From from) {
  to = static_cast<To>(from);
}

dragoman_engine_options defaults_of(const dragoman_engine_options&) { return {.struct_size = 0}; }

dragoman_search_options defaults_of(const dragoman_search_options&) {
  dragoman_search_options options{};
  for_each_member([&](auto of_c, auto member) { assign(options.*of_c, SearchOptions().*member); });
  return options;
}

dragoman_translator_options defaults_of(const dragoman_translator_options&) {
  return {.struct_size = 0, .max_length = TextTranslatorOptions{}.max_length};
}

dragoman_scorer_options defaults_of(const dragoman_scorer_options&) {
  const ScorerOptions o;
  return {.struct_size = 0, .mini_batch_words = o.mini_batch_words, .max_length = o.max_length};
}

dragoman_request defaults_of(const dragoman_request&) { return {.struct_size = 0}; }

// Fields that a newer header has beyond T become zero.
template <class T>
void init(T* options, size_t struct_size) {
  if (!options || struct_size < sizeof(options->struct_size)) return;
  const T defaults = defaults_of(T{});
  std::memset(static_cast<void*>(options), 0, struct_size);
  std::memcpy(static_cast<void*>(options), &defaults, std::min(struct_size, sizeof(T)));
  options->struct_size = struct_size;
}

template <class T>
T complete(const T* given, const char* name) {
  static_assert(sizeof(T) >= first_size<T> && first_size<T> > 0, "structs only grow");
  T options = defaults_of(T{});
  if (!given) return options;
  const size_t size = given->struct_size;
  if (size < first_size<T> || size > largest_struct)
    throw Error(fmt::format("{}.struct_size is {}, expected at least {}", name, size, first_size<T>),
                fmt::format("call {}_init(&options, sizeof options) first", name));
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  if (size > sizeof(T) && std::any_of(bytes + sizeof(T), bytes + size, [](unsigned char byte) { return byte != 0; }))
    throw Error(fmt::format("{} sets options that version {} of the library does not know", name, DRAGOMAN_VERSION),
                "use a newer libdragoman.so.0");
  std::memcpy(static_cast<void*>(&options), given, std::min(size, sizeof(T)));
  return options;
}

// The C header gives the numbers of the C++ enumerations.
static_assert(int(Precision::automatic) == DRAGOMAN_PRECISION_AUTOMATIC);
static_assert(int(Precision::float32) == DRAGOMAN_PRECISION_FLOAT32);
static_assert(int(Precision::bfloat16) == DRAGOMAN_PRECISION_BFLOAT16);
static_assert(int(Precision::float16) == DRAGOMAN_PRECISION_FLOAT16);
static_assert(int(Precision::int8) == DRAGOMAN_PRECISION_INT8);
static_assert(int(EnsembleMean::automatic) == DRAGOMAN_MEAN_AUTOMATIC);
static_assert(int(EnsembleMean::geometric) == DRAGOMAN_MEAN_GEOMETRIC);
static_assert(int(EnsembleMean::arithmetic) == DRAGOMAN_MEAN_ARITHMETIC);
static_assert(int(SearchRule::automatic) == DRAGOMAN_RULE_AUTOMATIC);
static_assert(int(SearchRule::marian) == DRAGOMAN_RULE_MARIAN);
static_assert(int(SearchRule::huggingface) == DRAGOMAN_RULE_HUGGINGFACE);
static_assert(int(SearchRule::huggingface_early) == DRAGOMAN_RULE_HUGGINGFACE_EARLY);
static_assert(int(SearchRule::fairseq) == DRAGOMAN_RULE_FAIRSEQ);
static_assert(int(SearchRule::ctranslate2) == DRAGOMAN_RULE_CTRANSLATE2);
static_assert(int(Sampling::none) == DRAGOMAN_SAMPLING_NONE);
static_assert(int(Sampling::full) == DRAGOMAN_SAMPLING_FULL);
static_assert(int(Sampling::topk) == DRAGOMAN_SAMPLING_TOPK);
static_assert(int(Sampling::nucleus) == DRAGOMAN_SAMPLING_NUCLEUS);
static_assert(int(LogLevel::info) == DRAGOMAN_LOG_INFO && int(LogLevel::warning) == DRAGOMAN_LOG_WARNING);

}  // namespace

std::string text_of(const char* given) { return given ? given : ""; }

std::vector<std::string> texts_of(const char* const* given, size_t count, const char* name) {
  require(count == 0 || given, "{} is NULL, expected {} strings", name, count);
  std::vector<std::string> texts;
  for (size_t i = 0; i < count; ++i) {
    require(given[i], "{}[{}] is NULL", name, i);
    texts.emplace_back(given[i]);
  }
  return texts;
}

EngineOptions read(const dragoman_engine_options* given) {
  const auto o = complete(given, "dragoman_engine_options");
  EngineOptions options{.fast_math = o.fast_math != 0, .threads = o.threads};
  if (o.device) options.device = o.device;
  if (o.log)
    options.log = [log = o.log, context = o.log_context](LogLevel level, std::string_view message) {
      log(context, dragoman_log_level(level), std::string(message).c_str());
    };
  return options;
}

SearchOptions read(const dragoman_search_options* given, const SearchOptions& defaults) {
  if (!given) return defaults;
  const auto o = complete(given, "dragoman_search_options");
  SearchOptions options;
  for_each_member([&](auto of_c, auto member) { assign(options.*member, o.*of_c); });
  return options;
}

TextTranslatorOptions read(const dragoman_translator_options* given) {
  const auto o = complete(given, "dragoman_translator_options");
  TextTranslatorOptions options{.models = texts_of(o.models, o.model_count, "models"),
                                .ensemble_mean = EnsembleMean(o.ensemble_mean),
                                .precision = Precision(o.precision),
                                .glossary = text_of(o.glossary),
                                .avoid = text_of(o.avoid),
                                .shortlist = text_of(o.shortlist),
                                .vocabs = texts_of(o.vocabs, o.vocab_count, "vocabs"),
                                .source_lang = text_of(o.source_lang),
                                .target_lang = text_of(o.target_lang),
                                .search = read(o.search, {}),
                                .max_length = o.max_length};
  if (o.weights) options.weights.assign(o.weights, o.weights + o.model_count);
  return options;
}

ScorerOptions read(const dragoman_scorer_options* given) {
  const auto o = complete(given, "dragoman_scorer_options");
  require_given(o.model, "model");
  return {.model = o.model,
          .mini_batch_words = o.mini_batch_words,
          .max_length = o.max_length,
          .vocabs = texts_of(o.vocabs, o.vocab_count, "vocabs"),
          .source_lang = text_of(o.source_lang),
          .target_lang = text_of(o.target_lang)};
}

dragoman_request read(const dragoman_request* given) {
  const auto request = complete(given, "dragoman_request");
  require_given(request.text, "text");
  require(request.answer, "answer is NULL");
  return request;
}

}  // namespace dragoman

void dragoman_engine_options_init(dragoman_engine_options* o, size_t size) { dragoman::init(o, size); }
void dragoman_search_options_init(dragoman_search_options* o, size_t size) { dragoman::init(o, size); }
void dragoman_translator_options_init(dragoman_translator_options* o, size_t size) { dragoman::init(o, size); }
void dragoman_scorer_options_init(dragoman_scorer_options* o, size_t size) { dragoman::init(o, size); }
void dragoman_request_init(dragoman_request* o, size_t size) { dragoman::init(o, size); }
