#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "decode/beam_search.h"
#include "model/model.h"
#include "tests/special_ids.h"

namespace dragoman {

/// Stands in for a model: pseudo-random logits over six pieces, a function of the source, the previous pieces and a
/// number that identifies the model. Also checks Search's contract with Decoding.
class ToyDecoding : public Decoding {
 public:
  static constexpr int vocabulary = 6;
  using Pieces = std::vector<int32_t>;

  static constexpr int first_model = 1000;

  explicit ToyDecoding(int model = first_model) : model_(model) {}

  /// Logits after the pieces `prefix` (without <s>); the source ends with </s>.
  static std::vector<float> logits(const Pieces& source, const Pieces& prefix, int model = first_model) {
    std::vector<uint32_t> seed(source.begin(), source.end());
    seed.push_back(uint32_t(model));
    seed.insert(seed.end(), prefix.begin(), prefix.end());
    std::seed_seq sequence(seed.begin(), seed.end());
    std::mt19937 random(sequence);
    std::vector<float> z(vocabulary);
    for (float& x : z) x = float(random() % 4000) / 1000;
    return z;
  }

  void add(int first, const PackedIds& source, int width) override {
    if (most_at_once > 0 && int64_t(sources_.size()) + source.spans.sentences() > most_at_once)
      throw OutOfMemory("the toy's sentences", "");
    for (int s = 0; s < source.spans.sentences(); ++s) {
      if (fails_at > 0 && source.spans[s].end - source.spans[s].begin > fails_at)
        throw OutOfMemory("the toy", "shorten the line");
      widths_[first + s] = width;
      sources_[first + s] = {source.ids.begin() + source.spans[s].begin, source.ids.begin() + source.spans[s].end};
    }
    most_sentences = std::max(most_sentences, int(sources_.size()));
  }

  void restrict(std::span<const int32_t> pieces) override {
    pieces_ = {0, 1, 2, 3, 4, 5};
    if (most_pieces > 0 && int(pieces.size()) > most_pieces) throw OutOfMemory("the toy's pieces", "");
    pieces_.assign(pieces.begin(), pieces.end());
  }

  Tensor step(std::span<const StepRow> rows) override {
    std::vector<std::pair<int, Pieces>> next;
    std::map<int, int> rows_of;
    logits_.clear();
    for (const StepRow& row : rows) {
      Pieces prefix;
      if (row.parent >= 0) {
        EXPECT_EQ(prefixes_[row.parent].first, row.sentence) << "a parent is of the same sentence";
        prefix = prefixes_[row.parent].second;
        prefix.push_back(row.token);
      }
      EXPECT_LE(++rows_of[row.sentence], widths_.at(row.sentence));
      const auto z = logits(sources_.at(row.sentence), prefix, model_);
      for (const int32_t piece : pieces_) logits_.push_back(z[piece]);
      next.emplace_back(row.sentence, std::move(prefix));
    }
    EXPECT_EQ(rows_of.size(), sources_.size()) << "a finished sentence leaves at once";
    next_ = std::move(next);
    if (most_rows > 0 && int(rows.size()) > most_rows) throw OutOfMemory("the toy's rows", "use a smaller beam");
    return Tensor::borrow(logits_.data(), {int64_t(rows.size()), int64_t(pieces_.size())});
  }

  void keep() override { prefixes_ = std::move(next_); }
  void remove(int sentence) override { sources_.erase(sentence); }

  int most_sentences = 0;  // in flight at once
  int most_at_once = 0;    // memory runs out for more sentences; 0: never
  int fails_at = 0;        // memory runs out for longer sources, </s> included; 0: never
  int most_pieces = 0;     // memory runs out for logits of more; 0: never
  int most_rows = 0;       // memory runs out for steps of more; 0: never

 private:
  const int model_;
  std::map<int, int> widths_;
  Pieces pieces_ = {0, 1, 2, 3, 4, 5};  // that logits are of
  std::map<int, Pieces> sources_;
  std::vector<std::pair<int, Pieces>> prefixes_, next_;  // of the rows of the last step that was kept, and the last
  std::vector<float> logits_;
};

/// log p of a piece, in double precision.
inline double log_prob(const std::vector<float>& logits, int32_t id) {
  double sum = 0;
  for (const float z : logits) sum += std::exp(double(z));
  return logits[id] - std::log(sum);
}

/// The result of a search with the models for each sentence.
inline std::vector<std::vector<Hypothesis>> found_by(Ensemble models, const SearchOptions& options,
                                                     const std::vector<Sentence>& sentences, int64_t tokens = 1 << 20,
                                                     const Shortlist* shortlist = nullptr,
                                                     Wanted wanted = Wanted::log_probs) {
  std::vector<std::vector<Hypothesis>> found(sentences.size());
  Search search(std::move(models), tokens);
  const auto shared = std::make_shared<const SearchOptions>(options);
  for (size_t i = 0; i < sentences.size(); ++i) {
    Sentence sentence = sentences[i];
    if (shortlist) sentence.constraints.push_back(limited_to(*shortlist));
    search.add(sentence, shared, wanted, [&, i](std::vector<Hypothesis> best) { found[i] = std::move(best); });
  }
  while (!search.idle()) search.step();
  return found;
}

}  // namespace dragoman
