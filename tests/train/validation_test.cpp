#include "train/validation.h"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>

#include "base/line_reader.h"
#include "data/pairs.h"
#include "tests/read_lines.h"
#include "tests/special_ids.h"
#include "tests/train/toy_run.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

struct Validated {
  Validated() {
    const int size = vocabularies.source.size();
    run.setup.model.source_vocabulary = run.setup.model.target_vocabulary = size;
    model = make_model(run.setup.model, backend("cpu"), arena, DType::f32, false);
    model->parameters().initialise(3);
  }
  std::vector<double> measure() {
    std::vector<double> values;
    for (const auto& value : figures()) values.push_back(value.value());
    return values;
  }
  std::vector<std::optional<double>> figures(const Progress& progress = {}) {
    return Validation(run.setup, vocabularies, run.control)
        .measure({backend("cpu"), arena, *model, rows}, progress, unwritten, *single_process());
  }
  /// The memory of a validation, in bytes, besides the model.
  int64_t memory() {
    const int64_t before = arena.in_use();
    measure();
    return arena.peak() - before;
  }

  Unwritten unwritten;
  int64_t rows = 1024;
  ToyRun run;
  Vocabularies vocabularies = open_vocabularies(run.setup);
  Arena arena;
  std::unique_ptr<Model> model;
};

std::vector<int32_t> with_end(std::vector<int32_t> ids) {
  ids.push_back(eos_id);
  return ids;
}

PackedIds single(const std::vector<int32_t>& ids) {
  return {ids, Spans::of_lengths(std::vector<int32_t>{int32_t(ids.size())})};
}

// -log softmax(logits)[label], in double, of each label.
double cost_by_hand(const Tensor& logits, const std::vector<int32_t>& target_tokens) {
  double cost = 0;
  const auto view = logits.view<float>();
  for (int64_t n = 0; n < view.rows; ++n) {
    double sum = 0;
    for (int64_t v = 0; v < view.cols; ++v) sum += std::exp(double(view(n, v)));
    cost += std::log(sum) - double(view(n, target_tokens[n]));
  }
  return cost;
}

TEST(Validation, MeasuresCrossEntropyPerTargetTokenAndItsPerplexity) {
  Validated v;
  v.run.setup.training.valid_metrics = {ValidMetric::perplexity, ValidMetric::cross_entropy};
  const LinePairs lines = read_line_pairs({v.run.setup.training.valid_sets[0], v.run.setup.training.valid_sets[1]});
  ASSERT_EQ(lines.source.size(), 20u);
  double cost = 0, target_tokens = 0;
  for (size_t i = 0; i < lines.source.size(); ++i) {
    const auto source = with_end(v.vocabularies.source.encode(lines.source[i]));
    const auto target = with_end(v.vocabularies.target.encode(lines.target[i]));
    Context cx{.backend = backend("cpu"), .arena = v.arena};
    cost += cost_by_hand(v.model->logits(cx, {single(source), single(target), {0}}), target);
    target_tokens += double(target.size());
  }
  const auto values = v.measure();
  EXPECT_NEAR(values[1], cost / target_tokens, 1e-5);
  EXPECT_DOUBLE_EQ(values[0], std::exp(values[1]));
}

TEST(Validation, SaysWhichPairsItCrops) {
  Validated v;
  v.run.setup.data.max_length = 4;
  v.run.setup.training.valid_sets = {
      v.run.files.make("long.en", "one\none two three four five\none\nsix six six six six six\n"),
      v.run.files.make("long.de", "eins\neins\neins\nzwei\n")};
  v.measure();
  EXPECT_THAT(v.run.log.text(), HasSubstr("--valid-sets: 2 pairs are longer than --max-length 4 pieces, the first in "
                                          "line 2: cross-entropy and perplexity are of their beginnings only"));
  v.run.log.clear();
  v.run.setup.training.valid_metrics = {ValidMetric::chrf};
  v.measure();
  EXPECT_THAT(v.run.log.text(), testing::Not(HasSubstr("longer")));
}

// "zw@@ ei" is the word "zwei" on both sides, whatever pieces it has in the references.
TEST(Validation, IsOfWordsIfTheTextIsSplitBySubwordNmt) {
  Validated v;
  const auto list = [&](const char* name) {
    return Vocabulary::load(v.run.files.make(name, "</s>\n<unk>\nzw@@\nei\nz@@\nw@@\nzwei\n"));
  };
  v.run.setup.training.valid_metrics = {ValidMetric::bleu};
  v.run.setup.training.valid_sets = {v.run.files.make("v.en", "zwei\n"), v.run.files.make("v.de", "zw@@ ei\n")};
  const Vocabularies split{list("list.txt"), list("list.txt")};
  const std::string pieces = Validation(v.run.setup, split, v.run.control).fingerprint(ValidMetric::bleu);
  v.run.files.make("v.de", "z@@ w@@ ei\n");
  EXPECT_EQ(Validation(v.run.setup, split, v.run.control).fingerprint(ValidMetric::bleu), pieces);
  v.run.files.make("v.de", "zw@@ zw@@ ei\n");
  EXPECT_NE(Validation(v.run.setup, split, v.run.control).fingerprint(ValidMetric::bleu), pieces);
}

