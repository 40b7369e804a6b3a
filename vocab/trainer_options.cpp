#include "vocab/trainer_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/number.h"
#include "base/words.h"

namespace dragoman {
namespace {

enum class Kind { boolean, whole, real, text };

struct Accepted {
  std::string_view name;
  Kind kind;
  double least = 0, most = 0;  // of numbers: the trainer's bounds
};

constexpr Accepted accepted[] = {
    {"allow_whitespace_only_pieces", Kind::boolean},
    {"byte_fallback", Kind::boolean},
    {"character_coverage", Kind::real, 0.98, 1},
    {"hard_vocab_limit", Kind::boolean},
    {"max_sentencepiece_length", Kind::whole, 1, 512},
    {"normalization_rule_tsv", Kind::text},
    {"num_sub_iterations", Kind::whole, 1, 10},
    {"required_chars", Kind::text},
    {"seed_sentencepiece_size", Kind::whole, 1, 2e9},
    {"shrinking_factor", Kind::real, 0.5, 0.95},
    {"split_by_number", Kind::boolean},
    {"split_by_unicode_script", Kind::boolean},
    {"split_by_whitespace", Kind::boolean},
    {"split_digits", Kind::boolean},
    {"train_extremely_large_corpus", Kind::boolean},
};

struct SetElsewhere {
  std::string_view names, by;
};

constexpr SetElsewhere set_elsewhere[] = {
    {"vocab_size", "use --dim-vocabs, or --size of dragoman vocab train"},
    {"model_type", "use --vocab-type, or --type of dragoman vocab train"},
    {"normalization_rule_name", "use --vocab-normalization, or --normalization of dragoman vocab train"},
    {"user_defined_symbols user_defined_symbols_file control_symbols control_symbols_file", "use --protected-symbols"},
    {"input_sentence_size shuffle_input_sentence", "use --sentencepiece-max-lines"},
    {"random_seed", "use --seed"},
    {"input input_format", "the text is that of --train-sets, or of --input of dragoman vocab train"},
    {"model_prefix", "the file is that of --vocabs, or of --model of dragoman vocab train"},
    {"max_sentence_length", "lines of up to 65,536 bytes are read"},
    {"num_threads minloglevel", "leave it out: it does not change the vocabulary"},
    {"unk_id bos_id eos_id pad_id unk_piece bos_piece eos_piece pad_piece",
     "pieces 0, 1 and 2 are <unk>, <s> and </s>; for others, name a file that spm_train made"},
};

constexpr std::string_view by_spm_train = "for other options, name a file that SentencePiece's spm_train made";

std::string checked_switch(std::string_view name, const std::string& value) {
  if (value.empty() || value == "true" || value == "1") return "true";
  if (value == "false" || value == "0") return "false";
  throw Error(fmt::format("--sentencepiece-options: --{}: '{}' is neither true nor false", name, value));
}

std::string checked_number(const Accepted& row, const std::string& value) {
  const auto number = parse_number<double>(value);
  const bool whole = row.kind == Kind::whole;
  require(number && *number >= row.least && *number <= row.most && (!whole || parse_number<int64_t>(value)),
          "--sentencepiece-options: --{}: '{}' is not a {}number from {} to {}", row.name, value, whole ? "whole " : "",
          row.least, row.most);
  return value;
}

std::string checked(const std::string& name, const std::string& value) {
  const auto row = std::ranges::find(accepted, name, &Accepted::name);
  if (row == std::end(accepted)) {
    for (const SetElsewhere& other : set_elsewhere)
      if (has_word(other.names, name))
        throw Error(fmt::format("--sentencepiece-options: --{} is not for this option to set", name),
                    std::string(other.by));
    std::string names;
    for (const Accepted& one : accepted) names += fmt::format("{}{}", names.empty() ? "" : ", ", one.name);
    throw Error(fmt::format("--sentencepiece-options: '{}' is not one of {}", name, names), std::string(by_spm_train));
  }
  if (row->kind == Kind::boolean) return checked_switch(name, value);
  require(!value.empty(), "--sentencepiece-options: --{} needs a value: --{}=…", name, name);
  return row->kind == Kind::text ? value : checked_number(*row, value);
}

}  // namespace

TrainerOptions trainer_options(std::string_view words) {
  TrainerOptions options;
  for (const std::string_view word : split_at_blanks(words)) {
    if (!word.starts_with("--") || word.size() == 2)
      throw Error(fmt::format("--sentencepiece-options: '{}' does not begin with two dashes", word),
                  "put all of them between quotes: '--split_digits --character_coverage=0.9995'");
    const size_t end = std::min(word.find('='), word.size());
    const std::string name(word.substr(2, end - 2)), value(word.substr(std::min(end + 1, word.size())));
    options[name] = checked(name, value);
  }
  return options;
}

bool have_soft_limit(const TrainerOptions& options) {
  const auto limit = options.find("hard_vocab_limit");
  return limit != options.end() && limit->second == "false";
}

}  // namespace dragoman
