#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "base/bounds.h"
#include "dragoman/search_options.h"

namespace dragoman {

/// A member of SearchOptions, by its type.
using SearchMember = std::variant<int SearchOptions::*, uint64_t SearchOptions::*, double SearchOptions::*,
                                  bool SearchOptions::*, SearchRule SearchOptions::*, Sampling SearchOptions::*>;

/// Describes a member of SearchOptions. validate(), the parameters of a server's requests, their description and the
/// options of Python are made from it, and the command line takes its bounds from it.
struct SearchField {
  std::string_view name;    // in programs and requests: "min_length"
  std::string_view option;  // on the command line, without the hyphens before it, and in messages: "min-length"
  SearchMember member;
  Bounds bounds = {};
  std::optional<Bounds> of_requests = {};  // to a server, where a search must not take too long; none: `bounds`
  Sampling sampling = Sampling::none;      // the sampling that it is for; full: any; none: it is not only for sampling

  /// Whether it has an effect on a search with these options, as far as sampling decides it.
  bool applies_to(const SearchOptions& options) const;
};

/// All fields. To add one: a member of SearchOptions, a row, its effect, a row in cli/search_flags.h; for C, a
/// member of dragoman_search_options and a line in capi/options.cpp.
std::span<const SearchField> search_fields();

/// The bounds of the field of this name. It must exist.
Bounds search_bounds(std::string_view name);

}  // namespace dragoman
