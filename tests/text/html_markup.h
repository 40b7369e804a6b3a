#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "text/html_elements.h"
#include "text/html_scanner.h"

namespace dragoman {

inline std::vector<HtmlToken> tokens_of(std::string_view html) {
  HtmlScanner scanner(html);
  OpenElements elements;
  std::vector<HtmlToken> all;
  while (auto token = scanner.next(elements.foreign())) {
    if (token->kind == HtmlToken::Kind::start_tag) elements.open(*token);
    if (token->kind == HtmlToken::Kind::end_tag) elements.close(token->name);
    all.push_back(std::move(*token));
  }
  return all;
}

/// How often each tag, comment and script is in a page.
inline std::map<std::string, int> markup_of(std::string_view html) {
  std::map<std::string, int> counts;
  for (const HtmlToken& token : tokens_of(html))
    if (token.kind != HtmlToken::Kind::text) ++counts[std::string(token.bytes)];
  return counts;
}

}  // namespace dragoman
