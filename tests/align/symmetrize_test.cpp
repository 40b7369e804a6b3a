#include "align/symmetrize.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <random>

namespace dragoman {
namespace {

using Links = std::vector<TokenLink>;

Links links(const std::string& text) {
  Links all;
  for (size_t at = 0; at < text.size();) {
    size_t end = 0;
    const int64_t source = std::stoll(text.substr(at), &end);
    at += end + 1;
    all.push_back({source, std::stoll(text.substr(at), &end)});
    at = std::min(text.size(), at + end + 1);
  }
  return all;
}

std::string text_of(const Links& links) {
  std::string text;
  for (const auto& [source, target] : links) text += fmt::format("{}{}-{}", text.empty() ? "" : " ", source, target);
  return text;
}

std::string joined(const std::string& forward, const std::string& reverse, Symmetrization how) {
  return text_of(symmetrize(links(forward), links(reverse), how));
}

constexpr Symmetrization all_ways[] = {Symmetrization::intersection, Symmetrization::links_of_either,
                                       Symmetrization::grow_diag, Symmetrization::grow_diag_final,
                                       Symmetrization::grow_diag_final_and};

/// The definition, restated on a square of truth values, as atools computes it.
class Square {
 public:
  explicit Square(int n) : n_(n), cells_(size_t(n * n)) {}
  Square(int n, const Links& links) : Square(n) {
    for (const auto& [source, target] : links) cells_[source * n_ + target] = true;
  }
  bool at(int i, int j) const { return i >= 0 && j >= 0 && i < n_ && j < n_ && cells_[i * n_ + j]; }
  void set(int i, int j) { cells_[i * n_ + j] = true; }
  bool row(int i) const {
    bool any = false;
    for (int j = 0; j < n_; ++j) any |= at(i, j);
    return any;
  }
  bool column(int j) const {
    bool any = false;
    for (int i = 0; i < n_; ++i) any |= at(i, j);
    return any;
  }
  bool neighbour(int i, int j) const {
    for (int k = 0; k < 9; ++k)
      if (k != 4 && at(i - 1 + k / 3, j - 1 + k % 3)) return true;
    return false;
  }
  Links links() const {
    Links all;
    for (int i = 0; i < n_; ++i)
      for (int j = 0; j < n_; ++j)
        if (at(i, j)) all.push_back({i, j});
    return all;
  }

 private:
  int n_;
  std::vector<bool> cells_;
};

Links restated(int n, const Links& forward, const Links& reverse, Symmetrization how) {
  const Square a(n, forward), b(n, reverse);
  Square result(n);
  const auto each = [&](const auto& visit) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) visit(i, j);
  };
  each([&](int i, int j) {
    if (how == Symmetrization::links_of_either ? a.at(i, j) || b.at(i, j) : a.at(i, j) && b.at(i, j)) result.set(i, j);
  });
  if (how == Symmetrization::links_of_either || how == Symmetrization::intersection) return result.links();
  for (bool growing = true; growing;) {
    growing = false;
    each([&](int i, int j) {
      if (!(a.at(i, j) || b.at(i, j)) || result.at(i, j)) return;
      if ((result.row(i) && result.column(j)) || !result.neighbour(i, j)) return;
      result.set(i, j);
      growing = true;
    });
  }
  if (how == Symmetrization::grow_diag) return result.links();
  const auto add_final = [&](const Square& side) {
    each([&](int i, int j) {
      const int linked = int(result.row(i)) + int(result.column(j));
      if (side.at(i, j) && linked <= (how == Symmetrization::grow_diag_final ? 1 : 0)) result.set(i, j);
    });
  };
  add_final(a);
  add_final(b);
  return result.links();
}

}  // namespace

TEST(Symmetrize, TakesTheLinksOfBothOrOfEither) {
  EXPECT_EQ(joined("0-0 2-1 1-2", "0-0 1-1 1-2", Symmetrization::intersection), "0-0 1-2");
  EXPECT_EQ(joined("0-0 2-1 1-2", "0-0 1-1 1-2", Symmetrization::links_of_either), "0-0 1-1 1-2 2-1");
}

// Each as atools prints it. What both directions agree on is 0-0; 1-0 and 1-1 grow
// from it, 4-3 and 4-4 are apart.
TEST(Symmetrize, GrowsFromLinkToNeighbouringLink) {
  EXPECT_EQ(joined("0-0 1-1 4-3", "0-0 1-0 4-4", Symmetrization::grow_diag), "0-0 1-0 1-1");
  EXPECT_EQ(joined("0-0 1-1 4-3", "0-0 1-0 4-4", Symmetrization::grow_diag_final), "0-0 1-0 1-1 4-3 4-4");
  EXPECT_EQ(joined("0-0 1-1 4-3", "0-0 1-0 4-4", Symmetrization::grow_diag_final_and), "0-0 1-0 1-1 4-3")
      << "4-4 comes second, when source token 4 has a link";
}

TEST(Symmetrize, DoesNotGrowBetweenTwoTokensThatHaveLinks) {
  EXPECT_EQ(joined("0-0 1-1", "0-0 1-1 0-1", Symmetrization::grow_diag), "0-0 1-1");
  EXPECT_EQ(joined("0-0 1-1", "0-0 1-1 0-1", Symmetrization::grow_diag_final), "0-0 1-1");
}

TEST(Symmetrize, GrowsAgainstTheOrderOfTokensInSeveralRounds) {
  EXPECT_EQ(joined("3-3 2-2 1-1 0-0", "3-3", Symmetrization::grow_diag), "0-0 1-1 2-2 3-3");
  EXPECT_EQ(joined("3-3", "3-3 2-2 1-1 0-0", Symmetrization::grow_diag), "0-0 1-1 2-2 3-3");
}

TEST(Symmetrize, AddsNothingWhereNothingIsAgreedOnButForFinalLinks) {
  EXPECT_EQ(joined("0-0 1-1", "0-1 1-0", Symmetrization::grow_diag), "");
  EXPECT_EQ(joined("0-0 1-1", "0-1 1-0", Symmetrization::grow_diag_final), "0-0 1-1");
  EXPECT_EQ(joined("0-1 1-0", "0-0 1-1", Symmetrization::grow_diag_final_and), "0-1 1-0") << "forward comes first";
}

TEST(Symmetrize, TakesEmptyLists) {
  for (const Symmetrization how : all_ways) EXPECT_EQ(joined("", "", how), "");
  EXPECT_EQ(joined("0-0", "", Symmetrization::intersection), "");
  EXPECT_EQ(joined("0-0", "", Symmetrization::grow_diag_final_and), "0-0");
  EXPECT_EQ(joined("", "3-2 1-0", Symmetrization::links_of_either), "1-0 3-2");
}

TEST(Symmetrize, IsItsDefinitionOnRandomLinks) {
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    const int n = 1 + int(random() % 9);
    Links forward, reverse;
    for (int i = 0; i < n; ++i) {  // mostly near the diagonal, where there is something to agree on
      const auto other = [&] { return std::clamp(i + int(random() % 5) - 2, 0, n - 1); };
      if (random() % 5 > 0) forward.push_back({other(), i});
      if (random() % 5 > 0) reverse.push_back({i, other()});
    }
    std::ranges::shuffle(forward, random);
    for (const Symmetrization how : all_ways)
      ASSERT_EQ(text_of(symmetrize(forward, reverse, how)), text_of(restated(n, forward, reverse, how)))
          << name_of(how) << " of " << text_of(forward) << " and " << text_of(reverse);
  }
}

}  // namespace dragoman
