#pragma once
#include <string>

#include "interop/ctranslate2_bin.h"
#include "interop/weight_mapping.h"

namespace dragoman {

/// The variables of a model.bin, by any of their names. Joined matrices are split: the query, key and value of
/// "linear_0/weight" are "linear_0.0/weight" and so on.
class CTranslate2Variables {
 public:
  explicit CTranslate2Variables(CTranslate2Bin bin);

  const std::string& path() const { return bin_.path; }
  /// The name under which it is stored: an alias stands for another.
  std::string resolved(const std::string& name) const;
  bool has(const std::string& name) const { return weights_.has(resolved(name)); }
  /// Numbers by their names.
  const std::map<std::string, double>& numbers() const { return bin_.numbers; }
  bool is_flag(const std::string& name) const { return bin_.flags.contains(name); }
  /// `name` of a side or layer. In older files, numbers that apply to both sides are at the top level.
  double number(const std::string& scope, const char* name, double otherwise) const;
  /// Error, naming it, for a number that no size or index can be.
  int whole_number(const std::string& scope, const char* name, int otherwise) const;
  WeightMapping& weights() { return weights_; }

 private:
  CTranslate2Bin bin_;
  WeightMapping weights_;
};

}  // namespace dragoman
