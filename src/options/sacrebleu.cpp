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

constexpr std::string_view scoring = "evaluate", aligning = "align";

// Options of the programs that evaluate and align correspond to: sacreBLEU and fast_align.
constexpr Foreign sacrebleu_option_rows[] = {
    {"test-set t langpair l origlang subset download",
     "test sets are not downloaded: --references names the reference translations", "", scoring},
    {"list cite echo", "sacrebleu prints what it knows of its test sets", "", scoring},
    {"tok", "--tokenize", "", scoring},
    {"lc", "--lowercase", "", scoring},
    {"sl", "--sentence-level", "", scoring},
    {"m", "--metrics", "", scoring},
    {"input", "--hypotheses names the translations", "", scoring},
    {"width w", "two digits are printed; --json prints all", "", scoring},
    {"score-only b format f short sh", "--json prints the scores for programs", "", scoring},
    {"smooth-method s smooth-value sv", "BLEU is smoothed by sacreBLEU's default, exp", "", scoring},
    {"chrf-word-order", "--metrics chrf has words of order 0, chrf++ of order 2", "", scoring},
    {"chrf-char-order chrf-beta chrf-whitespace chrf-lowercase chrf-eps-smoothing",
     "chrF has sacreBLEU's defaults: characters of order 6, beta 2, no white space; --lowercase ignores case", "",
     scoring},
    {"ter-normalized ter-no-punct ter-asian-support", "TER has sacreBLEU's defaults: it keeps the text as it is", "",
     scoring},
    {"bleu-lowercase", "--lowercase", "", scoring},
    {"num-refs nr", "each file of --references is one alternative", "", scoring},
    {"confidence-n paired-bs-n paired-ar-n", "--samples", "", scoring},
    {"paired-jobs j", "resampling takes one thread and less than a second", "", scoring},
    {"encoding e", "text is UTF-8", "", scoring},
    {"force", "a warning about tokenised text stops nothing", "", scoring},
    {"i", "--train-sets names one file for each side, or with --tsv files of lines SOURCE tab TARGET", "", aligning},
    {"d", "links are always close to the diagonal: --tension says how close", "", aligning},
    {"r", "--reverse", "", aligning},
    {"I", "--iterations: fast_align's last one only prints the links, so its 5 are 4 here", "", aligning},
    {"T", "--tension", "", aligning},
    {"q", "--null", "", aligning},
    {"a", "--variational-bayes", "", aligning},
};

}  // namespace

std::span<const Foreign> sacrebleu_options() { return sacrebleu_option_rows; }

std::span<const ForeignValue> sacrebleu_values() { return sacrebleu_value_rows; }

}  // namespace dragoman
