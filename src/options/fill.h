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
  bool may_lack = false;  // options that are required, as in a configuration that is only shown
};

/// Gives `options`, to which `own` is bound, the preset and then what `given` assigns; then inherits and checks. Adds
/// all that is wrong to the findings.
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
