#include "decode/translation_writer.h"

#include <fmt/format.h>

#include "decode/n_best_list.h"

namespace dragoman {
namespace {

std::string features(const Translation& t) {
  if (t.by_model.empty()) return fmt::format("F0= {:.6g}", t.log_prob);
  std::string fields;
  for (size_t m = 0; m < t.by_model.size(); ++m)
    fields += fmt::format("{}F{}= {:.6g}", m == 0 ? "" : " ", m, t.by_model[m]);
  return fields;
}

}  // namespace

void TranslationWriter::write(std::vector<Translation> best, bool more) {
  if (plain())
    write_text(best[0].text, more);
  else
    write_scored(std::move(best), more);
  if (!more) ++lines_;
}

void TranslationWriter::write_text(const std::string& text, bool more) {
  if (begun_ && !text.empty()) out_.write_segment(" ");
  out_.write_segment(text);
  begun_ = more && (begun_ || !text.empty());
  if (!more) out_.write("");
}

void TranslationWriter::write_scored(std::vector<Translation> best, bool more) {
  append(line_, std::move(best));
  if (more) return;
  if (search_.n_best > 0)
    for (const Translation& t : line_) out_.write(n_best_line(t));
  else
    write_line(line_[0]);
  line_.clear();
}

void TranslationWriter::write_line(const Translation& t) {
  if (options_.scores) out_.write_segment(fmt::format("{:.6g}\t", t.log_prob));
  out_.write_segment(t.text);
  if (options_.alignment.kind != AlignmentStyle::none) {
    out_.write_segment(" ||| ");
    write_alignment(t.alignment, options_.alignment, [&](std::string_view part) { out_.write_segment(part); });
  }
  if (options_.word_scores) out_.write_segment(" ||| " + word_scores_field(t.piece_log_probs));
  out_.write("");
}

std::string TranslationWriter::n_best_line(const Translation& t) const {
  return to_line({.line = lines_,
                  .text = t.text,
                  .alignment = alignment(t),
                  .word_scores = options_.word_scores ? word_scores_field(t.piece_log_probs) : "",
                  .features = features(t),
                  .rest = fmt::format(" ||| {:.6g}", t.score)});
}

std::optional<std::string> TranslationWriter::alignment(const Translation& t) const {
  if (options_.alignment.kind == AlignmentStyle::none) return std::nullopt;
  return to_text(t.alignment, options_.alignment);
}

}  // namespace dragoman
