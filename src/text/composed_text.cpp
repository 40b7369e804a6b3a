#include "text/composed_text.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>

#include "base/error.h"

namespace dragoman {
namespace {

const icu::Normalizer2& form_c() {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* form = icu::Normalizer2::getNFCInstance(status);
  invariant(U_SUCCESS(status), "ICU has the data of normalization form C");
  return *form;
}

icu::StringPiece piece_of(std::string_view text) { return {text.data(), int32_t(text.size())}; }

}  // namespace

ComposedText::ComposedText(std::string_view original) : original_(original) {
  UErrorCode status = U_ZERO_ERROR;
  changed_ = !form_c().isNormalizedUTF8(piece_of(original), status);
  if (!changed_) return;
  icu::StringByteSink<std::string> sink(&composed_);
  form_c().normalizeUTF8(0, piece_of(original), sink, &edits_, status);
  invariant(U_SUCCESS(status), "ICU composes any text");
  position_ = edits_.getFineIterator();
}

std::string decomposed(std::string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* form = icu::Normalizer2::getNFDInstance(status);
  std::string found;
  icu::StringByteSink<std::string> sink(&found);
  if (form) form->normalizeUTF8(0, piece_of(text), sink, nullptr, status);
  invariant(U_SUCCESS(status), "ICU decomposes any text");
  return found;
}

size_t ComposedText::in_original(size_t at) {
  if (!changed_) return at;
  UErrorCode status = U_ZERO_ERROR;
  return size_t(position_.sourceIndexFromDestinationIndex(int32_t(at), status));
}

}  // namespace dragoman
