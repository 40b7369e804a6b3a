#pragma once
#include <functional>
#include <string>

#include "base/line_reader.h"
#include "dragoman/evaluate.h"

namespace dragoman {

/// Minimum Bayes risk decoding (Kumar and Byrne 2004; of samples: Eikema and Aziz 2020): for each line of an n-best
/// list, calls `chosen` with the translation h of the highest expected utility, the first one if several are equal:
///   1 / (N - 1) · Σ u(h, r)  over the N - 1 other translations r of the line
/// One that occurs several times counts each time, as samples do. u is the metric of a sentence with r as the
/// reference: chrf, chrf_plus_plus or bleu, by the options that determine it. Takes N² comparisons of counts a line, on
/// all threads. Error for a malformed list, and unless it has all lines in order, from 0.
void choose_by_minimum_risk(LineReader& list, const EvaluateOptions& options, CorpusMetric u,
                            const std::function<void(const std::string& text)>& chosen);

}  // namespace dragoman
