#include "vocab/protected_symbols.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"
#include "vocab/container.h"
#include "vocab/model_facts.h"
#include "vocab/wire_format.h"

namespace dragoman {
namespace {

// <0x00> to <0xFF> are the pieces of byte fallback.
bool is_byte_piece(std::string_view piece) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  return piece.size() == 6 && piece.starts_with("<0x") && piece[5] == '>' && digits.find(piece[3]) != digits.npos &&
         digits.find(piece[4]) != digits.npos;
}

// A message may repeat a field anywhere, so more pieces can follow all other fields (sentencepiece_model.proto).
MessageBuilder piece_of(const std::string& symbol) {
  constexpr uint64_t pieces = 1, text = 1, score = 2, type = 3, user_defined = 4;
  MessageBuilder piece, field;
  piece.bytes(text, symbol);
  piece.number(score, 0.0f);
  piece.number(type, user_defined);
  field.message(pieces, piece);
  return field;
}

}  // namespace

void require_protectable(const std::vector<std::string>& symbols) {
  constexpr const char* special[] = {"", "<unk>", "<s>", "</s>"};
  for (const auto& symbol : symbols) {
    std::string shown = symbol;
    require(!clean_utf8(shown), "\"{}\" cannot be a protected symbol, expected valid UTF-8", shown);
    require(!is_byte_piece(symbol), "\"{}\" cannot be a protected symbol, it is the piece of a byte", symbol);
    require(std::ranges::count(special, symbol) == 0 && std::ranges::count(symbols, symbol) == 1 &&
                symbol.find_first_of(" \t\n") == std::string::npos,
            "\"{}\" cannot be a protected symbol, expected pieces without blanks, each once, and not <unk>, <s>, </s>",
            symbol);
  }
}

std::string with_protected_symbols(const Vocabulary& vocabulary, const std::vector<std::string>& symbols,
                                   const std::string& name) {
  require_protectable(symbols);
  std::string bytes = vocabulary.bytes();
  std::vector<std::string> known = facts_of(bytes).protected_symbols;
  for (const std::string& symbol : symbols) {
    if (std::ranges::count(known, symbol) > 0) continue;
    require(!is_container(bytes), "{} is a list of pieces, to which --protected-symbols {} cannot be added", name,
            symbol);
    require(!vocabulary.find(symbol), "--protected-symbols {}: {} has this piece already, as one of text", symbol,
            name);
    bytes += piece_of(symbol).text();
    known.push_back(symbol);
  }
  return bytes;
}

bool extends(const Vocabulary& longer, const Vocabulary& vocabulary) {
  return longer.size() > vocabulary.size() && longer.bytes().starts_with(vocabulary.bytes());
}

}  // namespace dragoman