TEST(Validation, SplitsForBleuAsTheTokenizerSays) {
  Validated v;
  v.run.setup.training.valid_metrics = {ValidMetric::bleu};
  const auto bleu_with = [&](Tokenizer tokenizer) {
    v.run.setup.training.valid_tokenize = tokenizer;
    return v.measure().front();
  };
  const auto fingerprint_with = [&](Tokenizer tokenizer, ValidMetric metric) {
    v.run.setup.training.valid_tokenize = tokenizer;
    return Validation(v.run.setup, v.vocabularies, v.run.control).fingerprint(metric);
  };
  EXPECT_EQ(bleu_with(Tokenizer::none), bleu_with(Tokenizer::thirteen_a)) << "there is no punctuation";
  EXPECT_GT(bleu_with(Tokenizer::character), bleu_with(Tokenizer::thirteen_a)) << "letters match more often than words";
  EXPECT_NE(fingerprint_with(Tokenizer::character, ValidMetric::bleu),
            fingerprint_with(Tokenizer::thirteen_a, ValidMetric::bleu));
  EXPECT_EQ(fingerprint_with(Tokenizer::character, ValidMetric::chrf),
            fingerprint_with(Tokenizer::thirteen_a, ValidMetric::chrf));
}

TEST(Validation, ComparesTextAlsoIfItsFilesHavePieces) {
  Validated text, pieces;
  for (Validated* v : {&text, &pieces}) v->run.setup.training.valid_metrics = {ValidMetric::chrf};
  pieces.run.setup.data.no_spm_encode = true;
  for (std::string& path : pieces.run.setup.training.valid_sets) {
    std::string split;
    for (const std::string& line : read_lines(path))
      split += fmt::format("{}\n", fmt::join(pieces.vocabularies.source.encode_pieces(line), " "));
    path = pieces.run.files.make("pieces" + std::filesystem::path(path).extension().string(), split);
  }
  const auto figures = text.measure();
  EXPECT_GT(figures[0], 0);
  EXPECT_EQ(pieces.measure(), figures);
}

TEST(Validation, LeavesNothingBehind) {
  Validated v;
  v.run.setup.training.valid_metrics = {ValidMetric::cross_entropy, ValidMetric::bleu};
  v.run.setup.training.valid_max_lines = 3;
  v.measure();  // the table of positions is made once
  const int64_t before = v.arena.in_use();
  const auto values = v.measure();
  EXPECT_EQ(v.arena.in_use(), before);
  EXPECT_EQ(values, v.measure());
}

TEST(Validation, CanTranslateTheFirstLinesOnly) {
  Validated v, few, one;
  for (Validated* validated : {&v, &few, &one})
    validated->run.setup.training.valid_metrics = {ValidMetric::cross_entropy, ValidMetric::chrf};
  few.run.setup.training.valid_max_lines = 1;
  for (std::string& path : one.run.setup.training.valid_sets) {
    const std::string text = read_file(path);
    path = one.run.files.make("one" + std::filesystem::path(path).extension().string(),
                              text.substr(0, text.find('\n') + 1));
  }
  const auto all = v.measure(), limited = few.measure();
  EXPECT_EQ(limited[0], all[0]) << "cross-entropy is that of all lines";
  EXPECT_EQ(limited[1], one.measure()[1]);
}

TEST(Validation, ScoresInBatchesThatTrainingHasMemoryFor) {
  const auto with = [](int64_t batch_words, int64_t rows) {
    Validated v;
    std::string source, target;
    for (int i = 0; i < 300; ++i) {
      source += "one two three\n";
      target += "eins zwei drei\n";
    }
    v.run.setup.training.valid_sets = {v.run.files.make("long.en", source), v.run.files.make("long.de", target)};
    v.run.setup.data.mini_batch_words = batch_words;
    v.rows = rows;
    const int64_t memory = v.memory();
    return std::pair(memory, v.measure());
  };
  const auto small = with(60, 1024), large = with(32'000, 60), unlimited = with(0, 60), whole = with(32'000, 32'000);
  EXPECT_EQ(large.first, small.first);
  EXPECT_EQ(unlimited.first, small.first) << "also with --mini-batch alone";
  EXPECT_GT(whole.first, 2 * small.first);
  for (const auto& other : {large, unlimited, whole}) EXPECT_EQ(other.second, small.second);
}

TEST(Validation, NeedsLinesAndAsManyOnBothSides) {
  Validated v;
  auto& sets = v.run.setup.training.valid_sets;
  sets = {v.run.files.make("empty.en", ""), v.run.files.make("empty.de", "")};
  EXPECT_THAT(message_of([&] { v.measure(); }), HasSubstr("empty.en has no lines"));
  sets[1] = v.run.files.make("one.de", "eins\n");
  EXPECT_THAT(message_of([&] { v.measure(); }), HasSubstr("one.de"));
}

TEST(Validation, IsNoneWithoutItsFiles) {
  Validated v;
  v.run.setup.training.valid_sets.clear();
  EXPECT_FALSE(Validation(v.run.setup, v.vocabularies, v.run.control).exists());
}

}  // namespace
}  // namespace dragoman
