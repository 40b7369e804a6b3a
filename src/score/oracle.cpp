#include "score/oracle.h"

#include "base/error.h"
#include "base/grouped.h"
#include "decode/n_best_list.h"
#include "metrics/bleu.h"

namespace dragoman {
namespace {

/// Finds the translation of a line with the best sentence BLEU, the first one if several are equal.
class Nearest {
 public:
  Nearest(const LineTokenizer& tokenizer, Case letters, std::string_view reference)
      : tokenizer_(tokenizer), letters_(letters), reference_(reference) {}

  void consider(const std::string& text) {
    const std::array references = {reference_};
    const double score = sentence_bleu(bleu_stats(text, references, tokenizer_, letters_));
    if (score <= score_) return;
    score_ = score;
    text_ = text;
  }
  const std::string& text() const { return text_; }

 private:
  const LineTokenizer& tokenizer_;
  const Case letters_;
  const std::string_view reference_;
  double score_ = -1;
  std::string text_;
};

}  // namespace

void choose_nearest(LineReader& references, LineReader& list, const EvaluateOptions& options,
                    const std::function<void(const std::string& text)>& chosen) {
  const LineTokenizer tokenizer(options.tokenize, options.tokenize_model);
  const Case letters = options.lowercase ? Case::lower : Case::mixed;
  auto entry = next_entry(list);
  int64_t number = 0;
  for (std::string reference; references.next(reference); ++number) {
    require(entry && entry->line == number, "{}: expected a translation of line {} of {} (counted from 0), found {}",
            list.name(), number, references.name(), entry ? fmt::format("one of line {}", entry->line) : "the end");
    Nearest nearest(tokenizer, letters, reference);
    for (; entry && entry->line == number; entry = next_entry(list)) nearest.consider(entry->text);
    chosen(nearest.text());
  }
  if (entry)
    fail("{}, line {}: belongs to source line {} (counted from 0), but {} has {} lines", list.name(), list.lines(),
         entry->line, references.name(), grouped(number));
}

}  // namespace dragoman
