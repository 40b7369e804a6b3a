#include "explain/positions.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "pages/positions_page.h"

namespace dragoman {
namespace {

// PE(p, 2i) = sin(p / 10000^(2i/D)), PE(p, 2i+1) the cosine: with D = 4 the second angle is p / 100.
TEST(PositionVectors, AreThoseOfThePaper) {
  const PositionVectors two = sinusoids(2, {4, SinusoidOrder::interleaved});
  EXPECT_EQ(two.name, "interleaved");
  const std::vector<float> expected = {0, 1, 0, 1, 0.841471f, 0.540302f, 0.00999983f, 0.99995f};
  ASSERT_EQ(two.values.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(two.values[i], expected[i], 1e-6);
}

TEST(PositionVectors, WithSinesFirstAreTheSameNumbers) {
  const auto paper = sinusoids(3, {4, SinusoidOrder::interleaved}), halves = sinusoids(3, {4, SinusoidOrder::halves});
  EXPECT_EQ(halves.name, "sinusoidal");
  for (int64_t row = 0; row < 3; ++row)
    for (int64_t i = 0; i < 2; ++i) {
      EXPECT_EQ(halves.values[row * 4 + i], paper.values[row * 4 + 2 * i]);
      EXPECT_EQ(halves.values[row * 4 + 2 + i], paper.values[row * 4 + 2 * i + 1]);
    }
}

TEST(PositionVectors, HaveARowOfJsonEach) {
  const auto json = nlohmann::json::parse(to_json({"encoder.positions", 2, {1, -0.5f, 0, 0.25f}}));
  EXPECT_EQ(json, nlohmann::json({{"name", "encoder.positions"}, {"vectors", {{1, -0.5}, {0, 0.25}}}}));
}

TEST(PositionVectors, OnAPageEndNoElementWhateverTheModelIsCalled) {
  const std::string page = positions_page("</script><b>&", {{"sinusoidal", 1, {0}}});
  EXPECT_EQ(page.find("</script><b>"), std::string::npos);
  EXPECT_NE(page.find(R"({"name":"sinusoidal","vectors":[[0]]})"), std::string::npos);
}

}  // namespace
}  // namespace dragoman
