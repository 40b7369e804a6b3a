#include "cli/survey_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/grouped.h"

namespace dragoman {
namespace {

using Json = nlohmann::ordered_json;

std::string share(int64_t part, int64_t whole) {
  if (part == 0 || whole == 0) return grouped(part);
  const double percent = 100 * double(part) / double(whole);
  return percent < 10 ? fmt::format("{} ({:.2g} %)", grouped(part), percent)
                      : fmt::format("{} ({:.0f} %)", grouped(part), percent);
}

// "12 (0.4 %), lines 3, 17, 20, …"
std::string occurrences(const Occurrences& o, int64_t whole) {
  if (o.count == 0) return "0";
  std::string lines;
  for (int64_t line : o.lines) lines += (lines.empty() ? "" : ", ") + grouped(line);
  return fmt::format("{}, line{} {}{}", share(o.count, whole), o.count > 1 ? "s" : "", lines,
                     o.count > int64_t(o.lines.size()) ? ", …" : "");
}

struct Bin {
  size_t from, to;  // inclusive
  int64_t count;
};

// Narrow where most sentences lie. There are no empty bins at the end.
std::vector<Bin> bins(const std::vector<int64_t>& lengths) {
  static constexpr size_t ends[] = {5, 10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000};
  std::vector<Bin> all;
  for (size_t n = 0; n < lengths.size(); ++n) {
    if (all.empty() || n > all.back().to) {
      const auto end = std::ranges::lower_bound(ends, n);
      all.push_back({n, end == std::end(ends) ? lengths.size() - 1 : *end, 0});
    }
    all.back().count += lengths[n];
  }
  return all;
}

void add_histogram(FactPage& page, const std::string& title, const std::vector<int64_t>& lengths) {
  page.heading(title);
  const auto all = bins(lengths);
  const int64_t most = all.empty() ? 1 : std::max<int64_t>(1, std::ranges::max(all, {}, &Bin::count).count);
  for (const Bin& bin : all)
    page.fact(fmt::format("{:>4} - {}", bin.from, bin.to),
              fmt::format("{:>12}  {}", grouped(bin.count), std::string(size_t(40 * bin.count / most), '#')));
}

void add_side(FactPage& page, const SurveyedSide& side, const CorpusSurvey& survey) {
  page.heading(side.path);
  page.fact("words", fmt::format("{}, {:.1f} a line, at most {} (line {})", grouped(side.words),
                                 double(side.words) / double(std::max<int64_t>(1, survey.lines)), grouped(side.longest),
                                 grouped(side.longest_line)));
  const auto& invalid = side.invalid_utf8;
  page.fact("lines of invalid UTF-8",
            invalid.lines == 0
                ? "0"
                : fmt::format("{}, the first is {}", share(invalid.lines, survey.lines), grouped(invalid.first)));
  if (survey.encoded == 0) return;
  page.fact("pieces",
            fmt::format("{}, {:.1f} a line", grouped(side.pieces), double(side.pieces) / double(survey.encoded)));
  page.fact("unknown pieces", share(side.unknown, side.pieces));
  page.fact("encoded as bytes", share(side.byte_pieces, side.pieces));
}

Json to_json(const Occurrences& o) { return {{"count", o.count}, {"first_lines", o.lines}}; }

Json to_json(const SurveyedSide& side, bool encoded) {
  Json json = {{"file", side.path},
               {"words", side.words},
               {"longest_words", side.longest},
               {"longest_line", side.longest_line},
               {"invalid_utf8", {{"lines", side.invalid_utf8.lines}, {"first_line", side.invalid_utf8.first}}}};
  if (encoded) {
    json["pieces"] = side.pieces;
    json["unknown"] = side.unknown;
    json["byte_pieces"] = side.byte_pieces;
  }
  json["lengths"] = Json::object();
  for (size_t n = 0; n < side.lengths.size(); ++n)
    if (side.lengths[n] > 0) json["lengths"][std::to_string(n)] = side.lengths[n];
  return json;
}

}  // namespace

void add_survey(FactPage& page, const CorpusSurvey& survey, int max_length, bool crops) {
  page.heading("Pairs");
  page.fact("lines", grouped(survey.lines));
  page.fact("skipped, a side is empty", occurrences(survey.empty, survey.lines));
  if (survey.no_pieces.count > 0)
    page.fact("skipped, a side has no pieces", occurrences(survey.no_pieces, survey.encoded));
  if (survey.encoded > 0)
    page.fact(fmt::format("{}, more than {} pieces", crops ? "cropped" : "skipped", max_length),
              occurrences(survey.too_long, survey.encoded));
  page.fact("duplicates of earlier pairs", share(survey.duplicates, survey.lines));
  page.fact("identical sides", occurrences(survey.copies, survey.lines));
  page.fact("very uneven lengths", occurrences(survey.uneven, survey.lines));
  const int64_t full = survey.lines - survey.empty.count;
  if (survey.encoded > 0)
    page.fact("pieces counted in", survey.encoded == full
                                       ? "all pairs that are not empty"
                                       : fmt::format("{} pairs, chosen at random", grouped(survey.encoded)));
  for (const SurveyedSide& side : survey.sides) add_side(page, side, survey);
  for (const SurveyedSide& side : survey.sides)
    add_histogram(page, fmt::format("Lines by {}, {}", survey.encoded > 0 ? "pieces" : "words", side.path),
                  side.lengths);
}

Json to_json(const CorpusSurvey& survey) {
  Json json = {{"lines", survey.lines},
               {"empty", to_json(survey.empty)},
               {"duplicates", survey.duplicates},
               {"copies", to_json(survey.copies)},
               {"uneven", to_json(survey.uneven)},
               {"encoded", survey.encoded}};
  if (survey.encoded > 0) json["no_pieces"] = to_json(survey.no_pieces);
  if (survey.encoded > 0) json["too_long"] = to_json(survey.too_long);
  json["source"] = to_json(survey.sides[0], survey.encoded > 0);
  json["target"] = to_json(survey.sides[1], survey.encoded > 0);
  return json;
}

}  // namespace dragoman
