#include <filesystem>

#include "base/line_writer.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/explain_options.h"
#include "dragoman/engine.h"
#include "engine/text_explainer.h"
#include "explain/attention_json.h"
#include "explain/heat_map.h"
#include "explain/positions.h"
#include "interop/open_model.h"
#include "pages/attention_page.h"
#include "pages/positions_page.h"

namespace dragoman {
namespace {

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
  }

 private:
  const ExplainCommandOptions& options_;
  LineWriter& out_;
};

int explain_positions(const ExplainCommandOptions& o) {
  constexpr int64_t columns = 128;  // of the paper's sinusoids, without a model
  std::vector<PositionVectors> positions;
  if (o.model.empty())
    positions = {sinusoids(o.max_length, {columns, SinusoidOrder::interleaved})};
  else
    positions = positions_of(open_model(o.model, {.vocabs = o.vocabs}), o.max_length);
  const std::string title =
      o.model.empty() ? "sinusoids of Vaswani et al. 2017" : std::filesystem::path(o.model).filename().string();
  write_lines_atomically(o.output, [&](LineWriter& out) {
    if (o.format == ExplanationFormat::html)
      out.write_segment(positions_page(title, positions));
    else
      for (const PositionVectors& vectors : positions) out.write(to_json(vectors));
  });
  return 0;
}

}  // namespace

int explain_command(Engine& engine, const ExplainCommandOptions& options) {
  if (options.positions) return explain_positions(options);
  TextExplainer explainer(options, engine.backend());
  const auto write = [&](LineWriter& out) {
    Report report(options, out);
    while (const auto explanation = explainer.next()) {
      report.add(*explanation);
      if (!explainer.ready()) out.flush();
    }
    report.end();
  };
  if (options.format == ExplanationFormat::html) {
    write_lines_atomically(options.output, write);  // half a page is of no use
    return 0;
  }
  LineWriter out(options.output);  // truncated only now, after all other errors
  write(out);
  out.close();
  return 0;
}

}  // namespace dragoman
