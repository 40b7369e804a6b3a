#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "interop/raw_bytes.h"
#include "tensor/dtype.h"

namespace dragoman {

/// What a model.bin of CTranslate2 is to hold. The bytes of tensors are made while they are written, one at a time.
class CTranslate2Output {
 public:
  enum class Type : uint8_t { f32, i8, i16, i32, f16, bf16 };  // as the format numbers them
  static Type type_of(DType dtype);                            // which the format has
  struct Variable {
    std::string name;
    Type type;
    std::vector<int64_t> shape;
    std::function<std::vector<std::byte>()> make;
  };

  /// `model` is named in errors.
  explicit CTranslate2Output(std::string model) : model_(std::move(model)) {}

  /// Error, naming the variable, for one that is too large for the format.
  void add(Variable variable);
  void number(const std::string& name, float value) { add_number(name, Type::f32, value); }
  void small_number(const std::string& name, int value) { add_number(name, Type::i16, int16_t(value)); }
  void integer(const std::string& name, int32_t value) { add_number(name, Type::i32, value); }
  void flag(const std::string& name, int value) { add_number(name, Type::i8, int8_t(value)); }
  /// `alias` stands for the variable `of`.
  void alias(const std::string& alias, const std::string& of) { aliases_.emplace_back(alias, of); }
  bool has(const std::string& name) const;
  void write(FileWriter& out) const;

 private:
  template <class T>
  void add_number(const std::string& name, Type type, T value) {
    add({name, type, {}, [value] { return raw_bytes(std::vector<T>{value}); }});
  }

  const std::string model_;
  std::vector<Variable> variables_;
  std::vector<std::pair<std::string, std::string>> aliases_;
};

}  // namespace dragoman
