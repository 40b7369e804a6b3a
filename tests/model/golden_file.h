#pragma once
#include <gtest/gtest.h>

#include <cstring>

#include "io/config_json.h"
#include "io/safetensors.h"
#include "model/model.h"
#include "tests/source_dir.h"

namespace dragoman {

/// One file of tests/golden: a small model, a batch and what PyTorch makes of them.
class GoldenFile {
 public:
  explicit GoldenFile(const std::string& name) : file_(source_dir() + "/tests/golden/" + name + ".safetensors") {}

  ModelConfig config() const { return config_from_json(file_.metadata().at("config"), file_.path()); }
  std::vector<double> values(const std::string& name) const { return values_of<double>(file_.get(name)); }

  Batch batch() const {
    const auto side = [&](const std::string& name) {
      return PackedIds{values_of<int32_t>(file_.get(name + ".ids")),
                       Spans(values_of<int32_t>(file_.get(name + ".offsets")))};
    };
    Batch b{side("source"), side("target"), {}};
    for (int s = 0; s < b.source.spans.sentences(); ++s) b.sentences.push_back(s);
    return b;
  }

  /// In the model's own type; the file must hold exactly its parameters.
  void load_parameters(Parameters& parameters) const {
    size_t stored = 0;
    for (const TensorEntry& t : file_.tensors()) stored += t.name.starts_with("p/");
    EXPECT_EQ(stored, parameters.named().size());
    for (const auto& p : parameters.named()) {
      const auto source = values("p/" + p.name);
      ASSERT_EQ(int64_t(source.size()), p.value.elements()) << p.name;
      for_dtype(p.value.dtype(), [&]<class T>() { std::copy(source.begin(), source.end(), p.value.as<T>()); });
    }
  }

 private:
  SafetensorsFile file_;
};

}  // namespace dragoman
