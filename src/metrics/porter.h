#pragma once
#include <string>

namespace dragoman {

/// The stem of an English word: Porter 1980, "An algorithm for suffix stripping", with the default changes of NLTK's
/// PorterStemmer (words of one or two letters stay, twelve irregular stems, -ies, -ied, -y, -fulli, -logi), which the
/// rouge-score package uses. `word`: ASCII, lower case; digits count as consonants.
std::string porter_stem(std::string word);

}  // namespace dragoman
