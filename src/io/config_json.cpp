#include "io/config_json.h"

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "io/json_text.h"

namespace dragoman {
namespace {

using nlohmann::json;

template <class Config, class F>
void for_each_of_attention(Config& c, F f) {
  f("attention_score", c.attention_score);
  f("attention_projections", c.attention_projections);
  f("attention_norm", c.attention_norm);
  f("attention_rank", c.attention_rank);
  f("attention_window", c.attention_window);
  f("attention_local", c.attention_local);
  f("attention_memory", c.attention_memory);
  f("attention_block", c.attention_block);
  f("attention_stride", c.attention_stride);
  f("attention_local_center", c.attention_local_center);
  f("attention_choice", c.attention_choice);
  f("attention_reward", c.attention_reward);
  f("attention_entropy", c.attention_entropy);
}

/// The one list of what is stored: calls f(key, member) for each.
template <class Config, class F>
void for_each_member(Config& c, F f) {
  f("type", c.type);
  f("dim", c.dim);
  f("encoder_layers", c.encoder_layers);
  f("decoder_layers", c.decoder_layers);
  f("heads", c.heads);
  f("key_size", c.key_size);
  f("value_size", c.value_size);
  f("feed_forward", c.feed_forward);
  f("activation", c.activation);
  f("moe_experts", c.moe_experts);
  f("moe_top_k", c.moe_top_k);
  f("moe_frequency", c.moe_frequency);
  f("moe_load_loss", c.moe_load_loss);
  f("moe_capacity", c.moe_capacity);
  f("norm", c.norm);
  f("norm_kind", c.norm_kind);
  f("positions", c.positions);
  f("max_positions", c.max_positions);
  f("relative_positions", c.relative_positions);
  for_each_of_attention(c, f);
  f("autoregression", c.autoregression);
  f("average_feed_forward", c.average_feed_forward);
  f("average_activation", c.average_activation);
  f("average_gates", c.average_gates);
  f("rnn_dim", c.rnn_dim);
  f("encoder_cell", c.encoder_cell);
  f("decoder_cell", c.decoder_cell);
  f("encoder_type", c.encoder_type);
  f("encoder_kernel", c.encoder_kernel);
  f("rnn_attention", c.rnn_attention);
  f("encoder_pooling", c.encoder_pooling);
  f("sentence_ends", c.sentence_ends);
  f("reverse_source", c.reverse_source);
  f("rnn_norm", c.rnn_norm);
  f("dropout_rnn", c.dropout_rnn);
  f("copies", c.copies);
  f("learns_source", c.learns_source);
  f("tied_embeddings_all", c.tied_embeddings_all);
  f("tied_embeddings", c.tied_embeddings);
  f("tied_embeddings_src", c.tied_embeddings_src);
  f("initialisation", c.initialisation);
  f("dropout", c.dropout);
  f("dropout_attention", c.dropout_attention);
  f("dropout_activation", c.dropout_activation);
  f("dropout_embedding", c.dropout_embedding);
  f("source_vocabulary", c.source_vocabulary);
  f("target_vocabulary", c.target_vocabulary);
}

template <class T>
void read(const json& value, T& member, const std::string& key, const std::string& where) {
  const auto complain = [&](const std::string& expected) {
    fail("{}: '{}' is {} in the model's configuration, expected {}", where, key, value.dump(), expected);
  };
  if constexpr (std::is_enum_v<T>) {
    const auto named = value.is_string() ? from_name<T>(value.template get<std::string>()) : std::nullopt;
    if (!named) complain(all_names<T>());
    member = *named;
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!value.is_string()) complain("text");
    member = value.template get<std::string>();
  } else if constexpr (std::is_same_v<T, std::vector<int>>) {
    if (!value.is_array()) complain("a list of whole numbers");
    for (const json& element : value) read(element, member.emplace_back(), key, where);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!value.is_boolean()) complain("true or false");
    member = value.template get<bool>();
  } else if constexpr (std::is_same_v<T, int>) {
    if (!value.is_number_integer() || value < 0 || value > 1'000'000'000) complain("a whole number");
    member = value.template get<int>();
  } else {
    if (!value.is_number()) complain("a number");
    member = value.template get<T>();
  }
}

}  // namespace

std::string to_json(const ModelConfig& config) {
  nlohmann::ordered_json out;
  for_each_member(config, [&](const char* key, const auto& member) {
    if constexpr (std::is_enum_v<std::decay_t<decltype(member)>>) {
      out[key] = name_of(member);
    } else {
      out[key] = member;
    }
  });
  return out.dump();
}

ModelConfig config_from_json(const std::string& text, const std::string& where) {
  const json in = parse_json(text);
  require(in.is_object(), "{}: the model's configuration is no JSON object", where);
  ModelConfig config;
  std::set<std::string> known;
  for_each_member(config, [&](const char* key, auto& member) {
    known.insert(key);
    if (in.contains(key)) read(in[key], member, key, where);
  });
  for (const auto& [key, value] : in.items())
    if (!known.contains(key))
      throw Error(fmt::format("{}: unknown entry '{}' in the model's configuration", where, key),
                  "the file may come from a newer dragoman: dragoman --version tells this one's");
  return config;
}

std::vector<ConfigDifference> differences(const ModelConfig& first, const ModelConfig& second) {
  using nlohmann::ordered_json;  // in the order of the members
  const auto ours = ordered_json::parse(to_json(first)), theirs = ordered_json::parse(to_json(second));
  std::vector<ConfigDifference> found;
  for (const auto& [member, value] : ours.items())
    if (value != theirs[member]) found.push_back({member, value.dump(), theirs[member].dump()});
  return found;
}

}  // namespace dragoman
