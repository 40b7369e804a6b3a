#include <array>
#include <filesystem>

#include "backend/registry.h"
#include "base/error.h"
#include "base/grouped.h"
#include "base/line_writer.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/explain_options.h"
#include "decode/beam_search.h"
#include "dragoman/engine.h"
#include "explain/attention_json.h"
#include "explain/heat_map.h"
#include "explain/positions.h"
#include "pages/attention_page.h"
#include "pages/positions_page.h"
#include "score/pair_reader.h"
#include "score/scorer.h"

namespace dragoman {
namespace {

// Passes without a tape use packed weights, as in translate; those with a tape need the original weights.
LoadedModel load(const std::string& path, const Backend& cpu, Arena& arena) {
  const ModelFile file(path);
  ModelConfig config = file.config();
  config.learns_source = false;  // gradients are those of the target's log-probabilities
  LoadedModel loaded{make_model(config, cpu, arena, DType::f32, false), file.vocabularies(), {}};
  file.load_weights(loaded.model->parameters());
  loaded.packed = loaded.model->parameters().pack();
  return loaded;
}

/// Writes explanations one after another.
class Report {
 public:
  Report(const ExplainCommandOptions& options, LineWriter& out) : options_(options), out_(out) {
    if (options.format == ExplanationFormat::html)
      out.write_segment(page_begin(std::filesystem::path(options.model).filename(), options.method));
    if (options.format == ExplanationFormat::text) out.write_segment(heat_map_legend(options.method));
  }

  void add(const Explanation& e) {
    if (!e.missing.empty()) log_warning("line {}: {}", e.line, e.missing);
    switch (options_.format) {
      case ExplanationFormat::html:
        return out_.write_segment(page_part(e));
      case ExplanationFormat::json:
        return out_.write(to_json(e));
      case ExplanationFormat::text:
      case ExplanationFormat::automatic:
        break;
    }
    out_.write_segment(heat_map(e));
  }

  void end() {
    if (options_.format == ExplanationFormat::html) out_.write_segment(page_end());
    out_.close();
  }

 private:
  const ExplainCommandOptions& options_;
  LineWriter& out_;
};

/// Reads pairs of ids one by one: from two files, or lines and their translations.
class Pairs {
 public:
  Pairs(const ExplainCommandOptions& options, Context& cx, LoadedModel& loaded)
      : options_(options), cx_(cx), loaded_(loaded) {
    if (options.train_sets.empty())
      input_.emplace(options.input);
    else
      files_.emplace(std::array{options.train_sets[0], options.train_sets[1]});
  }

  bool next(IdPair& pair) {
    if (input_) return next_translated(pair);
    const LinePairs lines = files_->next(1);
    if (lines.source.empty()) return false;
    const auto& [source, target] = loaded_.vocabularies;
    pair = encode_pairs(source, target, lines, options_.no_spm_encode)[0];
    return true;
  }
  bool ready() { return input_ ? input_->ready() : files_->ready(); }

 private:
  bool next_translated(IdPair& pair) {
    std::string line;
    if (!input_->next(line)) return false;
    const Vocabulary& source = loaded_.vocabularies.source;
    const std::vector<int32_t> ids = options_.no_spm_encode ? source.encode_given_pieces(line) : source.encode(line);
    pair = {ids, translation_of(ids)};
    pair.source.push_back(loaded_.vocabularies.source.eos());
    return true;
  }

  // Just </s> for a line that is empty or too long to explain.
  std::vector<int32_t> translation_of(const std::vector<int32_t>& ids) {
    const int32_t eos = loaded_.vocabularies.target.eos();
    if (ids.empty() || int64_t(ids.size()) >= options_.max_length) return {eos};
    const SearchOptions search{.beam_size = options_.beam_size};
    Hypothesis best = beam_search(cx_, *loaded_.model, search, TranslateOptions{}.mini_batch_words, {&ids, 1})[0][0];
    if (best.length > int(best.ids.size())) best.ids.push_back(eos);
    return best.ids;
  }

  const ExplainCommandOptions& options_;
  Context& cx_;
  LoadedModel& loaded_;
  std::optional<LineReader> input_;
  std::optional<PairReader> files_;
};

Explanation explanation_of(const ExplainCommandOptions& o, const Explainer& explainer, const IdPair& pair) {
  const bool source = pair.source.size() >= pair.target.size();  // whether the source is longer
  const auto pieces = int64_t(source ? pair.source.size() : pair.target.size());
  if (pieces <= o.max_length) return explainer.explain(pair);
  Explanation left_out{.method = o.method};
  left_out.missing = fmt::format("{} {} pieces, more than --max-length {}", grouped(pieces),
                                 source ? "source" : "target", o.max_length);
  return left_out;
}

void explain(const ExplainCommandOptions& o, Pairs& pairs, const Explainer& explainer, Report& report,
             LineWriter& out) {
  int64_t line = 0;
  for (IdPair pair; pairs.next(pair);) {
    if (o.max_lines > 0 && line == o.max_lines) {
      log_warning("Lines after line {} are not explained; --max-lines 0 explains all", grouped(line));
      break;
    }
    Explanation explanation = explanation_of(o, explainer, pair);
    explanation.line = ++line;
    report.add(explanation);
    if (!pairs.ready()) out.flush();
  }
  report.end();
}

int explain_positions(const ExplainCommandOptions& o) {
  constexpr int64_t columns = 128;  // of the paper's sinusoids, without a model
  std::vector<PositionVectors> positions;
  if (o.model.empty())
    positions = {sinusoids(o.max_length, columns, SinusoidOrder::interleaved)};
  else
    positions = positions_of(ModelFile(o.model), o.max_length);
  const std::string title =
      o.model.empty() ? "sinusoids of Vaswani et al. 2017" : std::filesystem::path(o.model).filename().string();
  LineWriter out(o.output);
  if (o.format == ExplanationFormat::html)
    out.write_segment(positions_page(title, positions));
  else
    for (const PositionVectors& vectors : positions) out.write(to_json(vectors));
  out.close();
  return 0;
}

}  // namespace

int explain_command(Engine& engine, const ExplainCommandOptions& options) {
  if (options.positions) return explain_positions(options);
  const Backend& cpu = engine.backend();
  Arena arena;
  LoadedModel loaded = load(options.model, cpu, arena);
  Context cx{.backend = cpu, .arena = arena, .packed = &loaded.packed};
  const Explainer explainer(cx, *loaded.model, loaded.vocabularies, options);
  Pairs pairs(options, cx, loaded);
  LineWriter out(options.output);  // truncated only now, after all other errors
  Report report(options, out);
  explain(options, pairs, explainer, report, out);
  return 0;
}

}  // namespace dragoman
