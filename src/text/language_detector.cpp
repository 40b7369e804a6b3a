#include "text/language_detector.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/file_kind.h"
#include "base/json_text.h"
#include "base/line_reader.h"
#include "base/utf8.h"

namespace dragoman {
namespace {

using nlohmann::json;

constexpr const char* format = "dragoman-languages";
constexpr size_t most_ngrams = 10'000;     // of a language
constexpr size_t most_learned = 32 << 20;  // bytes of text of a language; more text changes little
constexpr size_t most_detected = 4 << 10;  // bytes of a text
constexpr double unknown = 1e-6;           // probability of an n-gram that a language lacks
constexpr double overlap = 1 + 2 + 3 + 4;  // n-grams that contain each character: they are not independent evidence

bool is_tag(std::string_view tag) {
  const auto fits = [](char c) { return std::isalnum(uint8_t(c)) || c == '-'; };
  return !tag.empty() && tag.size() <= 35 && std::ranges::all_of(tag, fits);
}

int order_of(std::string_view ngram) { return int(count_characters(ngram)); }

[[noreturn]] void refuse(const std::string& name, const std::string& found) {
  throw Error(fmt::format("{} is {}, expected language profiles", name, found),
              "dragoman detect --learn en=FILE de=FILE --output FILE writes them");
}

// nullopt for a fraction and for a number that int64_t cannot hold, both of which get() would convert.
std::optional<int64_t> count_in(const json& number) {
  if (!number.is_number_unsigned() || number.get<uint64_t>() > uint64_t(INT64_MAX)) return std::nullopt;
  return number.get<int64_t>();
}

LanguageProfile profile_of(const json& entry) {
  LanguageProfile profile;
  const auto totals = entry.at("totals").get<std::array<json, longest_ngram>>();
  for (size_t i = 0; i < totals.size(); ++i) {
    const std::optional<int64_t> total = count_in(totals[i]);
    require(total.has_value(), "'totals' has the count {}", totals[i].dump());
    profile.totals[i] = *total;
  }
  for (const auto& [ngram, count] : entry.at("ngrams").items()) {
    const int order = order_of(ngram);
    const int64_t number = count_in(count).value_or(0);
    require(order >= 1 && order <= longest_ngram && number > 0 && number <= profile.totals[size_t(order) - 1],
            "the n-gram \"{}\" has the count {}", ngram, count.dump());
    profile.counts.emplace(ngram, number);
  }
  return profile;
}

}  // namespace

void LanguageProfile::add(std::string_view text) {
  for_each_ngram(text, [&](int order, std::string_view ngram) {
    ++totals[size_t(order) - 1];
    const auto known = counts.find(ngram);
    if (known == counts.end())
      counts.emplace(ngram, 1);
    else
      ++known->second;
  });
}

void LanguageProfile::keep_commonest(size_t ngrams) {
  if (counts.size() <= ngrams) return;
  std::vector<std::pair<int64_t, std::string>> all;
  for (const auto& [ngram, count] : counts) all.emplace_back(-count, ngram);
  std::ranges::nth_element(all, all.begin() + int64_t(ngrams));
  for (size_t i = ngrams; i < all.size(); ++i) counts.erase(all[i].second);
}

LanguageDetector::LanguageDetector(std::map<std::string, LanguageProfile> profiles) : profiles_(std::move(profiles)) {
  require(!profiles_.empty(), "there are no languages to detect");
  size_t column = 0;
  for (const auto& [language, profile] : profiles_) {
    require(is_tag(language), "'{}' is not a language tag, expected one such as en or pt-BR", language);
    require(!profile.counts.empty(), "the text of {} has no letters", language);
    for (const auto& [ngram, count] : profile.counts) {
      auto& gains = gains_.try_emplace(ngram, profiles_.size(), 0.F).first->second;
      const double p = double(count) / double(profile.totals[size_t(order_of(ngram)) - 1]);
      gains[column] = float(std::log((p + unknown) / unknown));
    }
    ++column;
  }
}

LanguageDetector LanguageDetector::load(const std::string& path) { return from_bytes(read_file(path), path); }

LanguageDetector LanguageDetector::from_bytes(std::string_view bytes, const std::string& name) {
  const json file = parse_json(bytes);
  if (file.is_discarded() || !file.is_object() || file.value("format", json()) != format) {
    const std::string_view kind = kind_of_file(bytes.substr(0, 512));
    refuse(name, kind.empty() ? "something else" : std::string(kind));
  }
  try {
    require(file.at("version") == 1, "it has version {}, expected 1", file["version"].dump());
    std::map<std::string, LanguageProfile> profiles;
    for (const auto& [language, entry] : file.at("languages").items()) profiles[language] = profile_of(entry);
    return LanguageDetector(std::move(profiles));
  } catch (const json::exception& damage) {
    refuse(name, fmt::format("damaged ({})", damage.what()));
  } catch (const Error& damage) {
    refuse(name, fmt::format("damaged ({})", damage.what()));
  }
}

std::string LanguageDetector::to_bytes() const {
  json languages;
  for (const auto& [language, profile] : profiles_)
    languages[language] = {{"totals", profile.totals}, {"ngrams", profile.counts}};
  return json{{"format", format}, {"version", 1}, {"languages", languages}}.dump();
}

std::vector<std::string> LanguageDetector::languages() const {
  std::vector<std::string> tags;
  for (const auto& [language, profile] : profiles_) tags.push_back(language);
  return tags;
}

std::vector<DetectedLanguage> LanguageDetector::detect(std::string_view text) const {
  std::vector<double> sums(profiles_.size(), 0);
  bool known = false;
  for_each_ngram(text.substr(0, most_detected), [&](int, std::string_view ngram) {
    const auto gains = gains_.find(std::string(ngram));
    if (gains == gains_.end()) return;
    known = true;
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += gains->second[i] / overlap;
  });
  const double largest = *std::ranges::max_element(sums);
  double all = 0;
  for (double& sum : sums) all += sum = std::exp(sum - largest);
  std::vector<DetectedLanguage> detected;
  for (const std::string& language : languages())
    detected.push_back({language, known ? sums[detected.size()] / all : 0});
  std::ranges::stable_sort(detected, std::greater(), &DetectedLanguage::confidence);
  return detected;
}

LanguageDetector learn_languages(const std::vector<std::pair<std::string, std::string>>& texts) {
  std::map<std::string, LanguageProfile> profiles;
  std::map<std::string, size_t> bytes;
  for (const auto& [language, path] : texts) {
    LineReader reader(path);
    size_t& read = bytes[language];
    for (std::string line; read < most_learned && reader.next(line); read += line.size() + 1)
      profiles[language].add(line);
  }
  for (const auto& [language, path] : texts) profiles[language].keep_commonest(most_ngrams);
  return LanguageDetector(std::move(profiles));
}

}  // namespace dragoman
