#pragma once
#include <array>
#include <string>
#include <vector>

namespace dragoman {

/// Six hundred different lines of two languages, enough to learn a few hundred pieces from.
inline std::vector<std::string> travel_text() {
  const std::array positions = {"station", "museum", "harbour", "bakery", "castle",
                                "library", "bridge", "hotel",   "garden", "market"};
  const std::array orte = {"Bahnhof",  "Museum", "Hafen", "Bäcker", "Schloß",
                           "Bücherei", "Brücke", "Hotel", "Garten", "Markt"};
  const std::array english = {"Where is the {}, please?",        "We walked to the {} at half past nine.",
                              "The {} was closed yesterday.",    "Is there a bus from here to the {}?",
                              "How much is a ticket to the {}?", "My suitcase is still in front of the {}."};
  const std::array german = {
      "Wo ist hier {}, bitte?",         "Wir gehen um halb zehn zum {}.",    "Gestern war geschlossen: {}.",
      "Fährt von hier ein Bus bis {}?", "Was kostet eine Fahrkarte bis {}?", "Mein Koffer steht noch vor: {}."};
  std::vector<std::string> lines;
  for (int number = 0; number < 5; ++number)
    for (size_t place = 0; place < positions.size(); ++place)
      for (size_t pattern = 0; pattern < english.size(); ++pattern)
        for (bool in_german : {false, true}) {
          std::string line = in_german ? german[pattern] : english[pattern];
          line.replace(line.find("{}"), 2, in_german ? orte[place] : positions[place]);
          lines.push_back(line + " (" + std::to_string(number) + ")");
        }
  return lines;
}

}  // namespace dragoman
