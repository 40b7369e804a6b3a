#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// A reader under attack: each *_fuzz.cpp defines these two. driver.cpp or libFuzzer feeds them.

/// Sound inputs, from which hostile ones are made.
std::vector<std::string> seeds();

/// Reads the bytes as a user's file, and uses what came of it a little. May throw Error; whatever else happens (a
/// crash, another exception, a hang, memory that the input does not justify) is a bug.
void read(std::string_view input);

}  // namespace dragoman
