#pragma once
#include <string>
#include <vector>

namespace dragoman {

/// Numbers as they lie in memory.
template <class T>
std::string bytes_of(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

}  // namespace dragoman
