#include "options/named_options.h"

#include <fmt/format.h>

#include "options/suggest.h"

namespace dragoman {
namespace {

Strings values_of(const NamedOption& given, const Option& option) {
  if (!given.values.empty()) return read_truth_value(option, given.values);
  if (option.list || !option.stands_alone()) return {};
  return {option.boolean ? "true" : std::string(option.implicit)};
}

}  // namespace

Assignments read_named_options(const NamedOptions& given, const std::vector<Option>& options, Findings& findings) {
  Assignments assignments;
  for (const NamedOption& named : given) {
    const auto& [name, values] = named;
    const Option* option = find(options, name);
    if (!option) {
      findings.add_option(name, values, fmt::format("there is no option '{}'", name), name,
                          did_you_mean(name, all_names(options)));
    } else if (assignments.contains(option->name)) {
      findings.add_unread(Error(fmt::format("option '{}' is given twice", option->name)));
    } else if (values.empty() && !option->list && !option->stands_alone()) {
      findings.add_unread(Error(fmt::format("--{} needs a value", option->name)));
    } else {
      assignments[option->name] = {.words = values_of(named, *option), .where = fmt::format("--{}", option->name)};
    }
  }
  take_foreign_values(assignments, findings);
  return assignments;
}

}  // namespace dragoman
