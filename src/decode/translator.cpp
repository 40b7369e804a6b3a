#include "decode/translator.h"

#include <algorithm>

#include "base/grouped.h"
#include "base/log.h"
#include "base/utf8.h"
#include "decode/scoring.h"
#include "decode/split.h"

namespace dragoman {
namespace {

// A table of learned positions ends somewhere; one row is for </s>.
int longest_part(const TranslateOptions& options, const ModelConfig& config) {
  return config.positions == Positions::learned ? std::min(options.max_length, config.max_positions - 1)
                                                : options.max_length;
}

// Marian's format of n-best lists.
std::string n_best_line(int64_t line, const Translation& t) {
  return fmt::format("{} ||| {} ||| F0= {:.6g} ||| {:.6g}", line, t.text, t.log_prob, t.score);
}

}  // namespace

Translator::Translator(Context& cx, Model& model, const Vocabularies& vocabularies, const TranslateOptions& options,
                       const SearchOptions& search)
    : vocabularies_(vocabularies),
      options_(options),
      search_options_(search),
      longest_part_(longest_part(options_, model.config())),
      search_(cx, model.decode(cx), search_options_, options_.mini_batch_words) {}

std::vector<std::string> Translator::translate(std::span<const std::string> lines) {
  std::vector<std::string> texts;
  auto next = lines.begin();
  run({.ready = [] { return true; },
       .next = [&](std::string& line) { return next != lines.end() && (line = *next++, true); },
       .write = [&](const auto& best) { texts.push_back(best[0].text); },
       .flush = [] {}});
  return texts;
}

int64_t Translator::translate(LineReader& in, LineWriter& out) {
  int64_t number = 0;
  const auto write = [&](const std::vector<Translation>& best) {
    if (search_options_.n_best > 0)
      for (const Translation& t : best) out.write(n_best_line(number, t));
    else
      out.write(options_.scores ? fmt::format("{:.6g}\t{}", best[0].log_prob, best[0].text) : best[0].text);
    ++number;
  };
  run({.ready = [&] { return in.ready(); },
       .next = [&](std::string& line) { return in.next(line); },
       .write = write,
       .flush = [&] { out.flush(); }});
  return number;
}

void Translator::run(const Flow& flow) {
  lines_read_ = 0;
  for (read(flow); !lines_.empty(); read(flow)) {
    search_.step();
    write_finished(flow);
  }
}

// Waits for a line only when there is nothing else to do, and then for one.
void Translator::read(const Flow& flow) {
  std::string line;
  while (int64_t(lines_.size()) < options_.maxi_batch_lines && search_.wants_more() &&
         (lines_.empty() || flow.ready()) && flow.next(line))
    take(std::move(line));
}

void Translator::take(std::string text) {
  ++lines_read_;
  const auto parts = parts_of(std::move(text));
  Line& line = lines_.emplace_back(parts.size(), std::vector<std::vector<Hypothesis>>(parts.size()));
  for (size_t i = 0; i < parts.size(); ++i)  // lines stay where they are in memory until they are written
    search_.add(parts[i], [&line, i](std::vector<Hypothesis> found) {
      line.parts[i] = std::move(found);
      --line.unfinished;
    });
}

std::vector<std::vector<int32_t>> Translator::parts_of(std::string line) {
  if (line.find_first_not_of(" \t\v\f\r") == std::string::npos) return {};  // not every vocabulary passes over all
  clean_utf8(line);
  const auto ids =
      options_.no_spm_encode ? vocabularies_.source.encode_given_pieces(line) : vocabularies_.source.encode(line);
  auto parts = split_long(vocabularies_.source, ids, longest_part_);
  if (parts.size() > 1 && !std::exchange(warned_, true))
    spdlog::warn("line {} has {} pieces: lines of more than {} are translated in parts", grouped(lines_read_),
                 grouped(ids.size()), grouped(longest_part_));
  return parts;
}

void Translator::write_finished(const Flow& flow) {
  if (lines_.empty() || lines_.front().unfinished > 0) return;
  for (; !lines_.empty() && lines_.front().unfinished == 0; lines_.pop_front()) flow.write(best(lines_.front()));
  flow.flush();
}

std::vector<Translation> Translator::best(const Line& line) const {
  if (line.parts.empty()) return {Translation{}};
  std::vector<Translation> translations;
  const auto most = std::ranges::max(line.parts, {}, &std::vector<Hypothesis>::size).size();
  for (size_t rank = 0; rank < most; ++rank) translations.push_back(joined(line, rank));
  return translations;
}

// The translations of this rank of all parts, one after the other, scored as one.
Translation Translator::joined(const Line& line, size_t rank) const {
  Translation whole;
  int length = 0;
  for (const auto& part : line.parts) {
    const Hypothesis& h = part[std::min(rank, part.size() - 1)];
    const std::string text = vocabularies_.target.decode(h.ids);
    if (!whole.text.empty() && !text.empty()) whole.text += ' ';
    whole.text += text;
    whole.log_prob += h.log_prob;
    length += h.length;
  }
  whole.score = score(search_options_, whole.log_prob, length);
  return whole;
}

}  // namespace dragoman
