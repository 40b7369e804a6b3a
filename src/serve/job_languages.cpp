#include "serve/job_languages.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"

namespace dragoman {
namespace {

bool is_missing(const std::string& language) { return language.empty() || language == "und"; }

void require_known(bool known, const std::string& language, const char* side, const std::vector<std::string>& listed) {
  require(!is_missing(language), "{} is missing: the model knows {}", side, fmt::join(listed, ", "));
  require(known, "{} is not supported as a {} language: the model knows {}", language, side, fmt::join(listed, ", "));
}

}  // namespace

JobLanguages::JobLanguages(const ModelConfig& config, const Vocabularies& vocabularies)
    : vocabularies_(vocabularies), choice_(language_choice(config, vocabularies)) {}

bool JobLanguages::know_source(const std::string& language) const {
  return choice_.sources.empty() || knows_language(vocabularies_.source, language);
}

bool JobLanguages::know_target(const std::string& language) const {
  const Vocabulary& v = choice_.in_text ? vocabularies_.source : vocabularies_.target;
  return choice_.targets.empty() || knows_language(v, language);
}

bool JobLanguages::are_named_in(const std::string& beginning) const {
  if (!choice_.in_text) return false;
  constexpr size_t longest = 256;  // bytes of tags
  std::string tags = beginning.substr(0, longest);
  clean_utf8(tags);
  const std::vector<int32_t> ids = vocabularies_.source.encode(tags);
  return name_language(vocabularies_.source, leading_tags(vocabularies_.source, ids));
}

Languages JobLanguages::chosen(const Languages& named, std::span<const std::string> beginnings) const {
  Languages chosen;
  if (!choice_.sources.empty()) {
    require_known(know_source(named.source), named.source, "source", choice_.sources);
    chosen.source = named.source;
  }
  if (choice_.targets.empty()) return chosen;
  const std::string* before = nullptr;  // sentences of one text begin alike
  const auto has_tag = [&](const std::string& beginning) {
    return (before && *before == beginning) || are_named_in(*(before = &beginning));
  };
  if (is_missing(named.target) && choice_.in_text && std::ranges::all_of(beginnings, has_tag)) return chosen;
  require_known(know_target(named.target), named.target, "target", choice_.targets);
  chosen.target = named.target;
  return chosen;
}

}  // namespace dragoman
