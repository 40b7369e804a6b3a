#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace dragoman {

using Random = std::mt19937_64;

/// Changes inputs without breaking the format around the change: an entry of a JSON document, of the header of a
/// safetensors file or of JSON in a string of these; a field of a protobuf message, with the lengths around it mended.
/// Bits flipped at random hardly ever get past a parser. What takes the place of a value comes from the seeds, which
/// thus are a dictionary of the format: its keys, and the values that each of them has.
class Structure {
 public:
  explicit Structure(const std::vector<std::string>& seeds);

  /// One change; false, and nothing changed, if the bytes are of no such format.
  bool change(std::string& bytes, Random& random) const;

  /// One word of the seeds ("transformer-ffn-activation", "gelu"), wherever it stood in them.
  const std::string& word(Random& random) const;

 private:
  using Json = nlohmann::ordered_json;

  void learn(const Json& value);
  bool change_json(std::string& text, Random& random) const;
  bool change_safetensors(std::string& bytes, Random& random) const;
  void change_entry(Json& parent, size_t at, Random& random) const;
  Json other_value(const std::string& key, const Json& value, Random& random) const;

  std::vector<std::string> words_, keys_;
  std::vector<Json> values_;
  std::map<std::string, std::vector<Json>> values_of_;
};

/// Changes one field of a protobuf message, or of a message within it.
bool change_message(std::string& bytes, Random& random);

}  // namespace dragoman
