#include "metrics/chrf.h"

#include <deque>

#include "base/error.h"
#include "base/utf8.h"
#include "metrics/text.h"

namespace dragoman {
namespace {

bool is_ascii_punctuation(char32_t c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

// As in Popović's chrF++.py: splits one punctuation mark off the end of a word, else one off its beginning.
void append_word(std::vector<std::u32string_view>& words, std::u32string_view word) {
  size_t cut = 0;
  if (word.size() > 1 && is_ascii_punctuation(word.back())) {
    cut = word.size() - 1;
  } else if (word.size() > 1 && is_ascii_punctuation(word.front())) {
    cut = 1;
  }
  if (cut > 0) words.push_back(word.substr(0, cut));
  words.push_back(word.substr(cut));
}

struct Line {
  std::u32string text;
  std::u32string characters;               // without white space
  std::vector<std::u32string_view> words;  // into `text`; empty unless word n-grams are requested

  Line(std::string_view utf8, Case letters, int word_order) : text(code_points(utf8)) {
    if (letters == Case::lower) text = metrics::lower(text);
    for (const auto word : metrics::split(text)) {
      characters += word;
      if (word_order > 0) append_word(words, word);
    }
  }
  Line(const Line&) = delete;
};

void set_orders(ChrfStats& stats, int first, const NgramCounts& hypothesis, const NgramCounts& reference,
                const NgramCounts& matches, int order) {
  for (int n = 0; n < order; ++n) {
    const bool counts = reference[n] > 0;  // n-grams that could not match anything are not errors
    stats.orders[first + n] = {counts ? hypothesis[n] : 0, reference[n], matches[n]};
  }
}

void add_orders(ChrfStats& stats, int first, std::u32string_view hypothesis, const std::u32string& reference,
                int order) {
  set_orders(stats, first, ngram_counts(hypothesis.size(), order), ngram_counts(reference.size(), order),
             clipped_matches(hypothesis, {&reference, 1}, order), order);
}

ChrfStats compare(const Line& hypothesis, const Line& reference, int word_order) {
  ChrfStats stats;
  add_orders(stats, 0, hypothesis.characters, reference.characters, chrf_character_order);
  if (word_order == 0) return stats;
  WordNumbers numbers;
  const std::u32string words = numbers(hypothesis.words);
  add_orders(stats, chrf_character_order, words, numbers(reference.words), word_order);
  return stats;
}

}  // namespace

ChrfStats& ChrfStats::operator+=(const ChrfStats& other) {
  for (size_t i = 0; i < orders.size(); ++i) {
    orders[i].hypothesis += other.orders[i].hypothesis;
    orders[i].reference += other.orders[i].reference;
    orders[i].matches += other.orders[i].matches;
  }
  return *this;
}

ChrfStats chrf_stats(std::string_view hypothesis, std::span<const std::string_view> references, Case letters,
                     int word_order) {
  invariant(word_order >= 0 && word_order <= chrf_longest_word_order, "chrf_stats: word n-grams up to 2");
  const Line line(hypothesis, letters, word_order);
  ChrfStats best;
  double best_score = -1;
  for (const auto reference : references) {
    const ChrfStats stats = compare(line, Line(reference, letters, word_order), word_order);
    if (const double score = chrf(stats); score > best_score) {
      best = stats;
      best_score = score;
    }
  }
  return best;
}

double chrf(const ChrfStats& stats) {
  double precision = 0, recall = 0;
  int orders = 0;
  for (const auto& [hypothesis, reference, matches] : stats.orders) {
    if (hypothesis == 0 || reference == 0) continue;
    precision += double(matches) / double(hypothesis);
    recall += double(matches) / double(reference);
    ++orders;
  }
  if (precision == 0) return 0;  // and recall, which has the same matches
  precision /= orders;
  recall /= orders;
  constexpr double beta_squared = 4;
  return 100 * ((1 + beta_squared) * precision * recall / (beta_squared * precision + recall));
}

ChrfOfPairs::ChrfOfPairs(Segments texts, Case letters, int word_order) {
  std::deque<Line> lines;
  for (const std::string& text : texts) lines.emplace_back(text, letters, word_order);
  const auto add = [&](const std::vector<std::u32string>& symbols, int order) {
    std::vector<NgramCounts> counts;
    for (const std::u32string& text : symbols) counts.push_back(ngram_counts(text.size(), order));
    units_.push_back({std::move(counts), NgramIndex(symbols, order), order});
  };
  std::vector<std::u32string> characters, words;
  for (const Line& line : lines) characters.push_back(line.characters);
  add(characters, chrf_character_order);
  if (word_order == 0) return;
  WordNumbers numbers;
  for (const Line& line : lines) words.push_back(numbers(line.words));
  add(words, word_order);
}

std::vector<double> ChrfOfPairs::scores(size_t hypothesis) const {
  std::vector<ChrfStats> stats(units_[0].counts.size());
  int first = 0;
  for (const auto& [counts, index, order] : units_) {
    const std::vector<NgramCounts> matches = index.matches(hypothesis);
    for (size_t reference = 0; reference < stats.size(); ++reference)
      set_orders(stats[reference], first, counts[hypothesis], counts[reference], matches[reference], order);
    first += order;
  }
  std::vector<double> scores;
  for (const ChrfStats& pair : stats) scores.push_back(chrf(pair));
  return scores;
}

std::vector<ChrfStats> chrf_of_lines(Segments hypotheses, const std::vector<Segments>& references, Case letters,
                                     int word_order) {
  require_parallel(hypotheses, references);
  return stats_of_lines<ChrfStats>(hypotheses.size(), [&](size_t line) {
    return chrf_stats(hypotheses[line], references_of(references, line), letters, word_order);
  });
}

double chrf(Segments hypotheses, const std::vector<Segments>& references, Case letters, int word_order) {
  return chrf(sum_of(chrf_of_lines(hypotheses, references, letters, word_order)));
}

}  // namespace dragoman
