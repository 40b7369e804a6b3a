#include "vocab/training.h"

#include <fmt/format.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/file.h"
#include "base/grouped.h"
#include "base/line_reader.h"
#include "base/log.h"
#include "base/new_thread.h"
#include "base/philox.h"
#include "base/utf8.h"
#include "base/words.h"
#include "vocab/piece_list.h"
#include "vocab/protected_symbols.h"
#include "vocab/sampling.h"

namespace dragoman {
namespace {

constexpr int64_t least_sample_lines = 101;  // the library's bound
constexpr size_t longest_sentence = 65536;   // bytes; the library skips longer ones, hardly sentences

using Arguments = std::unordered_map<std::string, std::string>;

// The sentences of all files, one file after the other.
class SentenceReader {
 public:
  SentenceReader(const std::vector<std::string>& paths, const std::vector<int>& columns)
      : paths_(paths), columns_(columns) {}

  // The next sentence that is not blank; false at the end.
  bool next(std::string& sentence) {
    for (;;) {
      if (!reader_ && file_ == paths_.size()) return false;
      if (!reader_) reader_.emplace(paths_[file_++]);
      if (!read_sentence(sentence)) {
        reader_.reset();
        continue;
      }
      std::replace(sentence.begin(), sentence.end(), '\0', ' ');  // the library rejects NUL as a wrong encoding
      if (sentence.find_first_not_of(" \t\v\f\r") != std::string::npos) break;  // it aborts if no text is left
    }
    ++sentences_;
    if (sentence.size() > longest_sentence && long_sentences_++ == 0)
      first_long_ = fmt::format("{}: line {}", reader_->name(), grouped(reader_->lines()));
    return true;
  }

  int64_t sentences() const { return sentences_; }  // so far
  int64_t long_sentences() const { return long_sentences_; }
  const std::string& first_long() const { return first_long_; }  // "train.en: line 12"

 private:
  // Reads the next of the columns that columns_ names.
  bool read_sentence(std::string& sentence) {
    if (columns_.empty()) return reader_->next(sentence);
    if (column_ == 0 && !reader_->next(line_)) return false;
    sentence = column_of(line_, columns_[column_]);
    column_ = (column_ + 1) % columns_.size();
    return true;
  }

  // Of a line with fewer columns, the last.
  static std::string_view column_of(std::string_view line, int column) {
    size_t tab = line.find('\t');
    for (; column > 0 && tab != line.npos; --column, tab = line.find('\t')) line.remove_prefix(tab + 1);
    return line.substr(0, tab);
  }

  const std::vector<std::string>& paths_;
  const std::vector<int>& columns_;
  size_t file_ = 0;
  std::optional<LineReader> reader_;
  std::string line_;   // that has the columns …
  size_t column_ = 0;  // … of which this comes next, an index into columns_
  int64_t sentences_ = 0, long_sentences_ = 0;
  std::string first_long_;
};

// All sentences or, if there are more than `most`, a uniform choice of so many (Vitter 1985, algorithm R): the n-th
// sentence takes the place of one that was chosen before with probability most / n. The library has such a choice too,
// but always with the same seed.
std::vector<std::string> chosen(SentenceReader& reader, int64_t most, uint64_t seed) {
  PhiloxSequence random(seed, 0);
  std::vector<std::string> sentences;
  for (std::string sentence; reader.next(sentence);) {
    if (most == 0 || reader.sentences() <= most) {
      sentences.push_back(std::move(sentence));
    } else if (const uint64_t place = random.below(uint64_t(reader.sentences())); place < uint64_t(most)) {
      sentences[place] = std::move(sentence);
    }
  }
  return sentences;
}

// Hands sentences to the library, which copies them; each is freed after that.
class Sentences : public sentencepiece::SentenceIterator {
 public:
  explicit Sentences(std::vector<std::string> sentences) : sentences_(std::move(sentences)) {}

  bool done() const override { return at_ == sentences_.size(); }
  const std::string& value() const override { return sentences_[at_]; }
  sentencepiece::util::Status status() const override { return {}; }
  void Next() override { std::string().swap(sentences_[at_++]); }

