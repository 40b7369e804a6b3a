#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "metrics/segments.h"

namespace dragoman {

/// Exact match: 100 · lines equal to a reference / lines. Leading and trailing white space is ignored.
struct ExactStats {
  int64_t equal = 0, lines = 0;

  ExactStats& operator+=(const ExactStats& other);
  bool operator==(const ExactStats&) const = default;
};

ExactStats exact_stats(std::string_view hypothesis, std::span<const std::string_view> references,
                       Case letters = Case::mixed);
double exact(const ExactStats& stats);  // 0 … 100

/// One per line. Throws Error if the sides differ in length.
std::vector<ExactStats> exact_of_lines(Segments hypotheses, const std::vector<Segments>& references,
                                       Case letters = Case::mixed);

}  // namespace dragoman
