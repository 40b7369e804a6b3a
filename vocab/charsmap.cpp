#include "vocab/charsmap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/utf8.h"

namespace dragoman {
namespace {

constexpr int most_matches = 32;  // rules whose keys are prefixes of one another: the size of the library's array

// A unit of the double array, as the library decodes it.
struct Unit {
  uint32_t bits;
  bool leads_here(uint32_t byte) const { return (bits & 0x800000FF) == byte; }
  bool ends_key() const { return (bits >> 8) & 1; }
  uint32_t offset() const { return (bits >> 10) << ((bits & (1U << 9)) >> 6); }
  uint32_t value() const { return bits & 0x7FFFFFFF; }
};

// Checks everything that a lookup can reach. A node is a number from which the addresses of its children follow: child
// c is the unit at `node ^ c`. Nodes may be shared.
class TrieCheck {
 public:
  TrieCheck(std::string_view trie, std::string_view strings)
      : units_(trie.size() / sizeof(Unit)), strings_(strings), matches_(units_.size(), unknown) {
    if (!units_.empty()) std::memcpy(units_.data(), trie.data(), units_.size() * sizeof(Unit));
  }

  std::string fault() {
    if (units_.empty()) return "its trie is empty";
    enter(units_[0].offset());
    while (fault_.empty() && !path_.empty()) step();
    return fault_;
  }

 private:
  static constexpr int16_t unknown = -2, on_path = -1;

  // A node on the path, the next byte to check, and the most matches below it known so far.
  struct Standing {
    uint32_t node, byte = 0;
    int most = 0;
  };

  void enter(uint32_t node) {
    if ((node | 0xFF) >= units_.size()) {
      fault_ = fmt::format("its trie leads to unit {}, of {}", node, units_.size());
      return;
    }
    matches_[node] = on_path;
    path_.push_back({node});
  }

  void step() {
    Standing& at = path_.back();
    if (at.byte > 0xFF) return leave();
    const uint32_t child = at.node ^ at.byte;
    const Unit unit = units_[child];
    if (!unit.leads_here(at.byte)) return void(++at.byte);
    const uint32_t next = child ^ unit.offset();
    if (next >= units_.size() || matches_[next] == unknown) return enter(next);
    if (matches_[next] == on_path) return void(fault_ = "its trie contains a cycle");
    if (unit.ends_key()) check_value(units_[next].value());
    at.most = std::max(at.most, matches_[next] + int{unit.ends_key()});
    if (at.most > most_matches)
      fault_ = fmt::format("more than {} of its rules are prefixes of one another", most_matches);
    ++at.byte;
  }

  void leave() {
    matches_[path_.back().node] = int16_t(path_.back().most);
    path_.pop_back();
  }

  void check_value(uint32_t value) {
    if (value >= strings_.size())
      fault_ = fmt::format("a rule's result begins at byte {}, of {}", value, strings_.size());
    else if (continues_character(strings_[value]))
      fault_ = fmt::format("a rule's result begins at byte {}, within a character", value);
  }

  std::vector<Unit> units_;
  std::string_view strings_;
  std::vector<int16_t> matches_;  // by node: the most on one path down from it
  std::vector<Standing> path_;
  std::string fault_;
};

}  // namespace

std::string fault_of_charsmap(std::string_view charsmap) {
  uint32_t size = 0;
  if (charsmap.size() < sizeof size) return fmt::format("it has {} bytes", charsmap.size());
  std::memcpy(&size, charsmap.data(), sizeof size);
  charsmap.remove_prefix(sizeof size);
  if (size > charsmap.size()) return fmt::format("its trie has {} bytes, of {}", size, charsmap.size());
  if (size % sizeof(Unit) != 0) return fmt::format("its trie has {} bytes, no multiple of {}", size, sizeof(Unit));
  const std::string_view strings = charsmap.substr(size);
  if (!strings.ends_with('\0')) return "its strings do not end with NUL";
  if (!is_valid_utf8(strings)) return "its strings are not valid UTF-8";
  return TrieCheck(charsmap.substr(0, size), strings).fault();
}

}  // namespace dragoman
