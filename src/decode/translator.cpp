#include "decode/translator.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

#include "align/model_alignment.h"
#include "backend/backend.h"
#include "base/grouped.h"
#include "base/log.h"
#include "base/utf8.h"
#include "interop/languages.h"

namespace dragoman {
namespace {

// The smallest known longest_source of the models.
int longest_trained(std::span<const TranslatingModel> models) {
  int longest = 0;
  for (const TranslatingModel& m : models)
    if (m.longest_source > 0) longest = longest > 0 ? std::min(longest, m.longest_source) : m.longest_source;
  return longest;
}

}  // namespace

// A table of learned positions is finite. Where source and translation are one sequence, half of it is for each.
Translator::Room Translator::room_of(const TranslateOptions& options, std::span<const TranslatingModel> models) {
  Room room{options.max_length, std::numeric_limits<int64_t>::max()};
  for (const TranslatingModel& m : models) {
    const ModelConfig& config = m.model->config();
    if (config.positions != Positions::learned) continue;
    const int64_t table = config.type == ModelType::decoder_only ? config.max_positions / 2 : config.max_positions;
    room.positions = std::min(room.positions, table);
  }
  return room;
}

// The special tokens take positions too.
int Translator::longest_segment(const SentenceFrames& frames) const {
  return int(std::min<int64_t>(room_.pieces, std::max<int64_t>(1, room_.positions - int64_t(frames.source.size()))));
}

void require_search(const SearchOptions& options) {
  require(options.sampling == Sampling::none,
          "sampling cannot make translations contain phrases, as the search for the best translation can");
}

Translator::Translator(std::span<const TranslatingModel> models, const Vocabularies& vocabularies,
                       const TranslateOptions& options, const SearchOptions& search, WordConstraints words,
                       int searches)
    : vocabularies_(vocabularies),
      options_(options),
      search_options_(std::make_shared<const SearchOptions>(search)),
      models_(models.size()),
      first_(models[0]),
      shortlist_(words.shortlist ? limited_to(*words.shortlist) : nullptr),
      glossary_(words.glossary),
      avoid_(std::move(words.avoid)),
      room_(room_of(options_, models)),
      frames_(conventions_of(models[0].model->config()).frames),
      takes_language_(language_choice(models[0].model->config(), vocabularies).in_text),
      searches_(searches, models, options_.tokens_in_flight(models[0].cx->backend), options_.search_memory),
      longest_source_(longest_trained(models)) {
  if (options.alignment.kind != AlignmentStyle::none) require_cross_attention(first_.model->config());
}

Translator::Translator(Context& cx, Model& model, const Vocabularies& vocabularies, const TranslateOptions& options,
                       const SearchOptions& search, int searches)
    : Translator(std::array{TranslatingModel{&cx, &model}}, vocabularies, options, search, {}, searches) {}

Translator::Ticket Translator::submit(TextRequest request, Done done, Failed failed) {
  validate(request.search);
  if (request.alignment) require_cross_attention(first_.model->config());
  if (!request.phrases.empty() || request.glossary || glossary_) require_search(request.search);
  for (std::string* text : {&request.text, &request.prefix, &request.tags}) clean_utf8(*text);
  auto source = ids_of(vocabularies_.source, request.text);
  const auto tagged = ids_of(vocabularies_.source, request.tags);
  const size_t added = begin_with(leading_tags(vocabularies_.source, tagged), source);
  Phrases phrases;
  for (std::string& text : request.phrases) {
    clean_utf8(text);
    if (Phrase found = phrase(text); !found.empty()) phrases.all.push_back(std::move(found));
  }
  const auto tags = leading_tags(vocabularies_.source, source);
  const ModelConfig& config = first_.model->config();
  if (knows_languages(config) && name_language(vocabularies_.source, tags)) request.frames.reset();
  if (!request.frames && !knows_languages(config)) frames_of(config);  // Error that says which one is missing
  const SentenceFrames& frames = request.frames ? *request.frames : frames_;
  auto sentences = segments_of(source, added, ids_of(vocabularies_.target, request.prefix), std::move(phrases),
                               request.line, 0, request.frames);
  require_terms(terms_of(request, tags.size() - added), request.text, sentences);
  if (request.avoid) request.constraints.push_back(std::move(request.avoid));
  for (Sentence& sentence : sentences) sentence.constraints = request.constraints;
  Text text{.search = std::make_shared<const SearchOptions>(request.search),
            .wanted = request.wanted,
            .alignment = {request.alignment ? AlignmentStyle::hard : AlignmentStyle::none},
            .source_frame = frames.source.before.size(),
            .partial = std::move(request.partial)};
  if (request.alignment && !options_.no_spm_encode && !source.empty()) text.ranges = ranges_of(request.text, sentences);
  auto pending = std::make_unique<Pending>(Pending{std::move(text), std::move(done), std::move(failed)});
  const Ticket ticket = ++last_ticket_;
  Text& queued = requests_.emplace(ticket, std::move(pending)).first->second->text;
  try {
    start(queued, std::move(sentences));
  } catch (...) {
    cancel(ticket);
    throw;
  }
  return ticket;
}

bool Translator::cancel(Ticket ticket) {
  const auto found = requests_.find(ticket);
  if (found == requests_.end()) return false;
  const Text& text = found->second->text;
  for (const Search::Ticket of_sentence : text.tickets) text.on->cancel(of_sentence);
  requests_.erase(found);
  return true;
}

void Translator::step(int most) {
  searches_.step(most);
  std::vector<std::unique_ptr<Pending>> finished;  // their callbacks may submit and cancel requests
  for (auto at = requests_.begin(); at != requests_.end();) {
    const bool done = at->second->text.unfinished == 0;
    if (done) finished.push_back(std::move(at->second));
    at = done ? requests_.erase(at) : std::next(at);
  }
  for (auto& p : finished) answer(*p);
}

void Translator::answer(Pending& request) {
  std::vector<Translation> found;
  std::exception_ptr error = request.text.error;
  try {
    if (!error) found = best(std::move(request.text));
  } catch (const std::exception&) {
    error = std::current_exception();
  }
  error ? request.failed(error) : request.done(std::move(found));
}

// All sentences of a text are in the same search, so only one thread counts them.
void Translator::start(Text& text, std::vector<Sentence> sentences) {
  text.unfinished = sentences.size();
  text.found.resize(sentences.size());
  text.tickets.reserve(sentences.size());
  text.on = &searches_.next();
  const bool aligns = text.alignment.kind != AlignmentStyle::none;
  if (aligns) text.aligned.resize(sentences.size());
  if (std::ranges::any_of(sentences, [](const Sentence& s) { return !s.phrases.empty(); }))
    for (const Sentence& sentence : sentences) text.phrases.push_back(sentence.phrases);
  for (size_t i = 0; i < sentences.size(); ++i) {
    if (shortlist_) sentences[i].constraints.push_back(shortlist_);
    if (avoid_) sentences[i].constraints.push_back(avoid_);
    if (aligns) text.sources.push_back(sentences[i].source), text.repeated.push_back(sentences[i].repeated);
    const auto aligned = [this, &text, i](const Hypothesis& hypothesis, Alignment alignment) {
      try {
        take(text, i, hypothesis, std::move(alignment));
      } catch (const std::exception&) {
        text.error = std::current_exception();
      }
    };
    const auto found = [&text, i](std::vector<Hypothesis> best) {
      if (!text.phrases.empty()) text.lacks |= !RequiredPhrases(text.phrases[i]).are_in(best[0].ids);
      text.found[i] = std::move(best);
      --text.unfinished;
    };
    const auto failed = [&text](std::exception_ptr error) {
      text.error = std::move(error);
      --text.unfinished;
    };
    auto partial = text.partial ? report_beginning(text, i) : Search::Partial();
    text.tickets.push_back(text.on->add(std::move(sentences[i]), text.search, text.wanted, found, failed,
                                        std::move(partial), aligns ? Search::Aligned(aligned) : Search::Aligned()));
  }
}

// Reports the beginning of the translation: all finished sentences and the beginning of the first unfinished one.
Search::Partial Translator::report_beginning(Text& text, size_t sentence) const {
  return [this, &text, sentence](std::span<const int32_t> decided) {
    for (; !text.found[text.leading].empty(); ++text.leading)
      join(text.beginning, vocabularies_.target.decode(text.found[text.leading][0].ids));
    if (sentence != text.leading) return;
    std::string all = text.beginning;
    join(all, beginning_of(vocabularies_.target, decided));
    if (all.size() <= text.reported.size() || !all.starts_with(text.reported)) return;
    text.partial(text.reported = std::move(all));
  };
}

void Translator::warn_of_length(size_t pieces) {
  if (longest_source_ == 0 || pieces <= size_t(longest_source_)) return;
  if (std::exchange(last_beyond_training_, line_) == line_ || beyond_training_++ > 0) return;
  log_warning(
      "line {} has a segment of {} pieces, longer than any sentence that the model was trained on ({}): such "
      "translations are often bad; shorter segments may be better (--max-length {})",
      grouped(int64_t(line_) + 1), grouped(int64_t(pieces)), grouped(longest_source_), longest_source_);
}

void Translator::warn_of_segments(size_t pieces) {
  if (std::exchange(warned_, true)) return;
  log_warning("line {} has {} pieces: lines of more than {} are split into segments", grouped(int64_t(line_) + 1),
              grouped(int64_t(pieces)), grouped(longest_segment(frames_)));
}

void Translator::warn_of_terms(std::span<const Glossary::Found> left_out) {
  if (left_out.empty() || std::exchange(warned_of_terms_, true)) return;
  const size_t more = left_out.size() - 1;
  log_warning(
      "line {} has a segment in which the terms of --glossary have more than {} pieces: '{}'{} not required there",
      grouped(int64_t(line_) + 1), grouped(int64_t(most_pieces_of_terms)),
      vocabularies_.target.decode(*left_out[0].phrase),
      more == 0 ? " is" : fmt::format(" and {} more are", grouped(int64_t(more))));
}

// Segments are translated at the same time, and nothing says to which of them a phrase belongs.
void Translator::warn_of_phrases() {
  if (std::exchange(warned_of_phrases_, true)) return;
  log_warning(
      "line {} is split into segments: its --constraints all count for the first one; a line for each segment may have "
      "its own",
      grouped(int64_t(line_) + 1));
}

void Translator::warn_of_prefix(const std::vector<int32_t>& prefix) {
  if (!avoid_ || warned_of_prefix_) return;
  const std::string found = avoid_->first_in(prefix);
  if (found.empty()) return;
  warned_of_prefix_ = true;
  log_warning("the forced prefix of line {} contains '{}', which --avoid forbids: the prefix is kept",
              grouped(int64_t(line_) + 1), found);
}

void Translator::warn_of_unknown_prefix() {
  if (std::exchange(warned_of_unknown_prefix_, true)) return;
  log_warning(
      "the prefix of line {} (--force-decode) has pieces that the vocabulary lacks: its translation has ⁇ in their "
      "place",
      grouped(int64_t(line_) + 1));
}

void Translator::warn_of_lack(uint64_t line) {
  if (std::exchange(last_lacking_, line) == line || lacking_++ > 0) return;
  log_warning(
      "the translation of line {} does not contain all its required phrases (--glossary, --constraints): it reached "
      "the length limit, the model never predicts some of their pieces, or --avoid forbids them",
      grouped(int64_t(line) + 1));
}

}  // namespace dragoman
