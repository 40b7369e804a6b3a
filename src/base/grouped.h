#pragma once
#include <cstdint>
#include <string>

namespace dragoman {

/// An integer with thousands separators: 1234567 is "1,234,567". The same in every locale.
std::string grouped(int64_t number);

/// "1 line", "1,000 lines".
std::string counted(int64_t number, const char* what);

/// A need in MiB, rounded up, so that this many suffice. What is free is rounded down instead.
int64_t mebibytes(int64_t bytes);

/// "0.4 MiB", "1,093 MiB".
std::string in_mebibytes(int64_t bytes);

}  // namespace dragoman
