#include "decode/translator.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/grouped.h"
#include "base/log.h"
#include "base/utf8.h"
#include "decode/split.h"
#include "decode/translation_writer.h"

namespace dragoman {
namespace {

constexpr size_t longest_text = 1 << 20;  // bytes of a line read at once

// A table of learned positions is finite; one row is for </s>.
int longest_segment(const TranslateOptions& options, std::span<const TranslatingModel> models) {
  int longest = options.max_length;
  for (const TranslatingModel& m : models) {
    const ModelConfig& config = m.model->config();
    if (config.positions == Positions::learned) longest = std::min(longest, config.max_positions - 1);
  }
  return longest;
}

// The smallest longest_source of the models that know theirs.
int longest_trained(std::span<const TranslatingModel> models) {
  int longest = 0;
  for (const TranslatingModel& m : models)
    if (m.longest_source > 0) longest = longest > 0 ? std::min(longest, m.longest_source) : m.longest_source;
  return longest;
}

Search::Wanted wanted(const TranslateOptions& options, const SearchOptions& search) {
  const bool shown = options.scores || options.word_scores || search.n_best > 0;
  return shown ? Search::Wanted::log_probs : Search::Wanted::pieces;
}

// Not every vocabulary ignores all of these characters.
bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\v\f\r") == std::string_view::npos; }

}  // namespace

Translator::Translator(std::span<const TranslatingModel> models, const Vocabularies& vocabularies,
                       const TranslateOptions& options, const SearchOptions& search, const Shortlist* shortlist,
                       int searches)
    : vocabularies_(vocabularies),
      options_(options),
      search_options_(search),
      models_(models.size()),
      first_(models[0]),
      longest_segment_(longest_segment(options_, models)),
      searches_(searches, models, search_options_, options_.mini_batch_words, shortlist,
                wanted(options_, search_options_)),
      longest_source_(longest_trained(models)) {}

Translator::Translator(Context& cx, Model& model, const Vocabularies& vocabularies, const TranslateOptions& options,
                       const SearchOptions& search, int searches)
    : Translator(std::array{TranslatingModel{&cx, &model}}, vocabularies, options, search, nullptr, searches) {}

std::vector<std::string> Translator::translate(std::span<const std::string> lines) {
  std::vector<std::string> texts;
  auto next = lines.begin();
  run({.ready = [] { return true; },
       .next = [&](std::string& line, bool&) { return next != lines.end() && (line = *next++, true); },
       .write = [&](const auto& best, bool) { texts.push_back(best[0].text); },
       .flush = [] {}});
  return texts;
}

int64_t Translator::translate(LineReader& in, LineWriter& out, const std::function<void(int64_t)>& written) {
  // The forced prefix is at the end of its line, so such a line is read whole.
  const size_t longest = options_.force_decode ? std::numeric_limits<size_t>::max() : longest_text;
  TranslationWriter writer(out, options_, search_options_);
  run({.ready = [&] { return in.ready(longest); },
       .next = [&](std::string& text, bool& more) { return in.next_segment(text, longest, more); },
       .write = [&](auto best, bool more) { writer.write(std::move(best), more); },
       .flush =
           [&] {
             out.flush();
             if (written) written(writer.lines());
           }});
  return writer.lines();
}

void Translator::run(const Flow& flow) {
  line_ = part_ = 0;
  for (read(flow); !texts_.empty(); read(flow)) {
    try {
      searches_.step();
    } catch (...) {
      write_finished(flow);  // finished translations are not lost
      throw;
    }
    write_finished(flow);
  }
}

// Blocks only when there is nothing else to do, and then only for one line.
void Translator::read(const Flow& flow) {
  std::string text;
  bool more = false;
  while (int64_t(texts_.size()) < options_.maxi_batch_lines && searches_.wants_more() &&
         (texts_.empty() || flow.ready()) && flow.next(text, more))
    take(std::move(text), more);
}

void Translator::take(std::string content, bool more) {
  const auto sentences = sentences_of(std::move(content));
  Text& text = texts_.emplace_back();
  text.more = more;
  text.unfinished = sentences.size();
  text.found.resize(sentences.size());
  if (options_.alignment.kind != AlignmentStyle::none)
    for (const Sentence& sentence : sentences) text.sources.push_back(sentence.source);
  Search& search = searches_.next();
  for (size_t i = 0; i < sentences.size(); ++i)  // references to texts stay valid until they are written
    search.add(sentences[i], [&text, i](std::vector<Hypothesis> found) {
      text.found[i] = std::move(found);
      --text.unfinished;
    });
  if (!more) ++line_, part_ = 0;
}

std::vector<Sentence> Translator::sentences_of(std::string text) {
  clean_utf8(text);
  std::string_view source = text, prefix;
  if (const size_t tab = text.find('\t'); options_.force_decode && tab != std::string::npos) {
    prefix = source.substr(tab + 1);
    source = source.substr(0, tab);
  }
  const auto forced = is_blank(prefix) ? std::vector<int32_t>() : encode(vocabularies_.target, prefix);
  const auto ids = is_blank(source) ? std::vector<int32_t>() : encode(vocabularies_.source, source);
  auto parts = split_long(vocabularies_.source, ids, longest_segment_);
  if (parts.size() > 1) warn_of_segments(ids.size());
  warn_of_length(std::min(ids.size(), size_t(longest_segment_)));
  if (parts.empty() && !forced.empty()) parts.emplace_back();
  std::vector<Sentence> sentences;
  for (auto& part : parts) sentences.push_back({std::move(part), {}, line_, part_++});
  if (!sentences.empty()) sentences[0].prefix = forced;
  return sentences;
}

std::vector<int32_t> Translator::encode(const Vocabulary& vocabulary, std::string_view text) const {
  return options_.no_spm_encode ? vocabulary.encode_given_pieces(text) : vocabulary.encode(text);
}

void Translator::warn_of_length(size_t pieces) {
  if (longest_source_ == 0 || pieces <= size_t(longest_source_) || beyond_training_++ > 0) return;
  log_warning(
      "line {} has {} pieces at once, more than any sentence that the model was trained on ({}): such "
      "translations are often bad; shorter segments may be better (--max-length {})",
      grouped(int64_t(line_) + 1), grouped(int64_t(pieces)), grouped(longest_source_), longest_source_);
}

void Translator::warn_of_segments(size_t pieces) {
  if (std::exchange(warned_, true)) return;
  log_warning("line {} has {} pieces: lines of more than {} are translated in parts", grouped(int64_t(line_) + 1),
              grouped(int64_t(pieces)), grouped(longest_segment_));
}

void Translator::write_finished(const Flow& flow) {
  if (texts_.empty() || texts_.front().unfinished > 0) return;
  for (; !texts_.empty() && texts_.front().unfinished == 0; texts_.pop_front()) {
    const bool more = texts_.front().more;
    flow.write(best(std::move(texts_.front())), more);
  }
  flow.flush();
}

std::vector<Translation> Translator::best(Text text) {
  std::vector<Translation> line;
  for (size_t i = 0; i < text.found.size(); ++i) {
    std::vector<Alignment> alignments;
    if (!text.sources.empty()) alignments = align(text.sources[i], text.found[i]);
    auto translations = translations_of(vocabularies_.target, std::move(text.found[i]));
    for (size_t rank = 0; rank < alignments.size(); ++rank) translations[rank].alignment = std::move(alignments[rank]);
    append(line, std::move(translations), search_options_);
  }
  if (line.empty()) line.emplace_back().by_model.resize(models_ > 1 ? models_ : 0);
  return line;
}

// A forced pass over the hypotheses, because decoding keeps no attention weights.
std::vector<Alignment> Translator::align(const std::vector<int32_t>& source, std::span<const Hypothesis> hypotheses) {
  std::vector<IdPair> pairs;
  for (const Hypothesis& h : hypotheses) {
    IdPair& pair = pairs.emplace_back(source, h.ids);
    pair.source.push_back(eos_id);
    if (h.length > int(h.ids.size())) pair.target.push_back(eos_id);
  }
  return dragoman::align(*first_.cx, *first_.model, pairs, options_.mini_batch_words);
}

}  // namespace dragoman
