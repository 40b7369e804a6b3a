#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/grouped.h"
#include "base/line_reader.h"
#include "base/line_writer.h"
#include "base/writable.h"
#include "cli/commands.h"
#include "cli/vocab_options.h"
#include "engine/output_file.h"
#include "vocab/line_codec.h"
#include "vocab/piece_list.h"
#include "vocab/summary.h"
#include "vocab/training.h"
#include "vocab/vocabulary.h"

namespace dragoman {
namespace {

using Lines = std::vector<std::string>;

// Lines processed together. Sampling depends on it, so it is the same for every input and machine.
constexpr size_t block_lines = 1024;

// Reads them, as any text may have such a name.
bool is_list_of_pieces(const std::string& file) {
  try {
    return is_piece_list(file) && !pieces_of_file(read_regular_file(file), file).empty();
  } catch (const Error&) {
    return false;
  }
}

// A name typed for another would cost the file that has it.
void require_vocabulary_name(const std::string& file) {
  require(file != "-", "--model is a vocabulary file, so it cannot be '-'");
  require_replaceable("model", file);
  const std::string kind = kind_of_existing(file);
  if (!kind.empty() && kind != "a SentencePiece model" && kind != "a dragoman vocabulary" && !is_list_of_pieces(file))
    refuse_to_replace("model", file, kind, "a vocabulary");
}

int train(const VocabOptions& options) {
  require_vocabulary_name(options.model);
  train_vocabulary({.inputs = options.inputs,
                    .model = options.model,
                    .size = options.size,
                    .type = options.type,
                    .normalization = options.normalization,
                    .character_coverage = options.character_coverage,
                    .byte_fallback = !options.no_byte_fallback,
                    .protected_symbols = options.protected_symbols,
                    .trainer_options = trainer_options(options.sentencepiece_options),
                    .sample_lines = options.vocabulary_lines,
                    .seed = options.seed});
  return 0;
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

// Writes one line per input line; flushes before waiting for input.
int filter(const VocabOptions& options) {
  const LineCodec codec(Vocabulary::load(options.model),
                        {.alpha = options.alpha, .seed = options.seed, .ids = options.ids});
  LineWriter writer(options.output);
  int64_t block = 0;
  for (const auto& path : options.inputs.empty() ? Lines{"-"} : options.inputs) {
    LineReader reader(path);
    for (Lines lines; !(lines = next_block(reader, options.alpha > 0)).empty(); ++block) {
      if (options.action == VocabAction::encode)
        codec.encode(lines, block);
      else
        codec.decode(lines, reader.name(), reader.lines() - int64_t(lines.size()) + 1);
      for (const auto& line : lines) writer.write(line);
      if (!reader.ready()) writer.flush();
    }
  }
  writer.close();
  return 0;
}

std::string special_pieces(const Vocabulary& vocabulary) {
  std::string list;
  for (const int32_t id : {vocabulary.unk(), vocabulary.bos(), vocabulary.eos()})
    if (id >= 0) list += fmt::format("{}{} {}", list.empty() ? "" : ", ", vocabulary.piece(id), id);
  return list;
}

int inspect(const VocabOptions& options) {
  const Vocabulary vocabulary = Vocabulary::load(options.model);
  auto [facts, bytes, learned, longest, longest_characters] = summary_of(vocabulary);
  LineWriter page(options.output);
  page.write(fmt::format("pieces         {}", grouped(vocabulary.size())));
  page.write(fmt::format("type           {}", facts.type));
  page.write(fmt::format("normalization  {}", facts.normalization.empty() ? "not recorded" : facts.normalization));
  page.write(fmt::format("special        {}", special_pieces(vocabulary)));
  if (!facts.protected_symbols.empty())
    page.write(fmt::format("protected      {}", fmt::join(facts.protected_symbols, " ")));
  page.write(fmt::format("byte fallback  {}", vocabulary.has_byte_fallback() ? "on" : "off"));
  page.write(fmt::format("byte pieces    {} ({:.1f} %)", bytes, 100.0 * bytes / vocabulary.size()));
  page.write(fmt::format("longest piece  {} ({} characters)", longest, longest_characters));
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
