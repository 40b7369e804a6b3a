#include "text/html_writer.h"

#include <algorithm>
#include <unordered_map>

#include "text/characters.h"
#include "text/markup_layout.h"
#include "text/markup_tree.h"
#include "text/word_links.h"

namespace dragoman {
namespace {

using Kind = Marker::Kind;
constexpr size_t most_work = 10'000'000;  // markers × bytes, or words and links: some hundredths of a second

// Writes text with references. Those of the sentence take precedence.
class Escape {
 public:
  explicit Escape(const std::vector<WrittenReference>& known)
      : references_{{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}} {
    for (const auto& [character, reference] : known) references_[character] = reference;
  }

  void append(std::string& html, std::string_view text) const {
    for (size_t at = 0, begin = 0; at < text.size(); begin = at) {
      character_at(text, at);
      const std::string_view character = text.substr(begin, at - begin);
      const auto found = references_.find(character);
      html += found == references_.end() ? character : found->second;
    }
  }

 private:
  std::unordered_map<std::string_view, std::string_view> references_;
};

// Writes a translation with the markers of a tree; before each marker, the text up to its position.
class TreeWriter {
 public:
  TreeWriter(std::string_view text, const std::vector<ByteRange>& words, const std::vector<Marker>& markers,
             const Escape& escape)
      : text_(text), words_(words), markers_(markers), escape_(escape) {}

  std::string write(std::vector<MarkupNode> tree, const std::vector<GapRange>& gaps) {
    for (MarkupNode& node : tree)
      std::ranges::stable_sort(node.children, {}, [&](size_t child) { return gaps[child].begin; });
    struct Step {
      size_t node, child;
    };
    for (std::vector<Step> path = {{0, 0}}; !path.empty();) {
      auto& [node, child] = path.back();
      if (child < tree[node].children.size()) {
        const size_t next = tree[node].children[child++];
        begin(tree[next], gaps[next]);
        path.push_back({next, 0});
        continue;
      }
      if (node > 0) end(tree[node], gaps[node]);
      path.pop_back();
    }
    write_until(text_.size());
    return std::move(html_);
  }

 private:
  size_t offset(size_t gap) const {
    const size_t word = gap / 2;
    if (gap % 2 == 1) return word < words_.size() ? words_[word].begin : text_.size();
    return word > 0 ? words_[word - 1].end : 0;
  }

  void write_until(size_t offset) {
    if (offset <= at_) return;
    escape_.append(html_, text_.substr(at_, offset - at_));
    at_ = offset;
  }

  void begin(const MarkupNode& node, GapRange gaps) {
    const Marker& marker = markers_[node.marker];
    if (node.kind == Kind::end) return;
    write_until(offset(gaps.begin));
    const bool is_before_word = gaps.begin % 2 == 1, is_alone = node.kind == Kind::alone;
    if (is_alone && !is_before_word && !marker.after_previous && marker.blank_before) html_ += ' ';
    html_ += marker.bytes;
    if (is_alone && is_before_word && marker.blank_after) html_ += ' ';
  }

  void end(const MarkupNode& node, GapRange gaps) {
    if (node.kind == Kind::alone) return;
    write_until(offset(gaps.end));
    if (node.kind == Kind::open) html_ += markers_[node.closing].bytes;
    if (node.kind == Kind::end) html_ += markers_[node.marker].bytes;
  }

  const std::string_view text_;
  const std::vector<ByteRange>& words_;
  const std::vector<Marker>& markers_;
  const Escape& escape_;
  std::string html_;
  size_t at_ = 0;
};

// Puts elements around the whole text. Elements that began before the sentence end last; if there are any, elements
// that continue after the sentence begin at its end, not at its beginning.
std::string around_all(std::string_view text, const std::vector<Marker>& markers, const Escape& escape) {
  std::string begins, opens, closes, ends;
  for (const Marker& marker : markers) {
    if (marker.kind == Kind::begin) begins += marker.bytes;
    if (marker.kind == Kind::end) ends += marker.bytes;
    if (marker.kind == Kind::open || marker.kind == Kind::alone) opens += marker.bytes;
    if (marker.kind == Kind::alone && marker.blank_after) opens += ' ';
  }
  // The closing markers of nested elements: the last opened closes first.
  for (size_t i = markers.size(); i-- > 0;)
    if (markers[i].kind == Kind::open) closes += markers[markers[i].partner].bytes;
  std::string html = ends.empty() ? begins + opens : opens;
  escape.append(html, text);
  return html + closes + ends + (ends.empty() ? "" : begins);
}

}  // namespace

bool needs_links(std::string_view sentence, const InlineMarkup& markup) {
  return !markup.markers.empty() && markup.markers.size() * sentence.size() <= most_work;
}

std::string to_html(const TranslatedSentence& translation, std::string_view sentence, const InlineMarkup& markup) {
  const Escape escape(markup.references);
  const std::vector<Marker>& markers = markup.markers;
  if (translation.links.empty() || !needs_links(sentence, markup)) return around_all(translation.text, markers, escape);
  const std::vector<ByteRange> words = words_of(translation.text);
  const std::vector<WordLink> links = word_links(sentence, words_of(sentence), translation, words);
  if (links.empty() || markers.size() * (links.size() + words.size()) > most_work)
    return around_all(translation.text, markers, escape);
  std::vector<MarkupNode> tree = markup_tree(sentence, markers);
  const std::vector<GapRange> gaps = markup_layout(tree, markers, links, words.size());
  return TreeWriter(translation.text, words, markers, escape).write(std::move(tree), gaps);
}

}  // namespace dragoman
