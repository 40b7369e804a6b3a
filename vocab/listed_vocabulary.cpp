#include "vocab/listed_vocabulary.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "vocab/continued_pieces.h"
#include "vocab/segmentation.h"

namespace dragoman {
namespace {

using Ids = std::unordered_map<std::string_view, int32_t>;

std::unique_ptr<const Segmentation> segmentation_of(const ListedVocabulary& v, const std::string& vocabulary) {
  const std::string& name = v.model_name.empty() ? vocabulary : v.model_name;
  switch (v.segmentation) {
    case SegmentationKind::sentencepiece:
      return sentencepiece_segmentation(v.model, name);
    case SegmentationKind::tokens:
      return has_continued_pieces(v.pieces) ? continued_segmentation() : token_segmentation();
    case SegmentationKind::bpe:
      return bpe_segmentation(v.model, name);
  }
  return {};
}

void check_special(const SpecialPieces& special, size_t size, const std::string& name) {
  const auto inside = [&](const char* what, int32_t id, int32_t least) {
    require(id >= least && id < int64_t(size), "{}: the id of {} is {}, expected {} to {}", name, what, id, least,
            int64_t(size) - 1);
  };
  inside("unk", special.unk, 0);
  inside("eos", special.eos, 0);
  inside("bos", special.bos, -1);
  inside("pad", special.pad, -1);
  for (const int32_t id : special.control) inside("a control piece", id, 0);
}

Ids ids_of(const std::vector<std::string>& pieces, const std::string& name) {
  Ids ids;
  ids.reserve(pieces.size());
  for (const std::string& piece : pieces) {
    const auto id = int32_t(ids.size());
    require(piece.find('\0') == piece.npos, "{}: piece {} holds a NUL", name, id);
    const auto [first, is_new] = ids.emplace(piece, id);
    require(is_new, "{}: piece {}, \"{}\", is piece {} already", name, id, piece, first->second);
  }
  return ids;
}

// The ">>fra<<" with which a line begins; empty: none.
std::string_view leading_language(std::string_view line) {
  const size_t end = line.starts_with(">>") ? line.find("<<") : line.npos;
  return end == line.npos ? "" : line.substr(0, end + 2);
}

// How a piece appears in text and in ids.
enum class Role : uint8_t { ordinary, byte, unknown, control, special };

class ListedModel : public PieceModel {
 public:
  ListedModel(ListedVocabulary vocabulary, const std::string& name)
      : PieceModel(std::move(vocabulary.special)),
        segmentation_(segmentation_of(vocabulary, name)),
        pieces_(std::move(vocabulary.pieces)),
        ids_(ids_of(pieces_, name)),
        roles_(pieces_.size(), Role::ordinary) {
    for (size_t id = 0; id < roles_.size(); ++id)
      if (segmentation_->is_byte(pieces_[id])) roles_[id] = Role::byte;
    for (const int32_t id : special().control) roles_[size_t(id)] = Role::control;
    for (const int32_t id : {special().bos, special().eos, special().pad})
      if (id >= 0) roles_[size_t(id)] = Role::special;
    roles_[size_t(special().unk)] = Role::unknown;
  }

  int size() const override { return int(pieces_.size()); }
  const std::string& piece(int32_t id) const override { return pieces_[size_t(id)]; }
  bool is_byte(int32_t id) const override { return id >= 0 && id < size() && role(id) == Role::byte; }
  bool has_byte_fallback() const override { return is_byte(id_of("<0x00>")); }

  std::optional<int32_t> find(std::string_view piece) const override {
    const auto found = ids_.find(piece);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }

  // Control pieces are accepted: other programs give the code of a language in this way.
  int32_t given_id(std::string_view piece) const override {
    const int32_t id = id_of(piece);
    return role(id) == Role::special ? special().unk : id;
  }

  EncodedLine encode(std::string_view line) const override {
    WrittenLine written = this->written(line);
    return {in_text(written.pieces), std::move(written.ranges)};
  }

