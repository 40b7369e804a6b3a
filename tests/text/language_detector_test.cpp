#include "text/language_detector.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/line_reader.h"
#include "cli/commands.h"
#include "cli/detect_options.h"
#include "tests/engine.h"
#include "tests/error_of.h"
#include "tests/read_lines.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Counted = std::vector<std::pair<int, std::string>>;

const std::string english =
    "Where is the station, please? We walked to the museum this morning.\nThe bakery was closed yesterday. "
    "Is there a bus from here to the harbour? My suitcase is still in front of the hotel.\n";
const std::string german =
    "Wo ist hier der Bahnhof, bitte? Wir gehen heute zum Museum.\nGestern war die Bäckerei geschlossen. "
    "Fährt von hier ein Bus bis zum Hafen? Mein Koffer steht noch vor dem Hotel.\n";
const std::string japanese = "駅はどこですか。私たちは今朝、博物館に行きました。パン屋は昨日閉まっていました。\n";

LanguageDetector detector() {
  std::map<std::string, LanguageProfile> profiles;
  profiles["de"].add(german);
  profiles["en"].add(english);
  profiles["ja"].add(japanese);
  return LanguageDetector(std::move(profiles));
}

std::string best(const LanguageDetector& detector, std::string_view text) { return detector.detect(text)[0].language; }

std::string message_of(std::string_view bytes) {
  return error_of([&] { LanguageDetector::from_bytes(bytes, "profiles"); });
}

TEST(CharacterNgrams, AreThoseOfWordsInLowerCase) {
  Counted ngrams;
  for_each_ngram("Äh, 42!", [&](int order, std::string_view ngram) { ngrams.emplace_back(order, ngram); });
  EXPECT_THAT(ngrams, ElementsAre(testing::Pair(2, "_ä"), testing::Pair(3, "_äh"), testing::Pair(4, "_äh_"),
                                  testing::Pair(1, "ä"), testing::Pair(2, "äh"), testing::Pair(3, "äh_"),
                                  testing::Pair(1, "h"), testing::Pair(2, "h_")));
  for_each_ngram(" 42 \xFF !", [](int, std::string_view ngram) { ADD_FAILURE() << ngram; });
}

TEST(LanguageDetector, DetectsLanguagesThatItLearned) {
  const LanguageDetector known = detector();
  EXPECT_THAT(known.languages(), ElementsAre("de", "en", "ja"));
  EXPECT_EQ(best(known, "The museum is closed this morning."), "en");
  EXPECT_EQ(best(known, "Das Museum ist heute geschlossen."), "de");
  EXPECT_EQ(best(known, "博物館はどこですか"), "ja");
  EXPECT_EQ(best(known, "GESTERN WAR ES GESCHLOSSEN"), "de");
}

