#include "score/minimum_risk.h"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/threads.h"
#include "decode/n_best_list.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"

namespace dragoman {
namespace {

// The different translations of a line.
struct Candidates {
  std::vector<std::string> texts;
  std::vector<int64_t> counts;  // how often the list has each of them
  int64_t all = 0;

  void add(const std::string& text) {
    const auto [found, added] = numbers_.try_emplace(text, texts.size());
    if (added) texts.push_back(text), counts.push_back(0);
    ++counts[found->second];
    ++all;
  }

 private:
  std::map<std::string, size_t> numbers_;
};

// The utility of a text with each of the texts as the reference. May be called by several threads.
using Utility = std::function<std::vector<double>(size_t text)>;

class Utilities {
 public:
  Utilities(const EvaluateOptions& options, CorpusMetric u)
      : tokenizer_(options.tokenize, options.tokenize_model),
        letters_(options.lowercase ? Case::lower : Case::mixed),
        u_(u) {}

  Utility of(const std::vector<std::string>& texts) const {
    if (u_ == CorpusMetric::bleu) return scores_of(std::make_shared<SentenceBleuOfPairs>(texts, tokenizer_, letters_));
    const int word_order = u_ == CorpusMetric::chrf_plus_plus ? chrf_longest_word_order : 0;
    return scores_of(std::make_shared<ChrfOfPairs>(texts, letters_, word_order));
  }

 private:
  template <class Pairs>
  static Utility scores_of(std::shared_ptr<Pairs> pairs) {
    return [pairs](size_t text) { return pairs->scores(text); };
  }

  const LineTokenizer tokenizer_;
  const Case letters_;
  const CorpusMetric u_;
};

const std::string& best_of(const Candidates& candidates, const Utilities& utilities) {
  const std::vector<std::string>& texts = candidates.texts;
  if (texts.size() == 1) return texts[0];
  const Utility utility = utilities.of(texts);
  std::vector<double> expected(texts.size());
  parallel_items(int64_t(texts.size()), [&](int64_t h, int) {
    const std::vector<double> with = utility(size_t(h));
    double sum = -with[size_t(h)];  // of the others
    for (size_t r = 0; r < with.size(); ++r) sum += with[r] * double(candidates.counts[r]);
    expected[size_t(h)] = sum / double(candidates.all - 1);
  });
  constexpr double rounding = 1e-9;  // of sums in another order
  const double most = *std::ranges::max_element(expected);
  const auto first = std::ranges::find_if(expected, [&](double e) { return e >= most - rounding; });
  return texts[size_t(first - expected.begin())];
}

}  // namespace

void choose_by_minimum_risk(LineReader& list, const EvaluateOptions& options, CorpusMetric u,
                            const std::function<void(const std::string& text)>& chosen) {
  const Utilities utilities(options, u);
  auto entry = next_entry(list);
  for (int64_t line = 0; entry; ++line) {
    if (entry->line != line)
      throw Error(fmt::format("{}, line {}: is a translation of line {} (counted from 0), expected one of line {}",
                              list.name(), list.lines(), entry->line, line),
                  "give the whole list, as dragoman translate --n-best writes it");
    Candidates candidates;
    for (; entry && entry->line == line; entry = next_entry(list)) candidates.add(entry->text);
    chosen(best_of(candidates, utilities));
  }
}

}  // namespace dragoman
