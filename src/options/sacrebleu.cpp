#include "options/foreign.h"

namespace dragoman {
namespace {

constexpr std::string_view by_evaluate = "dragoman evaluate --tokenize spm computes spBLEU of translations";

// Tokenizers of sacreBLEU, which names most others as dragoman does.
constexpr ForeignValue sacrebleu_value_rows[] = {
    {"tokenize", "flores*", "",
     "--tokenize spm --tokenize-model FILE, the SentencePiece model: sacreBLEU keeps its own in ~/.sacrebleu/models",
     "evaluate"},
    {"tokenize", "flores*", "", by_evaluate, "quantize"},
    {"valid-tokenize", "flores*", "", by_evaluate, "train"},
    {"tokenize", "*-mecab", "", "char takes each character as a word", "evaluate quantize"},
    {"valid-tokenize", "*-mecab", "", "char takes each character as a word", "train"},
};

}  // namespace

std::span<const ForeignValue> sacrebleu_values() { return sacrebleu_value_rows; }

}  // namespace dragoman
