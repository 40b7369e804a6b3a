#include "cli/fact_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/grouped.h"

namespace dragoman {

std::string FactPage::text() const {
  size_t width = 0;
  for (const Row& row : rows_) width = std::max(width, row.label.size());
  std::string page = title_ + "\n";
  for (const auto& [label, value] : rows_)
    page += label.empty() ? fmt::format("\n{}\n", value) : fmt::format("  {:<{}}  {}\n", label, width, value);
  return page;
}

std::string exact_size(int64_t bytes) {
  static constexpr std::array units = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  size_t unit = 0;
  double size = double(bytes) / 1024;
  for (; size >= 1024 && unit + 1 < units.size(); ++unit) size /= 1024;
  return fmt::format("{:.1f} {} ({} bytes)", size, units[unit], grouped(bytes));
}

}  // namespace dragoman
