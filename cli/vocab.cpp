#include <fmt/format.h>

#include <charconv>
#include <functional>

#include "base/error.h"
#include "base/grouped.h"
#include "base/line_reader.h"
#include "base/line_writer.h"
#include "base/philox.h"
#include "base/threads.h"
#include "cli/commands.h"
#include "cli/vocab_options.h"
#include "vocab/model_facts.h"
#include "vocab/training.h"
#include "vocab/vocabulary.h"

namespace dragoman {
namespace {

using Lines = std::vector<std::string>;

// Lines processed together. Sampling depends on it, so it is the same for every input and machine.
constexpr size_t block_lines = 1024;

int train(const VocabOptions& options) {
  train_vocabulary({.inputs = options.inputs,
                    .model = options.model,
                    .size = options.size,
                    .type = options.type,
                    .normalization = options.normalization,
                    .character_coverage = options.character_coverage,
                    .byte_fallback = !options.no_byte_fallback,
                    .protected_symbols = options.protected_symbols,
                    .seed = options.seed});
  return 0;
}

Lines split_at_blanks(const std::string& line) {
  Lines words;
  for (size_t from = 0; (from = line.find_first_not_of(' ', from)) != std::string::npos;) {
    const size_t to = std::min(line.find(' ', from), line.size());
    words.push_back(line.substr(from, to - from));
    from = to;
  }
  return words;
}

std::string with_pieces(const Vocabulary& vocabulary, const std::vector<int32_t>& ids) {
  std::string line;
  for (const int32_t id : ids) line.append(line.empty() ? "" : " ").append(vocabulary.piece(id));
  return line;
}

int32_t piece_number(const std::string& word, const Vocabulary& vocabulary, const std::string& where) {
  int32_t id = -1;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), id);
  if (problem != std::errc() || end != word.data() + word.size() || id < 0 || id >= vocabulary.size())
    throw Error(
        fmt::format("{}: \"{}\" is not the id of a piece, expected 0 to {}", where, word, vocabulary.size() - 1),
        "leave --ids out if the lines hold pieces");
  return id;
}

std::string decode_numbers(const Vocabulary& vocabulary, const std::string& line, const std::string& where) {
  std::vector<int32_t> ids;
  for (const auto& word : split_at_blanks(line)) ids.push_back(piece_number(word, vocabulary, where));
  return vocabulary.decode(ids);
}

// Reads one line and all others available without waiting, at most a block; with `wait`, a full block.
Lines next_block(LineReader& reader, bool wait) {
  Lines block;
  for (std::string line; block.size() < block_lines && reader.next(line);) {
    block.push_back(std::move(line));
    if (!wait && !reader.ready()) break;
  }
  return block;
}

// Lines to be changed in place. `number` counts blocks, `first` is the number of the first line.
struct Block {
  Lines& lines;
  int64_t number, first;
  const std::string& file;
};

void encode_lines(const Vocabulary& vocabulary, const VocabOptions& options, Block block) {
  const auto written = [&](const std::vector<int32_t>& ids) {
    return options.ids ? fmt::format("{}", fmt::join(ids, " ")) : with_pieces(vocabulary, ids);
  };
  if (options.alpha > 0) {
    const uint64_t seed = PhiloxSequence(options.seed, uint64_t(block.number)).next();
    const auto sampled = vocabulary.encode_block(block.lines, options.alpha, seed);
    for (size_t i = 0; i < sampled.size(); ++i) block.lines[i] = written(sampled[i]);
    return;
  }
  parallel_items(int64_t(block.lines.size()), [&](int64_t i, int) {
    std::string& line = block.lines[size_t(i)];
    line = options.ids ? written(vocabulary.encode(line))
                       : fmt::format("{}", fmt::join(vocabulary.encode_pieces(line), " "));
  });
}

