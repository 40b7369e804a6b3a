#include "explain/explanation.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/grouped.h"
#include "explain/rollout.h"

namespace dragoman {
namespace {

// Whether a value is chosen; an empty choice means all.
template <class T>
bool among(const std::vector<T>& wanted, const T& x) {
  return wanted.empty() || std::ranges::find(wanted, x) != wanted.end();
}

std::map<AttentionSite, int> layers_of(const std::vector<AttentionMap>& maps) {
  std::map<AttentionSite, int> layers;
  for (const AttentionMap& map : maps) layers[map.site] = std::max(layers[map.site], map.layer + 1);
  return layers;
}

std::string names_of(const std::map<AttentionSite, int>& sites) {
  std::vector<std::string_view> names;
  for (const auto& [site, layers] : sites) names.push_back(name_of(site));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string numbers_of(int count) { return count == 1 ? "0" : fmt::format("0 to {}", count - 1); }

// `sites`: those that are shown.
void check_numbers(const AttentionChoice& choice, const std::map<AttentionSite, int>& sites, int heads) {
  int layers = 0;
  for (const auto& [site, count] : sites) layers = std::max(layers, count);
  const std::string where = choice.sites.empty() ? "" : fmt::format(" of {} attention", names_of(sites));
  for (const int n : choice.layers)
    require(-layers <= n && n < layers, "--layers {}: the model has {}{}, numbered {}; -1 is the last", n,
            counted(layers, "layer"), where, numbers_of(layers));
  for (const int n : choice.heads)
    require(n < heads, "--heads {}: the model has {} per layer, numbered {}", n, counted(heads, "head"),
            numbers_of(heads));
}

// `maps` show which attentions the model has.
void check(const AttentionChoice& choice, const std::vector<AttentionMap>& maps, ModelType model) {
  require(!maps.empty(), "explain: a model of type {} has no attention to show", name_of(model));
  const auto sites = layers_of(maps);
  for (const AttentionSite site : choice.sites)
    require(sites.contains(site), "--sites {}: a model of type {} has only {}", name_of(site), name_of(model),
            names_of(sites));
  auto shown = sites;
  std::erase_if(shown, [&](const auto& site) { return !among(choice.sites, site.first); });
  check_numbers(choice, shown, int(maps[0].heads.size()));
  require(choice.method != AttentionMethod::gradient || model != ModelType::s2s,
          "--method gradient needs the gradient of all attention weights at once, but a model of type s2s computes "
          "them step by step; expected --method raw");
  const bool of_attention_alone = sites.contains(AttentionSite::decoder_self) &&
                                  sites.contains(AttentionSite::cross) == sites.contains(AttentionSite::encoder_self);
  require(choice.method != AttentionMethod::rollout || of_attention_alone,
          "--method rollout needs a model in which only attention moves information between positions; this one has "
          "only {} attention",
          names_of(sites));
}

std::vector<std::string> pieces(const Vocabulary& vocabulary, std::span<const int32_t> ids) {
  std::vector<std::string> text;
  for (const int32_t id : ids) text.push_back(vocabulary.piece(id));
  return text;
}

}  // namespace

Explainer::Explainer(const Context& cx, Model& model, const Vocabularies& vocabularies, const AttentionChoice& choice)
    : cx_(cx), model_(model), vocabularies_(vocabularies), choice_(choice) {
  const std::string_view memory = name_of(model.config().attention.memory);
  require(model.config().attention.memory == AttentionMemory::full,
          "explain: the model has --attention-memory {}, whose compressed keys stand for several pieces each, expected "
          "full",
          memory);
  const int32_t end = model.config().special.eos;
  const auto maps = attentions_of(cx, model, {{end}, {end}});  // the shortest possible pair
  check(choice, maps, model.config().type);
  layers_ = layers_of(maps);
}

std::vector<AttentionMap> Explainer::maps_of(const IdPair& pair) const {
  switch (choice_.method) {
    case AttentionMethod::raw:
      break;
    case AttentionMethod::rollout:
      return rollout(attentions_of(cx_, model_, pair));
    case AttentionMethod::gradient:
      return gradient_times_attention(cx_, model_, pair);
  }
  return attentions_of(cx_, model_, pair);
}

bool Explainer::chosen(const AttentionMap& map) const {
  if (!among(choice_.sites, map.site)) return false;
  return among(choice_.layers, map.layer) || among(choice_.layers, map.layer - layers_.at(map.site));
}

void Explainer::choose_heads(AttentionMap& map) const {
  if (choice_.method == AttentionMethod::rollout) return;  // rollout uses the mean anyway
  std::erase_if(map.heads, [&](const HeadMap& head) { return !among(choice_.heads, head.head); });
  if (choice_.average) map.heads = {mean_of(map)};
}

Explanation Explainer::explain(const IdPair& pair) const {
  Explanation e{.method = choice_.method};
  e.source = pieces(vocabularies_.source, pair.source);
  e.predicted = pieces(vocabularies_.target, pair.target);
  for (AttentionMap& map : maps_of(pair)) {
    if (!chosen(map)) continue;
    choose_heads(map);
    e.maps.push_back(std::move(map));
  }
  const bool joined =
      model_.config().type == ModelType::decoder_only;  // the source is read and predicted like the target
  if (joined) e.predicted.insert(e.predicted.begin(), e.source.begin(), e.source.end());
  const int32_t first = model_.config().first_token();
  e.read = {first < 0 ? "" : vocabularies_.target.piece(first)};
  e.read.insert(e.read.end(), e.predicted.begin(), e.predicted.end() - (e.predicted.empty() ? 0 : 1));
  e.read.resize(e.predicted.size());
  return e;
}

}  // namespace dragoman
