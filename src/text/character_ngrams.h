#pragma once
#include <functional>
#include <string_view>

namespace dragoman {

constexpr int longest_ngram = 4;

/// Calls f(order, n-gram) for each n-gram of 1 to longest_ngram characters of the words of a text, in lower case. A
/// word is a run of letters and marks with "_" before and after it; "_" alone is not an n-gram.
void for_each_ngram(std::string_view text, const std::function<void(int order, std::string_view ngram)>& f);

}  // namespace dragoman
