#include "interop/write_ctranslate2_bin.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace dragoman {
namespace {

template <class T>
void put_number(FileWriter& out, T number) {
  out.write(&number, sizeof(number));
}

void put_text(FileWriter& out, const std::string& text) {
  put_number(out, uint16_t(text.size() + 1));
  out.write(text.c_str(), text.size() + 1);
}

int64_t size_of(CTranslate2Output::Type type) {
  using Type = CTranslate2Output::Type;
  return type == Type::i8 ? 1 : type == Type::f32 || type == Type::i32 ? 4 : 2;
}

}  // namespace

CTranslate2Output::Type CTranslate2Output::type_of(DType dtype) {
  switch (dtype) {
    case DType::i8:
      return Type::i8;
    case DType::f16:
      return Type::f16;
    case DType::bf16:
      return Type::bf16;
    default:
      invariant(dtype == DType::f32, "CTranslate2's weights are of at most 32 bits");
      return Type::f32;
  }
}

void CTranslate2Output::add(Variable v) {
  int64_t bytes = size_of(v.type);
  for (const int64_t size : v.shape) bytes *= size;
  require(bytes <= std::numeric_limits<uint32_t>::max(),
          "{}: {} would have {} bytes, more than CTranslate2's format allows", model_, v.name, bytes);
  variables_.push_back(std::move(v));
}

bool CTranslate2Output::has(const std::string& name) const {
  return std::ranges::count(variables_, name, &Variable::name) > 0;
}

void CTranslate2Output::write(FileWriter& out) const {
  constexpr uint32_t version = 6, revision = 7;
  put_number(out, version);
  put_text(out, "TransformerSpec");
  put_number(out, revision);
  put_number(out, uint32_t(variables_.size()));
  for (const Variable& v : variables_) {
    const std::vector<std::byte> bytes = v.make();
    put_text(out, v.name);
    put_number(out, uint8_t(v.shape.size()));
    for (const int64_t size : v.shape) put_number(out, uint32_t(size));
    put_number(out, uint8_t(v.type));
    put_number(out, uint32_t(bytes.size()));
    out.write(bytes.data(), bytes.size());
  }
  put_number(out, uint32_t(aliases_.size()));
  for (const auto& [alias, of] : aliases_) put_text(out, alias), put_text(out, of);
}

}  // namespace dragoman
