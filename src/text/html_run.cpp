#include "text/html_run.h"

#include <algorithm>
#include <unordered_map>

#include "text/characters.h"
#include "text/html_references.h"

namespace dragoman {

void HtmlRun::add_text(std::string_view text) {
  constexpr std::string_view blanks = " \t\n\f\r";
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(" \t\n\f\r&", at), text.size());
    if (end > at) add_characters(text.substr(at, end - at), text.substr(at, end - at));
    at = end;
    if (at == text.size()) return;
    const HtmlReference reference = html_reference(text.substr(at));
    const size_t bytes = std::max<size_t>(reference.bytes, 1);
    const std::string_view written = text.substr(at, bytes);
    const std::string_view stands_for = reference.bytes > 0 ? reference.stands_for : written;
    if (blanks.find(stands_for[0]) != blanks.npos) {
      add_blank();
    } else {
      const size_t begin = text_.size() + (blank_ && !text_.empty());
      add_characters(stands_for, written);
      if (reference.bytes > 0) references_.push_back({{begin, text_.size()}, written});
    }
    at += bytes;
  }
}

void HtmlRun::add_blank() {
  blank_ = true;
  for (size_t i = markers_.size(); i-- > resolved_ && !markers_[i].blank_after;) {
    markers_[i].blank_after = true;
    if (!markers_[i].opens && !markers_[i].closes) return;
  }
}

void HtmlRun::add_characters(std::string_view characters, std::string_view written) {
  resolve_markers();
  if (blank_ && !text_.empty()) text_ += ' ';
  blank_ = false;
  const size_t begin = text_.size(), page = offset(written);
  text_ += characters;
  const bool continues = !spans_.empty() && spans_.back().text.end == begin && spans_.back().page.end == page &&
                         spans_.back().text.size() == spans_.back().page.size();
  if (continues && characters.size() == written.size())
    spans_.back().text.end += characters.size(), spans_.back().page.end += written.size();
  else
    spans_.push_back({{begin, text_.size()}, {page, page + written.size()}});
}

// A marker that touches the text before it but not the text after it belongs to the text before it.
void HtmlRun::resolve_markers() {
  for (; resolved_ < markers_.size(); ++resolved_)
    markers_[resolved_].after_previous |= blank_ && !markers_[resolved_].blank_before && !text_.empty();
}

HtmlRun::Found& HtmlRun::add_marker(std::string_view bytes) {
  const size_t begin = offset(bytes);
  return markers_.emplace_back(
      Found{.page = {begin, begin + bytes.size()}, .at = text_.size(), .blank_before = blank_});
}

void HtmlRun::add_start_tag(std::string_view tag, const std::string& element) {
  open_by_name_[element].push_back(markers_.size());
  open_.push_back(markers_.size());
  names_.push_back(element);
  add_marker(tag).opens = true;
}

void HtmlRun::add_end_tag(std::string_view tag, const std::string& element) {
  Found& marker = add_marker(tag);
  marker.closes = true;
  const auto same_name = open_by_name_.find(element);
  if (same_name == open_by_name_.end() || same_name->second.empty()) {
    marker.is_lone = marker.after_previous = !open_.empty();
    return;
  }
  marker.partner = same_name->second.back();
  while (true) {
    const size_t top = open_.back();
    open_by_name_[names_.back()].pop_back();
    open_.pop_back();
    names_.pop_back();
    if (top == marker.partner) break;
    markers_[top].is_lone = true;
  }
  markers_[marker.partner].partner = markers_.size() - 1;
}

void HtmlRun::add_alone(std::string_view bytes, bool joins) {
  const bool is_one = joins && !markers_.empty() && markers_.back().is_joined &&
                      markers_.back().page.end == offset(bytes) && resolved_ < markers_.size();
  if (is_one)
    markers_.back().page.end += bytes.size();
  else
    add_marker(bytes).is_joined = joins;
}

void HtmlRun::finish(SentenceBreaker& breaker, std::vector<HtmlSentence>& all) {
  if (text_.empty() && markers_.empty()) return;
  blank_ = true;
  resolve_markers();
  const std::vector<ByteRange> sentences = breaker.sentences(text_);
  size_t first = 0;
  for (size_t i = 0; i < sentences.size(); ++i) {
    const ByteRange markers = markers_of(sentences[i], i + 1 < sentences.size() ? sentences[i + 1].begin : none, first);
    all.push_back(cut_out(sentences[i], markers));
    first = markers.end;
  }
  *this = HtmlRun(page_);
}

