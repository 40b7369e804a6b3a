#include "optim/frozen.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/nearest.h"

namespace dragoman {
namespace {

// All names, and a pattern for each common prefix: "encoder.*", "encoder.0.*", "encoder.0.self_attention.*".
std::vector<std::string> sensible_patterns(const Parameters& parameters) {
  std::set<std::string> patterns;
  for (const auto& p : parameters.named()) {
    patterns.insert(p.name);
    for (size_t dot = p.name.find('.'); dot != std::string::npos; dot = p.name.find('.', dot + 1))
      patterns.insert(p.name.substr(0, dot) + ".*");
  }
  return {patterns.begin(), patterns.end()};
}

void require_match(const std::string& pattern, const Parameters& parameters) {
  const auto& named = parameters.named();
  if (std::ranges::any_of(named, [&](const auto& p) { return !p.is_update() && matches({pattern}, p.name); })) return;
  const std::string near = nearest(pattern, sensible_patterns(parameters));
  throw Error(fmt::format("--freeze {}: no parameter has such a name", pattern),
              near.empty()
                  ? fmt::format("names look like {} and {}; * matches anything", named.front().name, named.back().name)
                  : fmt::format("did you mean '{}'?", near));
}

// Freezing affects gradients and the optimizer, but batch-norm statistics are updated in the forward pass.
void require_learned(const std::string& name, const std::vector<std::string>& frozen) {
  const auto pattern = std::ranges::find_if(frozen, [&](const std::string& p) { return matches({p}, name); });
  if (pattern != frozen.end())
    throw Error(
        fmt::format(
            "--freeze {}: {} is a batch-norm statistic, which every training batch updates; it cannot be frozen",
            *pattern, name),
        "freeze the weights between the norms, by patterns such as '*.self_attention.*' and '*.feed_forward.*'");
}

bool is_fixed(const Parameters::Named& p, const std::vector<std::string>& frozen) {
  return !p.has_gradient() || matches(frozen, p.is_update() ? p.updated : p.name);
}

}  // namespace

std::vector<Range> flat_ranges(const Parameters& parameters, const std::vector<TrainedRows>& rows, Range within) {
  std::vector<Range> ranges;
  for (const TrainedRows& t : rows) {
    const Range all = parameters.flat_range(t.buffer, t.first, t.rows);
    const Range r{std::max(all.begin, within.begin), std::min(all.end, within.end)};
    if (r.begin < r.end) ranges.push_back(r);
  }
  return ranges;
}

std::vector<TrainedRows> trained_rows(const Parameters& parameters, const std::vector<std::string>& frozen) {
  for (const std::string& pattern : frozen) require_match(pattern, parameters);
  std::vector<TrainedRows> trained;
  for (const auto& p : parameters.named()) {
    if (!p.trained) require_learned(p.name, frozen);
    if (is_fixed(p, frozen)) continue;
    const int64_t rows = p.value.shape()[0];
    const bool resumes =
        !trained.empty() && trained.back().buffer == p.buffer && trained.back().first + trained.back().rows == p.first;
    if (resumes)
      trained.back().rows += rows;
    else
      trained.push_back({p.buffer, p.first, rows});
  }
  require(!trained.empty() || parameters.named().empty(), "--freeze {} leaves no parameter to train",
          fmt::join(frozen, " "));
  return trained;
}

}  // namespace dragoman