 private:
  std::vector<std::string> sentences_;
  size_t at_ = 0;
};

// One field of a comma-separated list.
std::string quoted(std::string symbol) {
  for (size_t at = 0; (at = symbol.find('"', at)) != std::string::npos; at += 2) symbol.insert(at, 1, '"');
  return '"' + symbol + '"';
}

Arguments arguments_of(const VocabularyTraining& training) {
  Arguments arguments = {
      {"model_type", std::string(name_of(training.type))},
      {"vocab_size", std::to_string(training.size)},
      {"character_coverage", fmt::format("{}", training.character_coverage)},
      {"byte_fallback", training.byte_fallback ? "true" : "false"},
      {"normalization_rule_name", training.normalization},
      {"input_sentence_size", std::to_string(training.sample_lines)},  // there are no more
      {"max_sentence_length", std::to_string(longest_sentence)},
      {"num_threads", "16"},  // not the machine's number: rounding of sums depends on it
      {"unk_id", "0"},
      {"bos_id", "1"},
      {"eos_id", "2"},
      {"pad_id", "-1"},
      {"minloglevel", "2"},  // errors only, and those come back as a status
  };
  std::string symbols;
  for (const auto& symbol : training.protected_symbols) symbols += (symbols.empty() ? "" : ",") + quoted(symbol);
  if (!symbols.empty()) arguments["user_defined_symbols"] = symbols;
  for (const auto& [name, value] : training.trainer_options) arguments[name] = value;
  return arguments;
}

// The library would drop them too, but without a word.
void drop_long(std::vector<std::string>& sentences, const SentenceReader& reader) {
  if (reader.long_sentences() == 0) return;
  std::erase_if(sentences, [](const std::string& sentence) { return sentence.size() > longest_sentence; });
  if (sentences.empty())
    throw Error(fmt::format("all lines to learn a vocabulary from have more than {} bytes, the first of them {}",
                            grouped(int64_t(longest_sentence)), reader.first_long()),
                "put one sentence on a line");
  log_warning("{} has more than {} bytes{}: nothing is learned from {}", reader.first_long(),
              grouped(int64_t(longest_sentence)),
              reader.long_sentences() > 1 ? fmt::format(", as have {} more", grouped(reader.long_sentences() - 1)) : "",
              reader.long_sentences() > 1 ? "them" : "it");
}

bool has_byte_fallback(const VocabularyTraining& training) {
  const auto given = training.trainer_options.find("byte_fallback");
  return given == training.trainer_options.end() ? training.byte_fallback : given->second == "true";
}

void check_values(const VocabularyTraining& training) {
  require(!training.inputs.empty(), "no text to learn a vocabulary from, expected one file or more");
  require(std::ranges::count(normalization_rules, training.normalization) == 1,
          "unknown normalization \"{}\", expected one of {}", training.normalization,
          fmt::join(normalization_rules, ", "));
  require(training.character_coverage >= least_character_coverage && training.character_coverage <= 1,
          "a character coverage of {}, expected {} to 1", training.character_coverage, least_character_coverage);
  require(training.sample_lines == 0 || training.sample_lines >= least_sample_lines,
          "--sentencepiece-max-lines {}, expected {} or more, or 0 for all lines", training.sample_lines,
          least_sample_lines);
}

void check_pieces(const VocabularyTraining& training) {
  require_protectable(training.protected_symbols);
  const int least = (has_byte_fallback(training) ? 256 : 0) + 4 + int(training.protected_symbols.size());
  require(training.size >= least, "{} {} is too small, expected at least {}: bytes, special pieces and more",
          training.size_option, training.size, least);
}

// The number after `words` in one of the library's messages.
std::optional<int> number_after(std::string_view message, std::string_view words) {
  const size_t at = message.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  return std::atoi(std::string(message.substr(at + words.size())).c_str());
}

// The library's messages mention its own source files and flags; the two that users meet are rewritten.
[[noreturn]] void explain(const VocabularyTraining& training, std::string_view message) {
  if (const auto largest = number_after(message, "Please set it to a value <= "))
    throw Error(fmt::format("the text is too small for a vocabulary of {} pieces, expected at most {}",
                            grouped(training.size), grouped(*largest)),
                fmt::format("set {} to {} or less, or give more text", training.size_option, *largest));
  if (const auto least = number_after(message, " vs "))
    throw Error(
        fmt::format("a vocabulary of {} pieces cannot hold the characters of the text, expected at least {}",
                    grouped(training.size), grouped(*least)),
        fmt::format("set {} to {} or more, or give dragoman vocab train --character-coverage 0.9995{}",
                    training.size_option, *least, has_byte_fallback(training) ? ": it encodes the rest as bytes" : ""));
  fail("learning the vocabulary failed: {}", message);
}

// Most frequent first, equally frequent ones in the order of their bytes.
std::vector<std::string> frequent_tokens(SentenceReader& reader) {
  std::unordered_map<std::string, int64_t> counts;
  for (std::string line; reader.next(line);) {
    clean_utf8(line);
    for (const std::string_view token : split_at_blanks(line))
      if (!token.ends_with('\r')) ++counts[std::string(token)];  // in a list it would be the end of a line
  }
  for (const char* special : {"</s>", "<unk>"}) counts.erase(special);
  std::vector<std::pair<std::string, int64_t>> sorted(counts.begin(), counts.end());
  std::ranges::sort(sorted, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::vector<std::string> tokens;
  for (auto& [token, count] : sorted) tokens.push_back(std::move(token));
  return tokens;
}

void warn_of_unused(const VocabularyTraining& training) {
  const VocabularyTraining usual;
  const std::pair<std::string_view, bool> changed[] = {
      {training.type_option, training.type != usual.type},
      {training.normalization_option, training.normalization != usual.normalization},
      {"--character-coverage", training.character_coverage != usual.character_coverage},
      {"--no-byte-fallback", training.byte_fallback != usual.byte_fallback},
      {"--sentencepiece-max-lines", training.sample_lines != usual.sample_lines},
      {"--sentencepiece-options", !training.trainer_options.empty()}};
  for (const auto& [option, unused] : changed)
    if (unused) log_warning("{} has no effect: {} is a list of tokens", option, training.model);
}

void list_tokens(const VocabularyTraining& training) {
  if (!training.protected_symbols.empty())
    throw Error(fmt::format("{} is a list of tokens, which has no protected symbols, found {}", training.model,
                            fmt::join(training.protected_symbols, " ")),
                "leave out --protected-symbols: tokens are never split");
  warn_of_unused(training);
  SentenceReader reader(training.inputs, training.columns);
  std::vector<std::string> pieces = frequent_tokens(reader);
  require(!pieces.empty(), "{}: no text to learn a vocabulary from", fmt::join(training.inputs, ", "));
  pieces.insert(pieces.begin(), {"</s>", "<unk>"});
  const size_t found = pieces.size();
  pieces.resize(std::min(found, size_t(training.size)));
  write_atomically(training.model, [&](FileWriter& file) { file.write(file_of_pieces(pieces, training.model)); });
  log_info("Listed {} of {} tokens of {} in {}", grouped(pieces.size()), grouped(found),
           counted(reader.sentences(), "line"), training.model);
}

}  // namespace

void train_vocabulary(const VocabularyTraining& training) {
  check_values(training);
  if (is_piece_list(training.model)) return list_tokens(training);
  check_pieces(training);
  if (const auto rules = training.trainer_options.find("normalization_rule_tsv");
      rules != training.trainer_options.end())
    FileDescriptor::to_read(rules->second);  // before the text is read
  log_info("Learning a vocabulary of {} pieces ({}) from {}", grouped(training.size), name_of(training.type),
           fmt::join(training.inputs, ", "));
  SentenceReader reader(training.inputs, training.columns);
  auto lines = chosen(reader, training.sample_lines, training.seed);
  require(!lines.empty(), "{}: no text to learn a vocabulary from", fmt::join(training.inputs, ", "));
  drop_long(lines, reader);
  const auto learned = int64_t(lines.size());
  Sentences sentences(std::move(lines));
  std::string model;
  sentencepiece::util::Status status;
  with_sampling_seed(training.seed, [&] {
    status = new_thread(
        [&] { return sentencepiece::SentencePieceTrainer::Train(arguments_of(training), &sentences, &model); });
  });
  if (!status.ok()) explain(training, status.error_message());
  write_atomically(training.model, [&](FileWriter& file) { file.write(model); });
  log_info("Learned from {}{}, written to {}", learned < reader.sentences() ? grouped(learned) + " of " : "",
           counted(reader.sentences(), "line"), training.model);
}

}  // namespace dragoman