// The markers within the sentence, and the tags around it whose counterparts are within.
ByteRange HtmlRun::markers_of(ByteRange sentence, size_t next_sentence, size_t first) const {
  const auto first_from = [&](size_t from, auto holds) {
    while (from < markers_.size() && !holds(markers_[from])) ++from;
    return from;
  };
  const size_t inside = first_from(first, [&](const Found& m) { return m.at > sentence.begin; });
  const size_t behind = first_from(inside, [&](const Found& m) { return m.at >= sentence.end; });
  const size_t last = first_from(behind, [&](const Found& m) { return m.at > next_sentence; });
  const auto pairs_inside = [&](const Found& m) {
    return m.partner != none && m.partner >= inside && m.partner < behind;
  };
  ByteRange markers{inside, behind};
  for (size_t i = inside; i-- > first;)
    if (markers_[i].opens && pairs_inside(markers_[i])) markers.begin = i;
  for (size_t i = behind; i < last; ++i)
    if (markers_[i].closes && pairs_inside(markers_[i])) markers.end = i + 1;
  return markers;
}

HtmlSentence HtmlRun::cut_out(ByteRange sentence, ByteRange markers) const {
  HtmlSentence cut{.bytes = {page_begin(sentence.begin), page_end(sentence.end)},
                   .text = text_.substr(sentence.begin, sentence.size()),
                   .markup = {.markers = {}, .references = references_in(sentence)}};
  for (size_t i = markers.begin; i < markers.end; ++i) cut.markup.markers.push_back(marker(i, sentence, markers));
  if (markers.size() == 0) return cut;
  cut.bytes.begin = std::min(cut.bytes.begin, markers_[markers.begin].page.begin);
  cut.bytes.end = std::max(cut.bytes.end, markers_[markers.end - 1].page.end);
  return cut;
}

Marker HtmlRun::marker(size_t index, ByteRange sentence, ByteRange markers) const {
  using Kind = Marker::Kind;
  const Found& found = markers_[index];
  const bool paired = found.partner >= markers.begin && found.partner < markers.end;
  Kind kind = Kind::alone;
  if (found.opens && !found.is_lone) kind = paired ? Kind::open : Kind::begin;
  if (found.closes && !found.is_lone) kind = paired ? Kind::close : Kind::end;
  return {.kind = kind,
          .bytes = std::string(page_.substr(found.page.begin, found.page.size())),
          .at = std::clamp(found.at, sentence.begin, sentence.end) - sentence.begin,
          .partner = paired ? found.partner - markers.begin : 0,
          .blank_before = found.blank_before,
          .blank_after = found.blank_after,
          .after_previous = found.after_previous && found.at > sentence.begin};
}

size_t HtmlRun::page_begin(size_t text_begin) const {
  const auto after = std::ranges::upper_bound(spans_, text_begin, {}, [](const Span& s) { return s.text.begin; });
  const Span& span = *(after - 1);
  return span.text.size() == span.page.size() ? span.page.begin + text_begin - span.text.begin : span.page.begin;
}

size_t HtmlRun::page_end(size_t text_end) const {
  const auto after = std::ranges::lower_bound(spans_, text_end, {}, [](const Span& s) { return s.text.begin; });
  const Span& span = *(after - 1);
  return span.text.size() == span.page.size() ? span.page.begin + text_end - span.text.begin : span.page.end;
}

// Keeps a reference if the sentence always writes this character as a reference, and always as the same one.
std::vector<WrittenReference> HtmlRun::references_in(ByteRange sentence) const {
  const auto first =
      std::ranges::lower_bound(references_, sentence.begin, {}, [](const Reference& r) { return r.text.begin; });
  std::unordered_map<std::string_view, std::string_view> written;  // "": in several ways, or not always as a reference
  std::unordered_map<std::string_view, int64_t> unwritten;
  const std::string_view text(text_);
  for (auto r = first; r != references_.end() && r->text.end <= sentence.end; ++r) {
    const std::string_view character = text.substr(r->text.begin, r->text.size());
    const auto known = written.try_emplace(character, r->written).first;
    if (known->second != r->written) known->second = "";
    --unwritten[character];
  }
  if (written.empty()) return {};
  for (size_t at = sentence.begin, begin = at; at < sentence.end; begin = at) {
    character_at(text, at);
    if (const auto count = unwritten.find(text.substr(begin, at - begin)); count != unwritten.end()) ++count->second;
  }
  std::vector<WrittenReference> kept;
  for (const auto& [character, reference] : written)
    if (reference.ends_with(';') && unwritten.at(character) == 0)
      kept.push_back({std::string(character), std::string(reference)});
  return kept;
}

}  // namespace dragoman