TEST(LanguageDetector, GivesConfidencesThatAddUpToOne) {
  double sum = 0, last = 1;
  for (const auto& [language, confidence] : detector().detect("Is the hotel closed?")) {
    EXPECT_LE(confidence, last);
    sum += last = confidence;
  }
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST(LanguageDetector, IsNotSureOfWhatItCannotKnow) {
  for (const char* text : {"", "42 + 7 = 49", "\xFF\xFE", "Здравствуйте"})
    for (const auto& [language, confidence] : detector().detect(text)) EXPECT_EQ(confidence, 0) << text;
}

TEST(LanguageDetector, IsTheSameFromItsFile) {
  const LanguageDetector known = detector(), again = LanguageDetector::from_bytes(known.to_bytes(), "profiles");
  EXPECT_EQ(again.to_bytes(), known.to_bytes());
  EXPECT_EQ(again.detect("The bus")[0].confidence, known.detect("The bus")[0].confidence);
}

TEST(LanguageDetector, KeepsTheCommonestNgrams) {
  LanguageProfile profile;
  profile.add("aaa aaa b");
  const auto totals = profile.totals;
  profile.keep_commonest(1);
  EXPECT_EQ(profile.counts, (std::map<std::string, int64_t, std::less<>>{{"a", 6}}));
  EXPECT_EQ(profile.totals, totals);
}

TEST(LanguageDetector, RefusesWhatIsNoFileOfProfiles) {
  EXPECT_THAT(message_of(english), HasSubstr("profiles is text, expected language profiles"));
  EXPECT_THAT(message_of(""), HasSubstr("expected language profiles"));
  EXPECT_THAT(message_of("[1]"), HasSubstr("expected language profiles"));
  const auto file = [](const std::string& rest) { return R"({"format":"dragoman-languages",)" + rest + "}"; };
  const std::string sound = R"({"totals":[2,1,0,0],"ngrams":{"a":2}})";
  EXPECT_EQ(message_of(file(R"("version":1,"languages":{"en":)" + sound + "}")), "");
  for (const auto& [rest, found] : std::vector<std::pair<std::string, std::string>>{
           {R"("version":2,"languages":{})", "version 2"},
           {R"("version":1,"languages":{})", "no languages"},
           {R"("version":1,"languages":{"a b":)" + sound + "}", "not a language tag"},
           {R"("version":1)", "languages"},
           {R"("version":1,"languages":{"en":{"totals":[1],"ngrams":{}}})", "damaged"},
           {R"("version":1,"languages":{"en":{"totals":[1,1,1,1],"ngrams":{}}})", "no letters"},
           {R"("version":1,"languages":{"en":{"totals":[1,1,1,1],"ngrams":{"a":2}}})", "has the count 2"},
           {R"("version":1,"languages":{"en":{"totals":[1,1,1,1],"ngrams":{"abcde":1}}})", "has the count 1"},
           {R"("version":1,"languages":{"en":{"totals":[1,1,1,1],"ngrams":{"a":"x"}}})", "damaged"},
           {R"("version":1,"languages":{"en":{"totals":[1,1,1,1],"ngrams":{"a":0.5}}})", "has the count 0.5"},
           {R"("version":1,"languages":{"en":{"totals":[1,1,1,1],"ngrams":{"a":9223372036854775809}}})",
            "has the count 9223372036854775809"},
           {R"("version":1,"languages":{"en":{"totals":[1,1,9223372036854775808,1],"ngrams":{"a":1}}})",
            "'totals' has the count 9223372036854775808"},
           {R"("version":1,"languages":{"en":{"totals":[1e30,1,1,1],"ngrams":{"a":1}}})",
            "'totals' has the count 1e+30"}})
    EXPECT_THAT(message_of(file(rest)), testing::AllOf(HasSubstr("expected language profiles"), HasSubstr(found)));
}

TEST(LanguageDetector, SurvivesDeepNesting) {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  EXPECT_THAT(message_of("{\"format\":" + deep + "}"), HasSubstr("expected language profiles"));
}

TEST(DetectCommand, LearnsAndDetects) {
  const TemporaryFolder folder;
  const std::string model = folder / "detect.model", output = folder / "out";
  const std::string en = folder.make("en", english), de = folder.make("de", german);
  EXPECT_EQ(detect_command(engine, {.learn = {"en=" + en, "de=" + de}, .output = model}), 0);
  const std::string text = folder.make("text", "The castle\n\nDer Hafen ist geschlossen\n");
  EXPECT_EQ(detect_command(engine, {.model = model, .inputs = {text}, .output = output}), 0);
  EXPECT_THAT(read_lines(output), ElementsAre(testing::MatchesRegex("en\t[01]\\.[0-9]+"), "de\t0.00",
                                              testing::MatchesRegex("de\t[01]\\.[0-9]+")));
  EXPECT_EQ(detect_command(engine, {.model = model, .inputs = {text}, .output = output, .all = true}), 0);
  EXPECT_THAT(read_lines(output)[1], testing::StrEq("de\t0.00\ten\t0.00"));
}

TEST(DetectCommand, SaysWhatItCannotLearn) {
  const TemporaryFolder folder;
  const std::string numbers = folder.make("numbers", "1\n2\n");
  EXPECT_THROW(detect_command(engine, {.learn = {"en=" + numbers}, .output = folder / "out"}), Error);
  for (const char* word : {"en", "=file", "en="}) EXPECT_THROW(texts_to_learn({.learn = {word}}), Error) << word;
  EXPECT_THAT(texts_to_learn({.learn = {"en=a=b"}}), ElementsAre(testing::Pair("en", "a=b")));
}

}  // namespace
}  // namespace dragoman