void decode_lines(const Vocabulary& vocabulary, const VocabOptions& options, Block block) {
  for (size_t i = 0; i < block.lines.size(); ++i) {
    std::string& line = block.lines[i];
    line = options.ids ? decode_numbers(vocabulary, line, fmt::format("{}, line {}", block.file, block.first + i))
                       : vocabulary.decode_pieces(split_at_blanks(line));
  }
}

// Writes one line per input line; flushes before waiting for input.
int filter(const VocabOptions& options) {
  const Vocabulary vocabulary = Vocabulary::load(options.model);
  const auto change = options.action == VocabAction::encode ? encode_lines : decode_lines;
  LineWriter writer(options.output);
  int64_t number = 0;
  for (const auto& path : options.inputs.empty() ? Lines{"-"} : options.inputs) {
    LineReader reader(path);
    for (Lines lines; !(lines = next_block(reader, options.alpha > 0)).empty();) {
      change(vocabulary, options, {lines, number++, reader.lines() - int64_t(lines.size()) + 1, reader.name()});
      for (const auto& line : lines) writer.write(line);
      if (!reader.ready()) writer.flush();
    }
  }
  writer.close();
  return 0;
}

int characters(const std::string& text) {
  return int(std::count_if(text.begin(), text.end(), [](char c) { return (uint8_t(c) & 0xC0) != 0x80; }));
}

// The pieces that are neither special nor protected nor bytes.
std::vector<int32_t> learned_pieces(const Vocabulary& vocabulary, const ModelFacts& facts) {
  std::vector<int32_t> learned;
  for (int32_t id = 0; id < vocabulary.size(); ++id)
    if (id != vocabulary.unk() && id != vocabulary.bos() && id != vocabulary.eos() && !vocabulary.is_byte(id) &&
        std::ranges::count(facts.protected_symbols, vocabulary.piece(id)) == 0)
      learned.push_back(id);
  return learned;
}

std::string special_pieces(const Vocabulary& vocabulary) {
  std::string list;
  for (const int32_t id : {vocabulary.unk(), vocabulary.bos(), vocabulary.eos()})
    if (id >= 0) list += fmt::format("{}{} {}", list.empty() ? "" : ", ", vocabulary.piece(id), id);
  return list;
}

int inspect(const VocabOptions& options) {
  const Vocabulary vocabulary = Vocabulary::load(options.model);
  const ModelFacts facts = facts_of(vocabulary.bytes());
  std::vector<int32_t> learned = learned_pieces(vocabulary, facts);
  std::string longest;
  int bytes = 0;
  for (int32_t id = 0; id < vocabulary.size(); ++id) bytes += vocabulary.is_byte(id);
  for (const int32_t id : learned)
    if (characters(vocabulary.piece(id)) > characters(longest)) longest = vocabulary.piece(id);

  LineWriter page(options.output);
  page.write(fmt::format("pieces         {}", grouped(vocabulary.size())));
  page.write(fmt::format("type           {}", facts.type));
  page.write(fmt::format("normalization  {}", facts.normalization.empty() ? "not recorded" : facts.normalization));
  page.write(fmt::format("special        {}", special_pieces(vocabulary)));
  if (!facts.protected_symbols.empty())
    page.write(fmt::format("protected      {}", fmt::join(facts.protected_symbols, " ")));
  page.write(fmt::format("byte fallback  {}", vocabulary.has_byte_fallback() ? "on" : "off"));
  page.write(fmt::format("byte pieces    {} ({:.1f} %)", bytes, 100.0 * bytes / vocabulary.size()));
  page.write(fmt::format("longest piece  {} ({} characters)", longest, characters(longest)));
  learned.resize(std::min<size_t>(learned.size(), 20));
  page.write(fmt::format("first pieces   {}", with_pieces(vocabulary, learned)));
  page.close();
  return 0;
}

}  // namespace

int vocab_command(Engine&, const VocabOptions& options) {
  switch (options.action) {
    case VocabAction::train:
      return train(options);
    case VocabAction::encode:
    case VocabAction::decode:
      return filter(options);
    case VocabAction::inspect:
      return inspect(options);
  }
  return 0;
}

}  // namespace dragoman
