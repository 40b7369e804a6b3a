#pragma once
#include "options/parse.h"

namespace dragoman {

/// Values set by a preset do not count as given by the user.
template <class Options>
void apply_preset(const Table<Options>& table, Assignments& all, Options& options, std::vector<Option>& own,
                  Findings& findings) {
  if (!table.preset) return;
  assign_only(table.preset_flag, all, own, findings);
  table.preset(options);
  for (Option& option : own)
    if (option.name != table.preset_flag) {
      option.preset = option.show() != option.standard;
      option.standard = option.show();
    }
}

struct FillRules {
  bool may_lack = false;  // whether required options may be missing, as in a configuration that is only shown
};

/// Applies the preset and then the assignments in `given` to `options`, to which `own` is bound; then inherits and
/// checks. Adds all problems to the findings.
template <class Options>
void fill(const Table<Options>& table, Assignments& given, Options& options, std::vector<Option>& own, FillRules rules,
          Findings& findings) {
  apply_preset(table, given, options, own, findings);
  assign(given, own, findings);
  if (!rules.may_lack) add_missing(own, findings);
  if (!findings.all_read()) return;
  findings.attempt([&] {
    if (table.inherit) table.inherit(options, own);
    if (table.check) table.check(options, Given(own), findings);
  });
}

}  // namespace dragoman