  std::vector<std::string> encode_pieces(std::string_view line) const override { return written(line).pieces; }

  std::vector<int32_t> sample(std::string_view line, double alpha) const override {
    const std::string_view language = language_of(line);
    std::vector<std::string> pieces = segmentation_->sample(without(language, line), alpha);
    if (!language.empty()) pieces.insert(pieces.begin(), std::string(language));
    return in_text(pieces);
  }

  DecodedText decode(std::span<const int32_t> ids) const override {
    std::vector<std::string> written;
    for (const int32_t id : ids)
      if (!vanishes(id)) written.push_back(role(id) == Role::unknown ? segmentation_->unknown() : piece(id));
    DecodedText decoded = segmentation_->decode(written);
    if (written.size() == ids.size()) return decoded;
    std::vector<ByteRange> ranges;
    size_t at = 0;
    for (const int32_t id : ids) {
      const size_t end = ranges.empty() ? 0 : ranges.back().end;
      ranges.push_back(vanishes(id) ? ByteRange{end, end} : decoded.ranges[at++]);
    }
    return {std::move(decoded.text), std::move(ranges)};
  }

  std::string text_of(int32_t id) const override {
    if (vanishes(id)) return "";
    return segmentation_->text_of(role(id) == Role::unknown ? segmentation_->unknown() : piece(id));
  }

  std::string decode_pieces(const std::vector<std::string>& pieces) const override {
    return segmentation_->decode(pieces).text;
  }

 private:
  Role role(int32_t id) const { return roles_[size_t(id)]; }

  int32_t id_of(std::string_view piece) const { return find(piece).value_or(special().unk); }

  bool vanishes(int32_t id) const { return role(id) == Role::special || role(id) == Role::control; }

  // A line may begin with the language to translate into, ">>fra<< Hello", as a piece of the list. The rest is text.
  std::string_view language_of(std::string_view line) const {
    const std::string_view language = leading_language(line);
    return ids_.contains(language) ? language : "";
  }

  static std::string_view without(std::string_view language, std::string_view line) {
    if (language.empty()) return line;
    line.remove_prefix(language.size());
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    return line;
  }

  WrittenLine written(std::string_view line) const {
    const std::string_view language = language_of(line), text = without(language, line);
    WrittenLine written = segmentation_->encode(text);
    if (language.empty()) return written;
    for (ByteRange& range : written.ranges)
      range = {range.begin + line.size() - text.size(), range.end + line.size() - text.size()};
    written.pieces.insert(written.pieces.begin(), std::string(language));
    written.ranges.insert(written.ranges.begin(), {0, language.size()});
    return written;
  }

  // Characters that the segmentation lacks may spell a special piece: in text it is not special.
  std::vector<int32_t> in_text(const std::vector<std::string>& written) const {
    std::vector<int32_t> ids;
    ids.reserve(written.size());
    for (const std::string& piece : written) {
      const int32_t id = id_of(piece);
      ids.push_back(role(id) == Role::ordinary || role(id) == Role::byte ? id : special().unk);
    }
    return ids;
  }

  const std::unique_ptr<const Segmentation> segmentation_;
  const std::vector<std::string> pieces_;
  const Ids ids_;  // of views into pieces_
  std::vector<Role> roles_;
};

}  // namespace

void fill_up(ListedVocabulary& v, int size) {
  for (auto id = int32_t(v.pieces.size()); id < size; ++id) {
    v.special.control.push_back(id);
    v.pieces.push_back(fmt::format("{}{}>", unused_piece, id));
  }
}

std::shared_ptr<const PieceModel> listed_model(ListedVocabulary vocabulary, const std::string& name) {
  check_special(vocabulary.special, vocabulary.pieces.size(), name);
  require(vocabulary.segmentation != SegmentationKind::tokens || vocabulary.model.empty(),
          "{}: a vocabulary of tokens has a model, expected none", name);
  return std::make_shared<ListedModel>(std::move(vocabulary), name);
}

}  // namespace dragoman
